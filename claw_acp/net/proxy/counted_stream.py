"""A stream that counts its bytes."""

from anyio.abc import ByteStream, SocketStream

PIECE = 256 * 1024  # bytes that are read at once


class CountedStream(ByteStream):
    """The stream of a connection to a destination."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self.sent = 0
        self.received = 0

    async def receive(self, max_bytes: int = PIECE) -> bytes:
        """See `ByteStream`."""
        data = await self._stream.receive(max_bytes)
        self.received += len(data)
        return data

    async def send(self, item: bytes) -> None:
        """See `ByteStream`."""
        await self._stream.send(item)
        self.sent += len(item)

    async def send_eof(self) -> None:
        """See `ByteStream`."""
        await self._stream.send_eof()

    async def aclose(self) -> None:
        """See `ByteStream`."""
        await self._stream.aclose()
