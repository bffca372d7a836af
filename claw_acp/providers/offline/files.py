"""Reading and changing single files, for the offline assistant."""

from claw_acp.core.quantity import quantity
from claw_acp.providers.offline.outline import explanation, file_text, language_of
from claw_acp.providers.offline.worker import Doing, Wish, Worker, shortened


class ReadFile(Wish):
    """Show a file, or describe it by its outline."""

    path: str
    explain: bool = False

    def __str__(self) -> str:
        return f"Explain {self.path}" if self.explain else f"Read {self.path}"

    def perform(self, worker: Worker) -> Doing:
        """See `Wish`."""
        path = self.path
        result = yield from worker.result(f"read `{path}`", "read_file", path=path)
        if result is None:
            return False
        text = file_text(result).text
        if not text:
            worker.say(result or f"`{path}` is empty.")
        elif self.explain:
            worker.say(explanation(path, text))
        else:
            worker.say(f"This is `{path}`:")
            worker.show(text, language=language_of(path).lower())
        return True


class CreateFile(Wish):
    """Create or replace a file; text without a line end gets one."""

    path: str
    content: str

    def __str__(self) -> str:
        return f"Create {self.path}"

    def perform(self, worker: Worker) -> Doing:
        """See `Wish`."""
        text = self.content if self.content.endswith("\n") else f"{self.content}\n"
        if (yield from worker.result(f"write `{self.path}`", "write_file", path=self.path, content=text)) is None:
            return False
        worker.say(f"I wrote `{self.path}`.")
        return True


class Append(Wish):
    """Add a text after the last line of a file; a missing one is created."""

    path: str
    content: str

    def __str__(self) -> str:
        return f"Append to {self.path}"

    def perform(self, worker: Worker) -> Doing:
        """See `Wish`."""
        path = self.path
        worker.think(f"To add to {path} I have to see how it ends.")
        outcome = yield from worker.call("read_file", path=path)
        create = CreateFile(path=path, content=self.content)
        if outcome.failed:
            if not any(words in outcome.text.lower() for words in ("not exist", "no such", "not found", "missing")):
                worker.say(f"I could not read `{path}`: {outcome.text}")
                return False
            worker.think(f"{path} does not exist yet.")
            return (yield from create.perform(worker))
        file = file_text(outcome.text)
        if not file.whole:
            worker.say(f"`{path}` is too long for me to see its end, so I did not change it.")
            return False
        if not file.text:
            return (yield from create.perform(worker))
        ending = _unique_ending(file.text)
        addition = self.content.strip("\n")
        edit = {"old_text": ending, "new_text": f"{ending}\n{addition}"}
        lines = quantity(addition.count("\n") + 1, "line")
        return (yield from _edit(path, edit, worker, done=f"I added {lines} at the end of `{path}`."))


class Replace(Wish):
    """Replace every occurrence of a text in a file."""

    path: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"Replace “{shortened(self.old)}” by “{shortened(self.new)}” in {self.path}"

    def perform(self, worker: Worker) -> Doing:
        """See `Wish`."""
        path, old, new = self.path, self.old, self.new
        worker.think(f"First I look whether {path} has that text.")
        result = yield from worker.result(f"read `{path}`", "read_file", path=path)
        if result is None:
            return False
        file = file_text(result)
        count = file.text.count(old) if old else 0
        if not count and file.whole:
            worker.say(f"`{path}` does not contain `{old}`, so there was nothing to replace.")
            return False
        known = count == 1 or (count and file.whole)
        places = f"in {quantity(count, 'place')}" if known else "wherever it was"
        edit: dict[str, str | bool] = {"old_text": old, "new_text": new, "all": True}
        return (yield from _edit(path, edit, worker, done=f"I replaced `{old}` by `{new}` in `{path}`, {places}."))


def _edit(path: str, edit: dict[str, str] | dict[str, str | bool], worker: Worker, *, done: str) -> Doing:
    if (yield from worker.result(f"change `{path}`", "edit_file", path=path, edits=[edit])) is None:
        return False
    worker.say(done)
    return True


def _unique_ending(text: str) -> str:
    """The shortest run of last lines that occurs once, to identify the end in an edit."""
    lines = text.split("\n")
    for count in range(1, len(lines)):
        ending = "\n".join(lines[-count:])
        if ending.strip() and text.count(ending) == 1:
            return ending
    return text
