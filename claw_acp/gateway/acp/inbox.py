"""Queue of received frames."""

from collections import deque

import anyio

FRAMES = 256  # frames; `put` waits beyond that
BYTES = 16 * 1024 * 1024  # and bytes of them; a single frame may be longer


class Inbox:
    """Bounded queue from HTTP requests to the connection that handles their frames; `put` waits while it is full."""

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque()
        self._bytes = 0
        self._ended = False
        self._news = anyio.Event()

    async def put(self, frame: bytes) -> None:
        """Add a frame, waiting for room; dropped after `end`."""
        while len(self._frames) >= FRAMES or self._bytes >= BYTES:
            await self._news.wait()
        if not self._ended:
            self._frames.append(frame)
            self._bytes += len(frame)
            self._tell()

    async def take(self) -> bytes | None:
        """The next frame; None after `end`."""
        while not self._frames:
            if self._ended:
                return None
            await self._news.wait()
        frame = self._frames.popleft()
        self._bytes -= len(frame)
        self._tell()
        return frame

    def end(self) -> None:
        """Close the queue and drop its frames."""
        self._ended = True
        self._frames.clear()
        self._bytes = 0
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()
