"""The port through which commands undo the work of turns: of files, of the conversation, or of both."""

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

from claw_acp.core.value import Value

Scope: TypeAlias = Literal["all", "files", "conversation"]
OnEdited: TypeAlias = Literal["ask", "skip", "overwrite"]
"""The fate of files that others changed since: nothing is done, they stay, or they are restored, too."""


class TurnSummary(Value):
    """A turn to choose from: its number, the beginning of its prompt, and the files changed in it."""

    number: int
    prompt: str
    files: tuple[str, ...]


class RestoredFile(Value):
    """A restored file; `deed` says how: `changed`, `deleted`, `created again`."""

    path: str
    deed: str


class Restored(Value):
    """The outcome of an undo or redo.

    Attributes:
        turn: The number of the first affected turn; 0 when it is not in the conversation any more.
        turns: The number of turns removed from the model's view, or returned to it.
        files: The restored files.
        edited: Files that others changed since.
        failed: Files that cannot or could not be restored, each with the reason.
        waits: Nothing was done: with `OnEdited` "ask", the person decides first about such files.
        repositories: The `.git` of repositories whose commits, branch or stash were changed, which stay as they are.
    """

    turn: int = 0
    turns: int = 0
    files: tuple[RestoredFile, ...] = ()
    edited: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    waits: bool = False
    repositories: tuple[str, ...] = ()


class FileComparison(Value):
    """A file before and after a turn; a text is None if there is none.

    `note` describes other differences: that it is binary, that its mode changed.
    """

    path: str
    old: str | None
    new: str | None
    note: str = ""


class Checkpoints(Protocol):
    """The checkpoints of one session.

    Raises:
        InvalidRequest: There is no such turn, or nothing to do; the text says which.
        ToolError: The present state cannot be stored; nothing was done.
    """

    async def turns(self) -> Sequence[TurnSummary]:
        """The turns, oldest first."""
        ...

    async def undo(
        self, turn: int | None, *, scope: Scope = "all", path: str | None = None, edited: OnEdited = "ask"
    ) -> Restored:
        """Go back to before a turn; None: the last one. With `path`, only that file is restored."""
        ...

    async def redo(self, *, skip: bool = False) -> Restored:
        """Revert the last undo; `skip` leaves out files that others changed since."""
        ...

    async def compare(self, turn: int | None) -> Sequence[FileComparison]:
        """The files that a turn changed, before and after it; None: the last turn that changed any."""
        ...
