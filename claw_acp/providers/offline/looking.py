"""Exploring a project, for the offline assistant."""

import re
from collections.abc import Mapping

from claw_acp.core.quantity import quantity
from claw_acp.providers.offline.outline import explanation, file_text, kinds_of_files
from claw_acp.providers.offline.worker import Doing, Worker

_README = re.compile(r"^(?:[./]*)readme(?:\.\w+)?$", re.IGNORECASE)


def list_files(path: str | None, worker: Worker) -> Doing:
    """List a folder."""
    place = f"`{path}`" if path else "the project"
    arguments = {"path": path} if path else {}
    return _show(worker, f"list {place}", f"This is in {place}:", tool="list_files", arguments=arguments)


def find_files(pattern: str, worker: Worker) -> Doing:
    """List the files whose name matches a pattern."""
    arguments = {"pattern": pattern if "/" in pattern else f"**/{pattern}"}
    return _show(worker, f"look for `{pattern}`", f"Files named `{pattern}`:", tool="glob", arguments=arguments)


def search(text: str, path: str | None, worker: Worker) -> Doing:
    """Show the occurrences of a text, which is searched literally."""
    arguments = {"pattern": literal(text)} | ({"path": path} if path else {})
    heading = f"I searched for `{text}`{f' in `{path}`' if path else ''}:"
    return _show(worker, f"search for `{text}`", heading, tool="grep", arguments=arguments)


def _show(worker: Worker, what: str, heading: str, *, tool: str, arguments: Mapping[str, str]) -> Doing:
    found = yield from worker.result(what, tool, **arguments)
    if found is None:
        return False
    worker.say(heading)
    worker.show(found)
    return True


def summarize(worker: Worker) -> Doing:
    """Summarize the kinds of files, and the readme."""
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
