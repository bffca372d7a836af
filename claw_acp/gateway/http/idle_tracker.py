"""A user count, and waiting for it to become zero or not."""

from collections.abc import Generator
from contextlib import contextmanager

import anyio


class IdleTracker:
    """Counts users."""

    def __init__(self) -> None:
        self._users = 0
        self._change = anyio.Event()

    @contextmanager
    def one(self) -> Generator[None]:
        """Count one more user for the duration of the block."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    async def none(self) -> None:
        """Wait until there is no user."""
        while self._users:
            await self._change.wait()

    async def some(self) -> None:
        """Wait until there is a user."""
        while not self._users:
            await self._change.wait()

    def _count(self, change: int) -> None:
        self._users += change
        self._change.set()
        self._change = anyio.Event()
