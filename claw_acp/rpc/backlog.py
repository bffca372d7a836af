"""The bytes that were sent and not yet taken by the other side, and the wait until they are few."""

import anyio

LOW_WATER = 64 * 1024  # bytes left when waiting senders go on


class Backlog:
    """Counts. Senders that have all the time wait in `drained`."""

    def __init__(self) -> None:
        self.size = 0
        self._low = anyio.Event()
        self._over = False

    def add(self, size: int) -> None:
        """So many bytes were sent."""
        if not self._over:
            self.size += size

    def take(self, size: int) -> None:
        """So many bytes are on their way."""
        if not self._over:
            self.size -= size
        if self.size <= LOW_WATER:
            self._low.set()

    def end(self) -> None:
        """Nobody is to wait any more, whatever is left; from now on nothing is counted."""
        self._over = True
        self.size = 0
        self._low.set()

    async def drained(self) -> None:
        """Wait until little is left, or nobody is to wait any more."""
        while self.size > LOW_WATER:
            if self._low.is_set():  # else others wait for it already
                self._low = anyio.Event()
            await self._low.wait()
