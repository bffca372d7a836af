"""Reading and changing single files, for the offline assistant."""

from claw_acp.providers.offline.outline import explanation, file_text, language_of
from claw_acp.providers.offline.worker import Doing, Worker


def read(path: str, *, explain: bool, worker: Worker) -> Doing:
    """Show a file, or describe it by its outline."""
    result = yield from worker.result(f"read `{path}`", "read_file", path=path)
    if result is None:
        return False
    text = file_text(result).text
    if not text:
        worker.say(result or f"`{path}` is empty.")
    elif explain:
        worker.say(explanation(path, text))
    else:
        worker.say(f"This is `{path}`:")
        worker.show(text, language=language_of(path).lower())
    return True


def create(path: str, content: str, worker: Worker) -> Doing:
    """Write a whole file; text without a line end gets one."""
    text = content if content.endswith("\n") else f"{content}\n"
    if (yield from worker.result(f"write `{path}`", "write_file", path=path, content=text)) is None:
        return False
    worker.say(f"I wrote `{path}`.")
    return True


def append(path: str, content: str, worker: Worker) -> Doing:
    """Add a text after the last line; a missing file is created."""
    worker.think(f"To add to {path} I have to see how it ends.")
    outcome = yield from worker.call("read_file", path=path)
    if outcome.failed:
        return (yield from _append_to_nothing(path, content, worker, reason=outcome.text))
    file = file_text(outcome.text)
    if not file.whole:
        worker.say(f"`{path}` is too long for me to see its end, so I did not change it.")
        return False
    if not file.text:
        return (yield from create(path, content, worker))
    ending = _unique_ending(file.text)
    addition = content.strip("\n")
    edit = {"old_text": ending, "new_text": f"{ending}\n{addition}"}
    return (yield from _edit(path, edit, worker, done=f"I added {_lines(addition)} at the end of `{path}`."))


def replace(path: str, *, old: str, new: str, worker: Worker) -> Doing:
    """Replace every occurrence of a text in a file."""
    worker.think(f"First I look whether {path} has that text.")
    result = yield from worker.result(f"read `{path}`", "read_file", path=path)
    if result is None:
        return False
    file = file_text(result)
    count = file.text.count(old) if old else 0
    if not count and file.whole:
        worker.say(f"`{path}` does not contain `{old}`, so there was nothing to replace.")
        return False
    places = "in 1 place" if count == 1 else f"in {count} places" if count and file.whole else "wherever it was"
    edit: dict[str, str | bool] = {"old_text": old, "new_text": new, "all": True}
    return (yield from _edit(path, edit, worker, done=f"I replaced `{old}` by `{new}` in `{path}`, {places}."))


def _edit(path: str, edit: dict[str, str] | dict[str, str | bool], worker: Worker, *, done: str) -> Doing:
    if (yield from worker.result(f"change `{path}`", "edit_file", path=path, edits=[edit])) is None:
        return False
    worker.say(done)
    return True


def _append_to_nothing(path: str, content: str, worker: Worker, *, reason: str) -> Doing:
    if not any(words in reason.lower() for words in ("not exist", "no such", "not found", "missing")):
        worker.say(f"I could not read `{path}`: {reason}")
        return False
    worker.think(f"{path} does not exist yet.")
    return (yield from create(path, content, worker))


def _unique_ending(text: str) -> str:
    """The shortest run of last lines that occurs once, to identify the end in an edit."""
    lines = text.split("\n")
    for count in range(1, len(lines)):
        ending = "\n".join(lines[-count:])
        if ending.strip() and text.count(ending) == 1:
            return ending
    return text


def _lines(text: str) -> str:
    count = text.count("\n") + 1
    return "1 line" if count == 1 else f"{count} lines"
