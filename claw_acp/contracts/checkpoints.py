"""The port through which commands undo the work of turns: of files, of the conversation, or of both."""

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

from claw_acp.core.value import Value

Scope: TypeAlias = Literal["all", "files", "conversation"]
OnEdited: TypeAlias = Literal["ask", "skip", "overwrite"]
"""The fate of files that somebody else changed since: nothing is done, they stay, or they are brought back, too."""


class TurnSummary(Value):
    """A turn to choose from: its number, the beginning of its prompt, and the files changed in it."""

    number: int
    prompt: str
    files: tuple[str, ...]


class RestoredFile(Value):
    """A file that was brought back; `deed` says how: `changed`, `deleted`, `created again`."""

    path: str
    deed: str


class Restored(Value):
    """The outcome of an undo or redo.

    Attributes:
        turn: The number of the first turn that it concerns; 0 when it is not in the conversation any more.
        turns: The number of turns that the model does not know of now, or knows of again.
        files: The files that were brought back.
        edited: Files that somebody else changed since. With `OnEdited` "ask", nothing at all was done if there are any.
        failed: Files that could not be brought back, each with the reason.
    """

    turn: int = 0
    turns: int = 0
    files: tuple[RestoredFile, ...] = ()
    edited: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()


class FileComparison(Value):
    """A file before and after a turn; a text is None where there is none.

    `note` says what the texts cannot: that it is binary, that its mode changed.
    """

    path: str
    old: str | None
    new: str | None
    note: str = ""


class Checkpoints(Protocol):
    """The checkpoints of one session.

    Raises:
        InvalidRequest: There is no such turn, or nothing to do; the text says which.
        StoreError: The state before cannot be kept; nothing was done.
    """

    async def turns(self) -> Sequence[TurnSummary]:
        """The turns, oldest first."""
        ...

    async def undo(
        self, turn: int | None, *, scope: Scope = "all", path: str | None = None, edited: OnEdited = "ask"
    ) -> Restored:
        """Go back to before a turn; None: the last one. With `path`, only that file is brought back."""
        ...

    async def redo(self, *, skip: bool = False) -> Restored:
        """Take back the last undo; `skip` leaves files as they are that somebody else changed since."""
        ...

    async def compare(self, turn: int | None) -> Sequence[FileComparison]:
        """The files that a turn changed, before and after it; None: the last turn that changed any."""
        ...
