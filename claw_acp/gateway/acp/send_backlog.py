"""Bytes that a client has not read yet, and detection of clients that stopped reading."""

from collections.abc import Callable

import anyio

from claw_acp.rpc.backlog import Backlog


class SendBacklog:
    """Counts bytes from being sent until the client has read them.

    Args:
        stall: Seconds without a byte read after which waiting ends.
        on_stall: Called then.
    """

    def __init__(self, *, stall: float, on_stall: Callable[[], None]) -> None:
        self._backlog = Backlog()
        self._stall = stall
        self._on_stall = on_stall
        self._taken = 0

    @property
    def size(self) -> int:
        """Bytes sent and not read."""
        return self._backlog.size

    def add(self, size: int) -> None:
        """Count `size` bytes as sent."""
        self._backlog.add(size)

    def take(self, size: int) -> None:
        """Count `size` bytes as read."""
        self._taken += size
        self._backlog.take(size)

    def end(self) -> None:
        """Release all waiters, now and later."""
        self._backlog.end()

    async def drained(self) -> None:
        """Wait until little is unread; calls `on_stall` for a client that reads nothing for too long."""
        while True:
            taken = self._taken
            with anyio.move_on_after(self._stall):
                await self._backlog.drained()
                return
            if taken == self._taken:
                self._on_stall()
                return
