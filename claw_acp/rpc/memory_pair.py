"""Two transports joined in memory: what one sends, the other receives."""

from collections import deque

import anyio

from claw_acp.rpc.framing import Frame, LineSplitter


class MemoryTransport:
    """One end of a pair. Sending never blocks."""

    def __init__(self) -> None:
        self._incoming: deque[Frame] = deque()
        self._news = anyio.Event()
        self._splitter = LineSplitter()
        self._closed = False
        self._ended = False
        self.other: MemoryTransport = self

    async def receive(self) -> Frame | None:
        """See `Transport.receive`."""
        while not self._incoming:
            if self._closed or self._ended:
                return None
            self._news = anyio.Event()
            await self._news.wait()
        return self._incoming.popleft()

    def send(self, line: bytes) -> None:
        """See `Transport.send`."""
        if not self._closed:
            self.other.arrive(line)

    def arrive(self, data: bytes) -> None:
        """Receive bytes at this end."""
        for frame in self._splitter.feed(data):
            self.insert(frame)

    def insert(self, frame: Frame) -> None:
        """Receive a frame at this end."""
        self._incoming.append(frame)
        self._news.set()

    def finish(self) -> None:
        """End the input of this end; what it sends still goes out."""
        self._ended = True
        self._news.set()

    @property
    def backlog(self) -> int:
        """Nothing is ever queued: memory has no pipe to fill."""
        return 0

    async def drained(self) -> None:
        """See `Transport.drained`."""

    def close(self) -> None:
        """Disconnect both ends."""
        for end in (self, self.other):
            end._closed = True  # noqa: SLF001 - the other half of the same thing
            end._news.set()  # noqa: SLF001


def memory_pair() -> tuple[MemoryTransport, MemoryTransport]:
    """Two joined ends."""
    left, right = MemoryTransport(), MemoryTransport()
    left.other, right.other = right, left
    return left, right
