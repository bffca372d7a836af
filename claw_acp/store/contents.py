"""A store of contents by hash: compressed, each stored once, private to the user. Everything here blocks.

A content is stored in a file of its own, which is named by the hash and written atomically.
"""

import fcntl
import os
import tempfile
import zlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from claw_acp.core.errors import ToolError
from claw_acp.core.private_directory import make_private

MAX_CONTENT: Final = 64 * 1024 * 1024
"""Bytes of the largest content that is stored."""

KEPT_DAYS: Final = 30
"""Days after its last use that a content is kept."""

KEPT_BYTES: Final = 1024**3
"""Bytes of all contents, as stored, above which the oldest go earlier."""

_FAST: Final = 1  # source text shrinks to a third already
_SAMPLE: Final = 65_536  # bytes
_DENSE: Final = 0.9
_DAY: Final = 86_400.0


def digest_of(content: bytes) -> str:
    """The hash that names a content."""
    return sha256(content).hexdigest()


class ContentStore:
    """A folder of contents that processes share. It is created with the first content.

    Args:
        directory: The folder.
        own: Directories of this program, whose files are never kept: they change by themselves.
    """

    def __init__(self, directory: Path, *, own: Sequence[Path] = ()) -> None:
        self._directory = directory
        self.own = tuple(dict.fromkeys(path.resolve() for path in (directory, *own)))

    def put(self, content: bytes, *, durable: bool = True) -> str:
        """Store a content and return its hash.

        With `durable` it survives a power cut, too; otherwise only the end of the process.

        Raises:
            ToolError: It cannot be written.
        """
        digest = digest_of(content)
        path = self._path(digest)
        try:
            with self._locked(exclusive=False):
                if not _is_kept(path, durable=durable):
                    _write(path, zlib.compress(content, _level(content)), durable=durable)
        except OSError as error:
            raise ToolError(
                f"the copy of a file cannot be kept in {self._directory}: {error.strerror or error}; "
                "nothing was changed. Free space there, or set CLAW_ACP_HOME to another place"
            ) from error
        return digest

    def keep(self, digest: str) -> bool:
        """Mark a content as in use; returns whether it is stored."""
        with suppress(OSError), self._locked(exclusive=False):
            return _is_kept(self._path(digest), durable=False)
        return False

    def get(self, digest: str) -> bytes:
        """The content with this hash.

        Raises:
            ToolError: It is not stored any more, or damaged.
        """
        try:
            content = zlib.decompress(self._path(digest).read_bytes())
        except FileNotFoundError as error:
            raise ToolError("its content is not kept any more") from error
        except (OSError, zlib.error) as error:
            raise ToolError(f"its content cannot be read: {error}") from error
        if digest_of(content) != digest:
            raise ToolError("its kept content is damaged")
        return content

    def sweep(self, *, now: float, days: int = KEPT_DAYS, size: int = KEPT_BYTES) -> int:
        """Remove contents that were not used for that many days, then the oldest until `size` bytes remain.

        What was used within a day stays, whatever the size. Runs at most once a day, and returns the number removed.
        """
        if not self._directory.is_dir():
            return 0
        with suppress(OSError), self._locked(exclusive=True) as lock:
            status = os.fstat(lock)
            if status.st_size and now - status.st_mtime < _DAY:
                return 0
            os.pwrite(lock, b"swept\n", 0)
            os.utime(lock, (now, now))
            return self._remove_old(now=now, days=days, size=size)
        return 0

    def _remove_old(self, *, now: float, days: int, size: int) -> int:
        kept = sorted(
            (status.st_mtime, status.st_size, path) for path in self._directory.glob("*/*") for status in (path.stat(),)
        )
        total, removed = sum(length for _, length, _ in kept), 0
        for used, length, path in kept:
            age = now - used
            if age < _DAY or (age < days * _DAY and total <= size):
                break
            path.unlink()
            total, removed = total - length, removed + 1
        return removed

    def _path(self, digest: str) -> Path:
        return self._directory / digest[:2] / digest[2:]

    @contextmanager
    def _locked(self, *, exclusive: bool) -> Generator[int]:
        """Exclude the sweep while contents are found or written; yields the lock's descriptor."""
        make_private(self._directory)
        descriptor = os.open(self._directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
            yield descriptor
        finally:
            os.close(descriptor)


def _level(content: bytes) -> int:
    """The level of compression: large contents that do not shrink are stored as they are, which is much faster."""
    sample = content[:_SAMPLE]
    dense = len(content) > _SAMPLE and len(zlib.compress(sample, _FAST)) > len(sample) * _DENSE
    return 0 if dense else _FAST


def _is_kept(path: Path, *, durable: bool) -> bool:
    """Return whether a content is there already, and mark it as in use: the sweep leaves it.

    One that was not durable when it was written may be an empty file after a power cut.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        if not os.fstat(descriptor).st_size:
            return False
        if durable:
            os.fsync(descriptor)
        os.utime(descriptor)
    finally:
        os.close(descriptor)
    return True


def _write(path: Path, packed: bytes, *, durable: bool) -> None:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(packed)
            if durable:
                file.flush()
                os.fsync(descriptor)
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
