"""Detects when a turn cannot go on until a person answers."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import anyio

from claw_acp.core.events import StateChanged
from claw_acp.session.session import Session


class UserWait:
    """Counts running calls and their open questions, and reports when every call waits."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._calls = 0
        self._questions = 0
        self._told = False
        self._since = 0.0
        self.seconds = 0.0
        """The time that the turn could not go on for this reason."""

    @contextmanager
    def among(self, calls: int) -> Generator[None]:
        """Count this many calls as running while the block runs, all before the first begins."""
        self._calls = calls
        try:
            yield
        finally:
            self._calls = 0

    @asynccontextmanager
    async def for_person(self) -> AsyncGenerator[None]:
        """One of the calls waits for an answer. If the wait is cancelled, the canceller publishes the next state."""
        self._questions += 1
        try:
            await self._tell()
            yield
        finally:
            self._questions -= 1
        await self._tell()

    async def call_over(self) -> None:
        """One of the calls has ended; perhaps only waiting ones are left, or none waits any more."""
        self._calls -= 1
        await self._tell()

    async def _tell(self) -> None:
        waits = self._questions >= max(1, self._calls)
        if waits != self._told:
            self._told = waits
            if waits:
                self._since = anyio.current_time()
            else:
                self.seconds += anyio.current_time() - self._since
            await self._session.broadcast(StateChanged(state="waiting" if waits else "running"))
