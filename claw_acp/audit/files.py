"""The files of the audit log: the current one, full ones beside it, and how the last line of all is found."""

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Final

from claw_acp.audit.line import Head, digest_of, parsed
from claw_acp.config.atomic_file import only_writer
from claw_acp.core.value import Value

_CURRENT: Final = "audit.jsonl"
CHECKPOINTS: Final = "checkpoints.jsonl"
_FULL: Final = "audit-{:012d}.jsonl"  # the number of its last line
_LOOKED_BACK: Final = 512 * 1024  # bytes at the end of a file among which its last whole line is


class Tail(Value):
    """The end of the log.

    Attributes:
        head: Its last whole line.
        torn: What stands behind that, which is no line: a writer was killed in the middle of one.
        unended: Only the end of that last line is missing.
    """

    head: Head = Head()
    torn: bytes = b""
    unended: bool = False


class AuditFiles:
    """The files in a directory.

    Args:
        directory: The directory, which need not exist.
        checkpoints: The file of checkpoints; None: it is there, too, as in an exported copy.
    """

    def __init__(self, directory: Path, *, checkpoints: Path | None = None) -> None:
        self.directory = directory
        self.current = directory / _CURRENT
        self.checkpoints = checkpoints or directory / CHECKPOINTS

    def full(self) -> Sequence[Path]:
        """The full files, oldest first."""
        return sorted(self.directory.glob(_FULL.format(0).replace("0" * 12, "[0-9]" * 12)))

    def all(self) -> Sequence[Path]:
        """All files of lines, oldest first."""
        return [*self.full(), *([self.current] if self.current.exists() else [])]

    def set_aside(self, last: int) -> Path:
        """Make the current file a full one, whose last line has this number. Returns its new path."""
        full = self.directory / _FULL.format(last)
        self.current.rename(full)
        return full

    def last_of(self, full: Path) -> int:
        """The number of the last line of a full file, by its name."""
        return int(full.stem.removeprefix("audit-"))

    @contextmanager
    def opened(self, *others: Path) -> Generator[Sequence["OpenedFile"]]:
        """All files of lines as they are at one moment, and `others` behind them; a missing one is empty.

        Raises:
            OSError: A file cannot be read.
        """
        with ExitStack() as stack:
            with only_writer(self.current) if os.access(self.directory, os.W_OK) else nullcontext():
                found = [OpenedFile(path, stack) for path in (*self.all(), *others)]
            yield found

    def tail(self) -> Tail:
        """The end of the log: of the current file, else of the newest full one."""
        for path in reversed(self.all()):
            found = _tail(path)
            if found.head.seq or found.torn:
                return found
        return Tail()

    def last_checkpoint(self) -> int:
        """The number of the last line that a checkpoint vouches for, by what the file says; 0: there is none."""
        return _tail(self.checkpoints).head.seq if self.checkpoints.exists() else 0


class OpenedFile:
    """A file as it was when it was opened; the stack closes it."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self.name = path.name
        self._file = stack.enter_context(path.open("rb")) if path.exists() else None
        self._size = 0 if self._file is None else os.fstat(self._file.fileno()).st_size

    def __iter__(self) -> Iterator[bytes]:
        """The lines with their ends."""
        done = 0
        while self._file is not None and done < self._size and (line := self._file.readline(self._size - done)):
            done += len(line)
            yield line


def _tail(path: Path) -> Tail:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _LOOKED_BACK))
        block = file.read()
    end = len(block)
    while end > 0:
        start = block.rfind(b"\n", 0, end - 1) + 1
        line = block[start:end]
        if (facts := parsed(line.removesuffix(b"\n"))) is not None:
            seq = facts["seq"]
            assert isinstance(seq, int)
            head = Head(seq=seq, digest=digest_of(line.removesuffix(b"\n")))
            return Tail(head=head, torn=block[end:], unended=not line.endswith(b"\n"))
        end = start
    return Tail(torn=block)
