"""Empty directories in place of missing files, so that a mount can keep a confined program from creating them.

They exist on the disk while a command runs that must not create the files: directories, since git neither shows nor
adds empty ones. Several processes of ours may hold the same one; the last removes it. What a killed process left behind
is removed by the next one.
"""

import fcntl
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from claw_acp.core.private_directory import make_private

_PRIVATE: Final = 0o600
_NOT_WRITABLE: Final = 0o444
_GIT_FILES: Final = {"commondir": b".\n", "config.worktree": b""}
"""What git reads, and must not be a directory; the contents say what git assumes without the file."""


class Held:
    """The placeholders of one command."""

    def __init__(self) -> None:
        self._held: list[tuple[Path, Path, int]] = []

    def add(self, path: Path, *, record: Path, lock: int) -> None:
        """Add a placeholder, with its record and the descriptor that locks it."""
        self._held.append((path, record, lock))

    def release(self) -> None:
        """Remove those that nobody else holds, unless there is something in them now. Idempotent."""
        while self._held:
            path, record, lock = self._held.pop()  # files before their directories
            _remove_last(path, record, lock)


class Placeholders:
    """The placeholders of all processes that share a directory of records: a locked file for each."""

    def __init__(self, records: Path) -> None:
        self._records = records
        self._swept = False

    def hold(self, paths: Sequence[Path], *, roots: Sequence[Path]) -> Held:
        """Create something in place of those files that are missing, and their directories.

        Args:
            paths: The files.
            roots: Existing directories; files elsewhere are left alone.

        Raises:
            OSError: A record or a placeholder cannot be created; what was created is removed.
        """
        if not self._swept:
            self._swept = True
            self._sweep()
        known = set(os.listdir(self._records))  # noqa: PTH208 - names, for each command
        held = Held()
        try:
            for path in paths:
                for place in _places(path, roots):
                    self._hold(place, known=known, held=held)
        except BaseException:
            held.release()
            raise
        return held

    def _hold(self, place: Path, *, known: set[str], held: Held) -> None:
        record = self._record(place)
        if record.name not in known and os.path.lexists(place):
            return
        lock = _locked(record)
        try:
            os.pwrite(lock, os.fsencode(place), 0)
            with suppress(FileExistsError):
                _create(place)
        except BaseException:
            os.close(lock)
            raise
        held.add(place, record=record, lock=lock)
        known.add(record.name)

    def _record(self, place: Path) -> Path:
        return self._records / sha256(os.fsencode(place)).hexdigest()

    def _sweep(self) -> None:
        """Remove what nobody holds any more."""
        make_private(self._records)
        left: list[tuple[Path, Path, int]] = []
        for record in self._records.iterdir():
            with suppress(OSError):
                lock = os.open(record, os.O_RDWR | os.O_CLOEXEC)
                left.append((Path(os.fsdecode(os.pread(lock, 65536, 0))), record, lock))
        for path, record, lock in sorted(left, key=lambda entry: len(entry[0].parts), reverse=True):
            _remove_last(path, record, lock)


def _create(place: Path) -> None:
    if place.name not in _GIT_FILES:
        place.mkdir()
        return
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _NOT_WRITABLE)
    os.write(descriptor, _GIT_FILES[place.name])
    os.close(descriptor)


def _places(path: Path, roots: Sequence[Path]) -> Sequence[Path]:
    """The file and its directories below a root, from the top."""
    for index, parent in enumerate(path.parents):
        if parent in roots:
            return [*reversed(path.parents[:index]), path]
    return ()


def _locked(record: Path) -> int:
    """A descriptor that holds a record together with others; nobody removes it meanwhile."""
    while True:
        lock = os.open(record, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _PRIVATE)
        fcntl.flock(lock, fcntl.LOCK_SH)
        with suppress(FileNotFoundError):
            if record.stat().st_ino == os.fstat(lock).st_ino:
                return lock
        os.close(lock)  # it was removed while we waited


def _remove_last(path: Path, record: Path, lock: int) -> None:
    """Remove a placeholder and its record if nobody else holds it; close the descriptor."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with suppress(OSError):  # gone, or somebody's own by now
            found = path.lstat()
            if stat.S_ISDIR(found.st_mode):
                path.rmdir()
            elif stat.S_ISREG(found.st_mode) and _is_ours(path):
                path.unlink()
        record.unlink(missing_ok=True)
    except BlockingIOError:
        pass
    finally:
        os.close(lock)


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16) == _GIT_FILES.get(path.name)
