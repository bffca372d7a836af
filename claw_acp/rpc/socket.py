"""JSON-RPC on a connected stream socket, for servers: nothing is read before it can be handled, writing never waits."""

import socket
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from claw_acp.rpc.framing import FRAME_LIMIT, Frame, LineSplitter
from claw_acp.rpc.outbox import OutboxSender

READ_SIZE = 256 * 1024
DRAIN_TIMEOUT = 0.3  # seconds at the end for a reader that is merely slow


class SocketTransport(OutboxSender):
    """Frames over a socket. Made by `socket_transport`."""

    def __init__(self, connection: socket.socket, *, limit: int = FRAME_LIMIT) -> None:
        super().__init__(connection.fileno(), on_broken=self.end)
        self._connection = connection
        self._splitter = LineSplitter(limit=limit)
        self._frames: deque[Frame] = deque()
        self._ended = False
        self._reading: anyio.CancelScope | None = None

    async def receive(self) -> Frame | None:
        """See `Transport.receive`."""
        while not (self._frames or self._ended):
            with anyio.CancelScope() as self._reading:
                self._frames.extend(await self._read())
        return None if self._ended or not self._frames else self._frames.popleft()

    async def _read(self) -> list[Frame]:
        await anyio.wait_readable(self._connection)
        try:
            data = self._connection.recv(READ_SIZE)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if data:
            return self._splitter.feed(data)
        last = self._splitter.finish()
        if not last:
            self.end()
        return last

    def limit(self, size: int) -> None:
        """Drop frames of more than `size` bytes from now on."""
        self._splitter.limit = size

    def end(self) -> None:
        """Stop receiving; what was sent is still written, for a moment."""
        self._ended = True
        self._outbox.backlog.end()
        if self._reading is not None:
            self._reading.cancel()


@asynccontextmanager
async def socket_transport(connection: socket.socket, *, limit: int = FRAME_LIMIT) -> AsyncGenerator[SocketTransport]:
    """Frames over a socket, which is closed at the end of the block."""
    connection.settimeout(0)
    transport = SocketTransport(connection, limit=limit)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transport.write_waiting, name="writer")
            try:
                yield transport
            finally:
                with anyio.move_on_after(DRAIN_TIMEOUT, shield=True):
                    await transport.written()
                tasks.cancel_scope.cancel()
    finally:
        connection.close()
