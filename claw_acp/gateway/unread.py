"""What a client has not read yet, and the end of waiting for one that has stopped reading."""

from collections.abc import Callable

import anyio

from claw_acp.rpc.backlog import Backlog


class Unread:
    """Counts bytes from the moment they are sent until the client took them.

    Args:
        stall: Seconds without any byte taken after which nobody waits any longer.
        on_stall: What happens then.
    """

    def __init__(self, *, stall: float, on_stall: Callable[[], None]) -> None:
        self._backlog = Backlog()
        self._stall = stall
        self._on_stall = on_stall
        self._taken = 0

    @property
    def size(self) -> int:
        """Bytes sent and not taken."""
        return self._backlog.size

    def add(self, size: int) -> None:
        """So many bytes were sent."""
        self._backlog.add(size)

    def take(self, size: int) -> None:
        """The client took so many bytes."""
        self._taken += size
        self._backlog.take(size)

    def end(self) -> None:
        """Nobody is to wait any more."""
        self._backlog.end()

    async def drained(self) -> None:
        """Wait until little is left; a client that takes nothing for too long is given up."""
        while True:
            taken = self._taken
            with anyio.move_on_after(self._stall):
                await self._backlog.drained()
                return
            if taken == self._taken:
                self._on_stall()
                return
