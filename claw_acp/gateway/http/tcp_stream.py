"""A TCP connection from which nothing is read before it is wanted, so that a client that floods fills no memory.

The streams that anyio makes of accepted connections read ahead without bound until somebody has waited for data once.
"""

import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from anyio.abc import ByteStream, SocketAttribute
from anyio.lowlevel import cancel_shielded_checkpoint, checkpoint_if_cancelled

from claw_acp.rpc.outbox import Outbox

READ_SIZE = 64 * 1024


class TcpStream(ByteStream):
    """See `ByteStream`. What was sent is written, also if the sender is cancelled meanwhile. Made by `tcp_stream`."""

    def __init__(self, connection: socket.socket, address: tuple[Any, ...]) -> None:
        self._connection = connection
        self._address = address
        self._outbox = Outbox(connection.fileno(), on_broken=lambda: None)
        self._closed = False

    @property
    def extra_attributes(self) -> Mapping[Any, Callable[[], Any]]:
        """The address of the client."""
        return {SocketAttribute.remote_address: lambda: self._address}

    async def receive(self, max_bytes: int = READ_SIZE) -> bytes:
        """See `ByteStream`."""
        await checkpoint_if_cancelled()
        while True:
            self._check_open()
            try:
                data = self._connection.recv(max_bytes)
            except BlockingIOError:
                await anyio.wait_readable(self._connection)
            except OSError as error:
                raise anyio.BrokenResourceError from error
            else:
                break
        await cancel_shielded_checkpoint()  # others have their turn, however much is there to read
        if not data:
            raise anyio.EndOfStream
        return data

    async def send(self, item: bytes) -> None:
        """See `ByteStream`. Waits until the system has taken everything."""
        await checkpoint_if_cancelled()
        self._check_open()
        self._outbox.send(item)
        await self._outbox.written()
        if self._outbox.broken:
            raise anyio.BrokenResourceError
        await cancel_shielded_checkpoint()

    async def send_eof(self) -> None:
        """See `ByteStream`."""
        await self._outbox.written()
        self._check_open()
        try:
            self._connection.shutdown(socket.SHUT_WR)
        except OSError as error:
            raise anyio.BrokenResourceError from error

    async def aclose(self) -> None:
        """See `ByteStream`. What the client has not taken is lost."""
        if not self._closed:
            self._closed = True
            anyio.notify_closing(self._connection)
            self._connection.close()

    async def write_waiting(self) -> None:
        """Write what could not be written at once; runs as long as the connection."""
        await self._outbox.run()

    def _check_open(self) -> None:
        if self._closed:
            raise anyio.ClosedResourceError


@asynccontextmanager
async def tcp_stream(connection: socket.socket, address: tuple[Any, ...]) -> AsyncGenerator[TcpStream]:
    """A stream over an accepted connection, which is closed at the end of the block."""
    with connection:
        connection.settimeout(0)
        with suppress(OSError):  # the client has left already
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = TcpStream(connection, address)
        async with stream, anyio.create_task_group() as tasks:
            tasks.start_soon(stream.write_waiting, name="writer")
            yield stream
            tasks.cancel_scope.cancel()
