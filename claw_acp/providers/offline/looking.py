"""Exploring a project, for the offline assistant."""

import re

from claw_acp.core.quantity import quantity
from claw_acp.providers.offline.outline import explanation, file_text, kinds_of_files
from claw_acp.providers.offline.worker import Doing, Worker

_README = re.compile(r"^(?:[./]*)readme(?:\.\w+)?$", re.IGNORECASE)


def list_files(path: str | None, worker: Worker) -> Doing:
    """List a folder."""
    place = f"`{path}`" if path else "the project"
    outcome = yield from worker.call("list_files", **({"path": path} if path else {}))
    if outcome.failed:
        worker.complain(f"list {place}", outcome=outcome)
        return False
    worker.say(f"This is in {place}:")
    worker.show(outcome.text)
    return True


def find_files(pattern: str, worker: Worker) -> Doing:
    """List the files whose name matches a pattern."""
    outcome = yield from worker.call("glob", pattern=pattern if "/" in pattern else f"**/{pattern}")
    if outcome.failed:
        worker.complain(f"look for `{pattern}`", outcome=outcome)
        return False
    worker.say(f"Files named `{pattern}`:")
    worker.show(outcome.text)
    return True


def search(text: str, path: str | None, worker: Worker) -> Doing:
    """Show the occurrences of a text, which is searched literally."""
    arguments = {"pattern": literal(text)} | ({"path": path} if path else {})
    outcome = yield from worker.call("grep", **arguments)
    if outcome.failed:
        worker.complain(f"search for `{text}`", outcome=outcome)
        return False
    worker.say(f"I searched for `{text}`{f' in `{path}`' if path else ''}:")
    worker.show(outcome.text)
    return True


def summarize(worker: Worker) -> Doing:
    """Summarize the kinds of files, and the readme."""
    worker.think("The names of the files and the readme tell most about a project.")
    found = yield from worker.call("glob", pattern="**/*")
    if found.failed:
        worker.complain("look at the files", outcome=found)
        return False
    paths = [line.strip() for line in found.text.split("\n") if _is_path(line)]
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
