"""The lease of a store: only the process that holds it fires jobs.

It is a lock of the system on a file: it is free the moment its holder has ended, however that ended, and nobody has to
renew it. Beside it lies a file whose change tells the holder that jobs were changed.
"""

import fcntl
import os
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
from anyio import from_thread, lowlevel

from claw_acp.core.errors import StoreError
from claw_acp.core.private_directory import make_private

if TYPE_CHECKING:
    from claw_acp.contracts.schedule_lease import ScheduleLease

LEASE: Final = "lease"
CHANGES: Final = "changes"


class Lease:
    """The lease in a directory, which is made when it is needed."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @property
    def held(self) -> bool:
        """True if a process holds it now, this one included."""
        try:
            descriptor = os.open(self.directory / LEASE, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    @asynccontextmanager
    async def holding(self) -> AsyncGenerator[None]:
        """Hold it for the block; waits while another process does.

        Raises:
            StoreError: The file cannot be made.
        """
        try:
            make_private(self.directory)
            descriptor = os.open(self.directory / LEASE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self.tell_of_changes()
        except OSError as error:
            raise StoreError(f"the schedules in {self.directory} cannot be used: {error.strerror or error}") from error
        await _lock(descriptor)
        try:
            yield
        finally:
            os.close(descriptor)

    def tell_of_changes(self) -> None:
        """Wake the process that holds the lease; it reads the jobs again.

        Raises:
            OSError: The file cannot be written.
        """
        make_private(self.directory)
        os.close(os.open(self.directory / CHANGES, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))


async def _lock(descriptor: int) -> None:
    """Lock a file, which is closed if the wait is cancelled. The wait takes a thread that nobody has to wait for."""
    locked, given_up = anyio.Event(), threading.Event()
    loop = lowlevel.current_token()

    def wait() -> None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if given_up.is_set():
            os.close(descriptor)
            return
        with suppress(RuntimeError):  # the loop has ended meanwhile
            from_thread.run_sync(locked.set, token=loop)

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        threading.Thread(target=wait, name="schedule lease", daemon=True).start()
        try:
            await locked.wait()
        except BaseException:
            given_up.set()
            raise


if TYPE_CHECKING:
    _conforms: type[ScheduleLease] = Lease
