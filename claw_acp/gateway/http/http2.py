"""HTTP/2 server connection: many requests at once. h2 implements the protocol."""

import math
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import anyio
import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
from anyio.abc import ByteStream, TaskGroup

from claw_acp.gateway.http.exchange import Exchange, Head, RawHeaders, address_of
from claw_acp.gateway.http.frame_lengths import FrameLengths
from claw_acp.gateway.http.handler import Handler
from claw_acp.gateway.http.http_error import ClientGone
from claw_acp.gateway.http.idle_tracker import IdleTracker
from claw_acp.gateway.http.limits import Limits

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

_MORE_STREAMS: Final = 64  # beside those of sessions: for requests
_WINDOW: Final = 256 * 1024  # bytes of one request that may come unread
_ALL_WINDOWS: Final = 1024 * 1024  # and of all together
_TAKEN_BACK: Final = 200  # resets beyond the answered requests before the client gets ENHANCE_YOUR_CALM

_BROKEN = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)


class Http2:
    """A connection that speaks HTTP/2. See `HttpConnection`."""

    def __init__(
        self, stream: ByteStream, handler: Handler, *, limits: Limits, early: bytes, on_admitted: Callable[[], None]
    ) -> None:
        self._stream = stream
        self._handler = handler
        self._limits = limits
        self._early = early
        self._address = address_of(stream)
        self._on_admitted = on_admitted
        self._protocol = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding=None))
        self._exchanges: dict[int, Http2Exchange] = {}
        self._usage = IdleTracker()
        self._writing = anyio.Lock()
        self._room = anyio.Event()
        self._scope = anyio.CancelScope()
        self._closing = False
        self._answered = 0
        self._taken_back = 0

    def shut_down(self) -> None:
        """See `HttpConnection`."""
        self._closing = True
        if not self._exchanges:
            self._scope.cancel()

    async def run(self) -> None:
        """See `HttpConnection`."""
        self._protocol.local_settings = h2.settings.Settings(
            client=False,
            initial_values={
                h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: self._limits.streams + _MORE_STREAMS,
                h2.settings.SettingCodes.MAX_HEADER_LIST_SIZE: self._limits.head,
                h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: _WINDOW,
            },
        )
        self._protocol.initiate_connection()
        self._protocol.increment_flow_control_window(_ALL_WINDOWS)
        try:
            with self._scope:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._leave_when_unused)
                    await self._read(tasks)
                    tasks.cancel_scope.cancel()
        finally:
            with anyio.move_on_after(self._limits.flush, shield=True):
                await self._say_goodbye()

    # ------------------------------------------------------------------ what comes

    async def _read(self, tasks: TaskGroup) -> None:
        data = self._early
        frames = FrameLengths(before=len(PREFACE), longest=self._protocol.max_inbound_frame_size)
        try:
            while True:
                if not frames.allow(data):
                    self._protocol.close_connection(h2.errors.ErrorCodes.FRAME_SIZE_ERROR)
                    return
                events = self._protocol.receive_data(data)
                for event in events:
                    self._take(event, tasks)
                await self.flush()
                data = await self._stream.receive()
        except (h2.exceptions.ProtocolError, ClientGone, *_BROKEN):
            return

    def _take(self, event: h2.events.Event, tasks: TaskGroup) -> None:
        match event:
            case h2.events.RequestReceived():
                self._start(event, tasks)
            case h2.events.DataReceived():
                self._take_data(event)
            case h2.events.StreamEnded():
                if exchange := self._exchanges.get(event.stream_id or 0):
                    exchange.arrived(None)
            case h2.events.StreamReset():
                self._take_back(event.stream_id or 0)
            case h2.events.WindowUpdated() | h2.events.RemoteSettingsChanged():
                self._room.set()
                self._room = anyio.Event()
            case h2.events.ConnectionTerminated():
                self._scope.cancel()
            case _:
                pass  # acknowledgements, priorities

    def _start(self, event: h2.events.RequestReceived, tasks: TaskGroup) -> None:
        stream_id = event.stream_id or 0
        fields = [(bytes(name), bytes(value)) for name, value in event.headers or ()]
        if sum(len(name) + len(value) for name, value in fields) > self._limits.head:
            self._protocol.send_headers(stream_id, [(b":status", b"431")], end_stream=True)
            return
        pseudo = {name: value for name, value in fields if name.startswith(b":")}
        headers = [(name, value) for name, value in fields if not name.startswith(b":")]
        if b":authority" in pseudo:
            headers = [(b"host", pseudo[b":authority"]), *(pair for pair in headers if pair[0] != b"host")]
        head = Head.of(
            method=pseudo[b":method"], target=pseudo.get(b":path", b""), headers=headers, address=self._address
        )
        exchange = self._exchanges[stream_id] = Http2Exchange(self, stream_id, head, on_admitted=self._on_admitted)
        tasks.start_soon(self._serve, exchange, name=f"{head.method} {stream_id}")

    def _take_data(self, event: h2.events.DataReceived) -> None:
        exchange = self._exchanges.get(event.stream_id or 0)
        if exchange is None:  # of a request that was answered without reading on
            self._protocol.acknowledge_received_data(event.flow_controlled_length or 0, event.stream_id or 0)
        else:
            exchange.arrived(event.data or b"", weight=event.flow_controlled_length or 0)

    def _take_back(self, stream_id: int) -> None:
        exchange = self._exchanges.get(stream_id)
        if exchange is not None:
            exchange.lost.set()
            exchange.scope.cancel()
            self._taken_back += 1
            if self._taken_back > _TAKEN_BACK + self._answered:
                self._protocol.close_connection(h2.errors.ErrorCodes.ENHANCE_YOUR_CALM)
                self._scope.cancel()

    # ------------------------------------------------------------------ requests

    async def _serve(self, exchange: "Http2Exchange") -> None:
        try:
            with self._usage.one(), exchange.scope:
                await self._handler.answer(exchange)
        finally:
            del self._exchanges[exchange.stream_id]
            self._let_go(exchange)
        self._answered += exchange.complete
        if exchange.last or self._closing:
            self._closing = True
            if not self._exchanges:
                self._scope.cancel()
        try:
            await self.flush()
        except ClientGone:
            self._scope.cancel()

    def _let_go(self, exchange: "Http2Exchange") -> None:
        """Return the flow-control credit of unread data, and reset the stream unless both sides have closed it."""
        try:
            if unread := exchange.unread():
                self._protocol.acknowledge_received_data(unread, exchange.stream_id)
            if not exchange.lost.is_set() and not (exchange.complete and exchange.whole):
                code = h2.errors.ErrorCodes.NO_ERROR if exchange.complete else h2.errors.ErrorCodes.INTERNAL_ERROR
                self._protocol.reset_stream(exchange.stream_id, code)
        except h2.exceptions.ProtocolError:
            return  # it has ended meanwhile

    async def _leave_when_unused(self) -> None:
        """Close an unused connection; the first request has another time limit than later ones."""
        seconds = self._limits.first_message
        while True:
            await self._usage.none()
            with anyio.move_on_after(seconds):
                await self._usage.some()
                seconds = self._limits.unused
                continue
            self._scope.cancel()
            return

    # ------------------------------------------------------------------ for exchanges

    def acknowledge(self, stream_id: int, size: int) -> None:
        """Return flow-control credit for `size` bytes that were read, so that the client may send more."""
        if size:
            self._protocol.acknowledge_received_data(size, stream_id)

    async def send_head(self, stream_id: int, status: int, headers: RawHeaders) -> None:
        """Send the head of a response.

        Raises:
            ClientGone: The client hung up.
        """
        try:
            self._protocol.send_headers(stream_id, [(b":status", str(status).encode()), *headers])
        except h2.exceptions.ProtocolError as error:
            raise ClientGone from error
        await self.flush()

    async def send(self, stream_id: int, data: bytes) -> None:
        """Send a chunk of a response; waits for flow control, within bounds.

        Raises:
            ClientGone: The client hung up, or reads nothing any more.
        """
        rest = memoryview(data)
        while rest:
            try:
                room = self._protocol.local_flow_control_window(stream_id)
                size = min(room, self._protocol.max_outbound_frame_size, len(rest))
                if size > 0:
                    self._protocol.send_data(stream_id, bytes(rest[:size]))
            except h2.exceptions.ProtocolError as error:
                raise ClientGone from error
            if size > 0:
                rest = rest[size:]
                await self.flush()
            else:
                with anyio.move_on_after(self._limits.stall) as waiting:
                    await self._room.wait()
                if waiting.cancelled_caught:
                    raise ClientGone

    async def end(self, stream_id: int) -> None:
        """Finish a response.

        Raises:
            ClientGone: The client hung up.
        """
        try:
            self._protocol.end_stream(stream_id)
        except h2.exceptions.ProtocolError as error:
            raise ClientGone from error
        await self.flush()

    async def flush(self) -> None:
        """Write all pending data; waits while the client is slow.

        Raises:
            ClientGone: The client hung up.
        """
        async with self._writing:
            if data := self._protocol.data_to_send():
                try:
                    await self._stream.send(data)
                except _BROKEN as error:
                    raise ClientGone from error

    async def _say_goodbye(self) -> None:
        with suppress(h2.exceptions.ProtocolError):  # a client that broke the protocol has already got an error
            self._protocol.close_connection()
        try:
            await self.flush()
            await self._stream.send_eof()
            while True:
                await self._stream.receive()
        except (ClientGone, *_BROKEN):
            return


