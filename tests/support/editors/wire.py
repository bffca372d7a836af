"""A connection in memory: a `Transport` for the agent at one end, bytes for a client at the other."""

from collections import deque

import anyio
import anyio.lowlevel

from claw_acp.rpc.backlog import Backlog
from claw_acp.rpc.framing import Frame, LineSplitter


class Wire:
    """Both ends of one connection. The client's end can stall, hang up and stop listening."""

    def __init__(self) -> None:
        self._to_agent: deque[Frame] = deque()
        self._to_client: deque[bytes] = deque()
        self._splitter = LineSplitter()
        self._backlog = Backlog()
        self._news = anyio.Event()
        self._stalled = False
        self._input_ended = False
        self._over = False

    # ------------------------------------------------------------------ the agent's end

    async def receive(self) -> Frame | None:
        """See `Transport`."""
        while not self._to_agent:
            if self._input_ended:
                return None
            await self._news.wait()
        return self._to_agent.popleft()

    def send(self, line: bytes) -> None:
        """See `Transport`."""
        if not self._over:
            self._to_client.append(line)
            self._backlog.add(len(line))
            self._tell()

    @property
    def backlog(self) -> int:
        """See `Transport`."""
        return self._backlog.size

    async def drained(self) -> None:
        """See `Transport`."""
        await self._backlog.drained()

    def end(self) -> None:
        """Mark the agent as gone."""
        self._over = True
        self._input_ended = True
        self._backlog.end()
        self._tell()

    # ------------------------------------------------------------------ the client's end

    async def write(self, data: bytes) -> None:
        """Send bytes, whole lines or not.

        Raises:
            BrokenPipeError: The agent is gone.
        """
        if self._over:
            raise BrokenPipeError
        self._to_agent.extend(self._splitter.feed(data))
        self._tell()
        await anyio.lowlevel.checkpoint()

    async def read(self) -> bytes:
        """All output of the agent since the last call; empty at the end. Waits while reading is stalled."""
        while self._stalled or not self._to_client:
            if self._over and not self._to_client:
                return b""
            await self._news.wait()
        data = b"".join(self._to_client)
        self._to_client.clear()
        self._backlog.take(len(data))
        return data

    def stderr(self) -> str:
        """Empty: the agent's log is in the test's own log."""
        return ""

    def stall(self) -> None:
        """Stop reading."""
        self._stalled = True

    def go_on(self) -> None:
        """Read again."""
        self._stalled = False
        self._tell()

    def hang_up(self) -> None:
        """Close the input; what was sent before is still received."""
        if not self._input_ended:
            self._to_agent.extend(self._splitter.finish())
            self._input_ended = True
            self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()
