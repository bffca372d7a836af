"""HTTP/2 for httpx with one reader for all streams.

httpx's own lets each request read from the connection in turn; one whose answer has arrived then waits until something
comes for another, which on quiet streams is never.
"""

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import anyio
import h2.config
import h2.connection
import h2.events
import httpx
from anyio.abc import SocketStream

Connection = h2.connection.H2Connection


class _Stream:
    """One request: the head of its answer, then pieces of its body."""

    def __init__(self) -> None:
        self.head = anyio.Event()
        self.headers: list[tuple[bytes, bytes]] = []
        self.reset = False
        self.over = False
        self._pieces: deque[bytes] = deque()
        self._news = anyio.Event()

    def arrived(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._tell()

    def end(self) -> None:
        self.over = True
        self.head.set()
        self._tell()

    async def next(self) -> bytes | None:
        while not self._pieces:
            if self.over:
                return None
            await self._news.wait()
        return self._pieces.popleft()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()


class Http2Transport(httpx.AsyncBaseTransport):
    """One TCP connection to one server. Made by `http2_client`."""

    def __init__(self, socket: SocketStream) -> None:
        self._socket = socket
        self._protocol = Connection(h2.config.H2Configuration(client_side=True, header_encoding=None))
        self._streams: dict[int, _Stream] = {}
        self._window = anyio.Event()
        self._writing = anyio.Lock()

    async def open(self) -> None:
        """Shake hands."""
        self._protocol.initiate_connection()
        self._protocol.increment_flow_control_window(2**24)  # of the connection; each stream has its own
        await self._flush()

    async def read(self) -> None:
        """Handle events until the connection ends."""
        try:
            while True:
                for event in self._protocol.receive_data(await self._socket.receive()):
                    self._handle(event)
                await self._flush()
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            for stream in self._streams.values():
                stream.reset = True
                stream.end()

    def _handle(self, event: h2.events.Event) -> None:
        if isinstance(event, h2.events.WindowUpdated):
            self._window.set()
            self._window = anyio.Event()
            return
        stream = self._streams.get(getattr(event, "stream_id", None) or 0)
        if stream is None:
            return
        if isinstance(event, h2.events.ResponseReceived):
            stream.headers = [(bytes(name), bytes(value)) for name, value in event.headers or ()]
            stream.head.set()
        elif isinstance(event, h2.events.DataReceived):
            stream.arrived(event.data or b"")
        elif isinstance(event, h2.events.StreamEnded):
            stream.end()
        elif isinstance(event, h2.events.StreamReset):
            stream.reset = True
            stream.end()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """See httpx."""
        stream_id = self._protocol.get_next_available_stream_id()
        stream = self._streams[stream_id] = _Stream()
        self._protocol.send_headers(stream_id, _headers(request))
        await self._flush()
        assert isinstance(request.stream, httpx.AsyncByteStream)
        async for piece in request.stream:
            await self._send(stream_id, piece)
        if not stream.reset:
            self._protocol.end_stream(stream_id)
        await self._flush()
        await stream.head.wait()
        if not stream.headers:
            raise httpx.RemoteProtocolError("the stream ended without an answer", request=request)
        fields = [(name, value) for name, value in stream.headers if not name.startswith(b":")]
        status = int(dict(stream.headers)[b":status"])
        body = _Body(self, stream_id, stream)
        return httpx.Response(status, headers=fields, stream=body, extensions={"http_version": b"HTTP/2"})

    async def _send(self, stream_id: int, data: bytes) -> None:
        while data and not self._streams[stream_id].reset:
            window = self._protocol.local_flow_control_window(stream_id)
            size = min(window, self._protocol.max_outbound_frame_size, len(data))
            if not size:
                await self._window.wait()
                continue
            self._protocol.send_data(stream_id, data[:size])
            data = data[size:]
            await self._flush()

    async def taken(self, stream_id: int, size: int) -> None:
        """Acknowledge that much of an answer; only then more may come."""
        if size and stream_id in self._streams and not self._streams[stream_id].reset:
            self._protocol.acknowledge_received_data(size, stream_id)
            await self._flush()

    async def leave(self, stream_id: int) -> None:
        """Stop reading an answer."""
        stream = self._streams.pop(stream_id, None)
        if stream is not None and not stream.over:
            self._protocol.reset_stream(stream_id, error_code=8)
            await self._flush()

    async def _flush(self) -> None:
        async with self._writing:
            if data := self._protocol.data_to_send():
                await self._socket.send(data)


class _Body(httpx.AsyncByteStream):
    def __init__(self, transport: Http2Transport, stream_id: int, stream: _Stream) -> None:
        self._transport = transport
        self._stream_id = stream_id
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (piece := await self._stream.next()) is not None:
            yield piece
            await self._transport.taken(self._stream_id, len(piece))

    async def aclose(self) -> None:
        with anyio.CancelScope(shield=True):
            await self._transport.leave(self._stream_id)


def _headers(request: httpx.Request) -> list[tuple[bytes, bytes]]:
    left_out = {b"host", b"connection", b"transfer-encoding", b"keep-alive", b"upgrade"}
    fields = [(name.lower(), value) for name, value in request.headers.raw if name.lower() not in left_out]
    return [
        (b":method", request.method.encode()),
        (b":scheme", b"http"),
        (b":authority", request.headers["host"].encode()),
        (b":path", request.url.raw_path),
        *fields,
    ]


@asynccontextmanager
async def http2_client(url: str, *, headers: dict[str, str] | None = None) -> AsyncGenerator[httpx.AsyncClient]:
    """A client whose requests share one connection."""
    place = httpx.URL(url)
    async with await anyio.connect_tcp(place.host, place.port or 80) as socket, anyio.create_task_group() as tasks:
        transport = Http2Transport(socket)
        await transport.open()
        tasks.start_soon(transport.read)
        async with httpx.AsyncClient(transport=transport, headers=headers) as client:
            yield client
        tasks.cancel_scope.cancel()
