"""JSON-RPC over anyio byte streams: the pipes of a child process, a socket."""

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from claw_acp.rpc.backlog import Backlog
from claw_acp.rpc.framing import FRAME_LIMIT, Frame, LineSplitter


class StreamTransport:
    """Frames over byte streams. Made by `stream_transport`."""

    def __init__(
        self, receive_stream: ByteReceiveStream, send_stream: ByteSendStream, *, limit: int = FRAME_LIMIT
    ) -> None:
        self._input = receive_stream
        self._output = send_stream
        self._splitter = LineSplitter(limit=limit)
        self._frames: deque[Frame] = deque()
        self._queue: deque[bytes] = deque()
        self._work = anyio.Event()
        self._backlog = Backlog()
        self._broken = False

    async def receive(self) -> Frame | None:
        """See `Transport.receive`."""
        while not self._frames:
            try:
                self._frames.extend(self._splitter.feed(await self._input.receive()))
            except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
                last = self._splitter.finish()
                if not last:
                    return None
                self._frames.extend(last)
        return self._frames.popleft()

    def send(self, line: bytes) -> None:
        """See `Transport.send`."""
        if not self._broken:
            self._queue.append(line)
            self._backlog.add(len(line))
            self._work.set()

    def withdraw(self, line: bytes) -> bool:
        """Remove a queued line; False when its writing has begun, or it was never queued."""
        index = next((index for index, queued in enumerate(self._queue) if queued is line), None)
        if index is None:
            return False
        del self._queue[index]
        self._backlog.take(len(line))
        return True

    @property
    def backlog(self) -> int:
        """See `Transport.backlog`."""
        return self._backlog.size

    async def drained(self) -> None:
        """See `Transport.drained`."""
        await self._backlog.drained()

    async def write_queued(self) -> None:
        """Write everything queued in order, joined when it piled up."""
        while True:
            while not self._queue:
                self._work = anyio.Event()
                await self._work.wait()
            data = b"".join(self._queue)
            self._queue.clear()
            try:
                await self._output.send(data)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                self._broken = True
                self._backlog.end()
                return
            self._backlog.take(len(data))


@asynccontextmanager
async def stream_transport(
    receive_stream: ByteReceiveStream, send_stream: ByteSendStream, *, limit: int = FRAME_LIMIT
) -> AsyncGenerator[StreamTransport]:
    """Frames over byte streams, with a writer task that lives as long as the block."""
    transport = StreamTransport(receive_stream, send_stream, limit=limit)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(transport.write_queued, name="writer")
        try:
            yield transport
        finally:
            tasks.cancel_scope.cancel()
