"""The bytes that were sent and not yet read by the other side, and waiting until they are few."""

import anyio

LOW_WATER = 64 * 1024  # bytes left when waiting senders go on


class Backlog:
    """Counts unread bytes. Senders that can wait do so in `drained`."""

    def __init__(self) -> None:
        self.size = 0
        self._low = anyio.Event()
        self._over = False

    def add(self, size: int) -> None:
        """Add bytes that were sent."""
        if not self._over:
            self.size += size

    def take(self, size: int) -> None:
        """Subtract bytes that were written out."""
        if not self._over:
            self.size -= size
        if self.size <= LOW_WATER:
            self._low.set()

    def end(self) -> None:
        """End all waiting, whatever is left; from now on nothing is counted."""
        self._over = True
        self.size = 0
        self._low.set()

    async def drained(self) -> None:
        """Wait until little is left, or `end` was called."""
        while self.size > LOW_WATER:
            if self._low.is_set():  # else others wait for it already
                self._low = anyio.Event()
            await self._low.wait()
