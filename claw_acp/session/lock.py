"""One turn at a time in a session, across processes: an advisory file lock, released by the system with its process."""

import contextlib
import fcntl
import os
import re
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from claw_acp.core.errors import SessionBusy, StoreError
from claw_acp.core.private_directory import make_private

if TYPE_CHECKING:
    from claw_acp.session.stores import SessionLocks

_SAFE_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")
_NOTE_SIZE: Final = 200  # bytes


class SessionLock:
    """Locks for the sessions of one store, as files in `directory` that exist while a turn runs."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @asynccontextmanager
    async def locked(self, session_id: str) -> AsyncGenerator[None]:
        """See `SessionLocks`. A lock of the system is never lost, so nobody is cancelled."""
        with self.hold(session_id):
            yield

    @contextmanager
    def hold(self, session_id: str) -> Generator[None]:
        """Hold the session for the block. Never waits, and is not re-entrant: a second holder is refused.

        Raises:
            SessionBusy: Another process, or another task of this one, runs a turn in it; the text says which.
            StoreError: The lock file cannot be made.
        """
        path = self._directory / f"{_file_name(session_id)}.lock"
        try:
            descriptor = self._lock(path, session_id)
        except OSError as error:
            raise StoreError(
                f"the lock {path} cannot be made ({error.strerror}); "
                "give its directory write permission or set CLAW_ACP_HOME to another place"
            ) from error
        try:
            yield
        finally:
            with contextlib.suppress(OSError):  # tidiness only: what counts is the lock, and closing drops it
                if _names(path, descriptor):
                    path.unlink()
            os.close(descriptor)

    def _lock(self, path: Path, session_id: str) -> int:
        """Return a descriptor that holds the lock, on the very file that `path` names."""
        make_private(self._directory)
        while True:  # ends: each round means that a holder has just let go
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _names(path, descriptor):
                    _write_note(descriptor)
                    return descriptor
            except BlockingIOError as error:
                note = os.pread(descriptor, _NOTE_SIZE, 0).decode(errors="replace")
                os.close(descriptor)
                raise _busy(session_id, note=note) from error
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)  # the holder before us removed this file after we had opened it


def _names(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _write_note(descriptor: int) -> None:
    """Write who holds the lock, over the note of a holder that crashed.

    Always the same size, so that nothing needs to be truncated: ext4 writes a truncated file to the disk when it is
    closed, which takes milliseconds.
    """
    program = Path(sys.argv[0] or sys.executable).name
    note = f"{os.getpid()} {program}".encode(errors="replace")[: _NOTE_SIZE - 1]
    os.pwrite(descriptor, note.ljust(_NOTE_SIZE - 1) + b"\n", 0)


def _busy(session_id: str, *, note: str) -> SessionBusy:
    pid, _, program = note.strip().partition(" ")
    if pid == str(os.getpid()):
        return SessionBusy(f"session {session_id} is already running a turn; wait for it or cancel it")
    named = f" ({program}, pid {pid})" if program else f" (pid {pid})" if pid else ""
    return SessionBusy(
        f"session {session_id} is running a turn in another process{named}; wait for it or stop it",
        data={"sessionId": session_id} | ({"pid": int(pid)} if pid.isdecimal() else {}),
    )


def _file_name(session_id: str) -> str:
    """The file name for a session id: our own ids as they are; others encoded, so that none leaves the directory."""
    if _SAFE_NAME.fullmatch(session_id):
        return session_id
    sha256 = import_module("hashlib").sha256  # few ids need it, and with it comes a library of C
    return "x" + sha256(session_id.encode(errors="surrogatepass")).hexdigest()


if TYPE_CHECKING:
    _conforms: type[SessionLocks] = SessionLock