class Http2Exchange(Exchange):
    """See `Exchange`.

    Attributes:
        stream_id: The id of its stream.
        scope: Cancelled when the client resets the stream.
        lost: Set when that has happened.
        complete: Whether the whole response was sent.
        whole: Whether the whole request body was received.
    """

    def __init__(self, connection: Http2, stream_id: int, head: Head, *, on_admitted: Callable[[], None]) -> None:
        super().__init__(head, on_admitted=on_admitted)
        self.stream_id = stream_id
        self.scope = anyio.CancelScope()
        self.lost = anyio.Event()
        self.complete = False
        self.whole = False
        self._connection = connection
        self._pieces: deque[tuple[bytes, int]] = deque()
        self._news = anyio.Event()

    def arrived(self, piece: bytes | None, *, weight: int = 0) -> None:
        """Store a received chunk, None for the end of the body; `weight` is its size in flow control."""
        if piece is None:
            self.whole = True
        else:
            self._pieces.append((piece, weight))
        self._news.set()

    def unread(self) -> int:
        """The flow-control size of the data that was not read."""
        return sum(weight for _, weight in self._pieces)

    async def receive(self) -> bytes:
        """See `Exchange`."""
        while True:
            while self._pieces:
                piece, weight = self._pieces.popleft()
                self._connection.acknowledge(self.stream_id, weight)
                await self._connection.flush()
                if piece:
                    return piece
            if self.whole:
                return b""
            self._news = anyio.Event()
            await self._news.wait()

    async def begin(self, status: int, headers: RawHeaders) -> None:
        """See `Exchange`."""
        await self._connection.send_head(self.stream_id, status, headers)

    async def send(self, piece: bytes) -> None:
        """See `Exchange`."""
        await self._connection.send(self.stream_id, piece)

    async def end(self) -> None:
        """See `Exchange`."""
        await self._connection.end(self.stream_id)
        self.complete = True

    async def gone(self) -> None:
        """See `Exchange`. The waiting task is cancelled together with the request."""
        await anyio.sleep(math.inf)
