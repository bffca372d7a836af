"""A program that is killed at its n-th operation on files or on the journal, in this process.

From then on nothing that it does has an effect, as if it were not there any more: not even its clean-up.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from claw_acp.core.events import Event
from claw_acp.session.journal import Journal

_OPERATIONS: Final = {"os.rename", "os.link", "os.remove", "os.rmdir", "os.mkdir", "os.symlink", "os.chmod", "os.utime"}


class Stopped(BaseException):
    """The program is not there any more."""


class _Stop:
    """Counts operations down to the one that is not done any more; None counts nothing."""

    def __init__(self) -> None:
        self.left: int | None = None
        self._hooked = False

    def operation(self) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left <= 0:
                raise Stopped

    def on_event(self, name: str, arguments: tuple[object, ...]) -> None:
        if self.left is None:
            return
        creates = name == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
        if creates or name in _OPERATIONS:
            self.operation()

    def hook(self) -> None:
        if not self._hooked:
            self._hooked = True
            sys.addaudithook(self.on_event)


_STOP: Final = _Stop()


@contextmanager
def stopped_at(operation: int) -> Generator[None]:
    """Stop the program of the block at this operation, counted from 1; 0: never."""
    _STOP.hook()
    _STOP.left = operation or None
    try:
        yield
    finally:
        _STOP.left = None


@contextmanager
def others_work() -> Generator[None]:
    """In the block other programs work, which are not stopped."""
    left, _STOP.left = _STOP.left, None
    try:
        yield
    finally:
        _STOP.left = left


class StoppingJournal(Journal):
    """A journal that a stopped program does not write any more."""

    async def append(self, session_id: str, event: Event, *, wait: bool) -> None:
        """See `Journal`."""
        _STOP.operation()
        await super().append(session_id, event, wait=wait)
