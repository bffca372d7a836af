"""Exploring a project, for the offline assistant."""

import re
from collections.abc import Mapping

from claw_acp.core.quantity import quantity
from claw_acp.providers.offline.outline import explanation, file_text, kinds_of_files
from claw_acp.providers.offline.worker import Doing, Wish, Worker, shortened

_README = re.compile(r"^(?:[./]*)readme(?:\.\w+)?$", re.IGNORECASE)


class ListFiles(Wish):
    """List a folder; None: the project's."""

    path: str | None = None

    def __str__(self) -> str:
        return f"List the files in {self.path}" if self.path else "List the files"

    def perform(self, worker: Worker) -> Doing:
        """See `Wish`."""
        place = f"`{self.path}`" if self.path else "the project"
        arguments = {"path": self.path} if self.path else {}
        return _show(worker, f"list {place}", f"This is in {place}:", tool="list_files", arguments=arguments)


class FindFiles(Wish):
    """Find files by a name pattern."""

    pattern: str

    def __str__(self) -> str:
        return f"Find files named {self.pattern}"

    def perform(self, worker: Worker) -> Doing:
        """See `Wish`."""
        name = self.pattern
        arguments = {"pattern": name if "/" in name else f"**/{name}"}
        return _show(worker, f"look for `{name}`", f"Files named `{name}`:", tool="glob", arguments=arguments)


class Search(Wish):
    """Find a text, literally, in files."""

    text: str
    path: str | None = None

    def __str__(self) -> str:
        return f"Search for “{shortened(self.text)}”"

    def perform(self, worker: Worker) -> Doing:
        """See `Wish`."""
        arguments = {"pattern": literal(self.text)} | ({"path": self.path} if self.path else {})
        heading = f"I searched for `{self.text}`{f' in `{self.path}`' if self.path else ''}:"
        return _show(worker, f"search for `{self.text}`", heading, tool="grep", arguments=arguments)


def _show(worker: Worker, what: str, heading: str, *, tool: str, arguments: Mapping[str, str]) -> Doing:
    found = yield from worker.result(what, tool, **arguments)
    if found is None:
        return False
    worker.say(heading)
    worker.show(found)
    return True


class Summarize(Wish):
    """Describe the project by its kinds of files, and its readme."""

    def __str__(self) -> str:
        return "Summarize the project"

    def perform(self, worker: Worker) -> Doing:
        """See `Wish`."""
        worker.think("The names of the files and the readme tell most about a project.")
        found = yield from worker.result("look at the files", "glob", pattern="**/*")
        if found is None:
            return False
        paths = [line.strip() for line in found.split("\n") if _is_path(line)]
        worker.say(
            f"The project has {quantity(len(paths), 'file')}: {kinds_of_files(paths)}."
            if paths
            else "I found no files here."
        )
        readme = next((path for path in paths if _README.match(path)), None)
        if readme is None:
            return True
        text = yield from worker.call("read_file", path=readme)
        if not text.failed:
            worker.say(explanation(readme, file_text(text.text).text))
        return True


def literal(text: str) -> str:
    """A search pattern that matches exactly `text` (only special characters are escaped)."""
    return re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", text)


def _is_path(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(("[", "No ", "…")) and not line.endswith("/")
