"""HTTP/1.1 server connection: one request after the other. h11 implements the protocol."""

import logging
from collections.abc import Callable
from typing import TypeAlias

import anyio
import h11
from anyio.abc import ByteStream

from claw_acp.gateway.http.exchange import Exchange, Head, RawHeaders, address_of, phrase, raw_headers
from claw_acp.gateway.http.handler import Handler
from claw_acp.gateway.http.http_error import ClientGone, HttpError
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.http.websocket import WebSocket, wants_websocket

log = logging.getLogger(__name__)

Sendable: TypeAlias = h11.Response | h11.InformationalResponse | h11.Data | h11.EndOfMessage

_BROKEN = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)


class Http1:
    """A connection that speaks HTTP/1.1 or 1.0. See `HttpConnection`."""

    def __init__(
        self, stream: ByteStream, handler: Handler, *, limits: Limits, early: bytes, on_admitted: Callable[[], None]
    ) -> None:
        self._stream = stream
        self._handler = handler
        self._limits = limits
        self._protocol = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.head)
        self._protocol.receive_data(early)
        self._address = address_of(stream)
        self._on_admitted = on_admitted
        self._waiting: anyio.CancelScope | None = None
        self._closing = False

    def shut_down(self) -> None:
        """See `HttpConnection`."""
        self._closing = True
        if self._waiting is not None:
            self._waiting.cancel()

    async def run(self) -> None:
        """See `HttpConnection`."""
        seconds = self._limits.first_message
        try:
            while not self._closing and (request := await self._next_request(seconds)):
                if not await self._serve(request):
                    await self._linger()
                    return
                self._protocol.start_next_cycle()
                seconds = self._limits.unused
        except h11.RemoteProtocolError as error:
            await self._refuse(error.error_status_hint)
            await self._linger()
        except (ClientGone, *_BROKEN):
            return

    async def _next_request(self, seconds: float) -> h11.Request | None:
        """The next request; None when none came in time or the client is done."""
        try:
            with anyio.move_on_after(seconds) as self._waiting:
                event = await self._next_event()
                return event if isinstance(event, h11.Request) else None
            return None
        finally:
            self._waiting = None

    async def _serve(self, request: h11.Request) -> bool:
        """Serve one request; True when the connection may carry another."""
        if len(request.target) + sum(len(name) + len(value) for name, value in request.headers) > self._limits.head:
            await self._refuse(431)  # h11 looks only at heads that come in pieces
            return False
        if _is_ambiguous(request):
            await self._refuse(400)
            return False
        head = Head.of(method=request.method, target=request.target, headers=request.headers, address=self._address)
        if wants_websocket(head):
            rest = self._protocol.trailing_data[0]
            websocket = WebSocket(head, self._stream, rest=rest, limits=self._limits, on_admitted=self._on_admitted)
            await self._handler.serve_websocket(websocket)
            return False
        exchange = Http1Exchange(self, head, last=self._closing, on_admitted=self._on_admitted)
        await self._handler.answer(exchange)
        if self._protocol.their_state is h11.SEND_BODY:
            self._protocol.next_event()  # where there is no body, its end is there already
        return self._protocol.our_state is self._protocol.their_state is h11.DONE

    # ------------------------------------------------------------------ for exchanges

    async def receive(self) -> bytes:
        """The next chunk of the request body; empty at its end."""
        if self._protocol.their_state is not h11.SEND_BODY:
            return b""
        if self._protocol.they_are_waiting_for_100_continue:
            await self.send(h11.InformationalResponse(status_code=100, headers=[]))
        try:
            event = await self._next_event()
        except h11.RemoteProtocolError as error:
            raise HttpError(400, f"the body is broken: {error}") from error
        if isinstance(event, h11.ConnectionClosed):
            raise ClientGone
        return bytes(event.data) if isinstance(event, h11.Data) else b""

    async def send(self, event: Sendable) -> None:
        """Send part of a response.

        Raises:
            ClientGone: The client hung up.
        """
        try:
            await self._stream.send(self._protocol.send(event) or b"")
        except _BROKEN as error:
            raise ClientGone from error

    async def gone(self) -> None:
        """Wait until the client hangs up; requests that it sends meanwhile wait."""
        while True:
            try:
                self._protocol.receive_data(await self._stream.receive())
            except _BROKEN:
                return
            if len(self._protocol.trailing_data[0]) > self._limits.head:
                await anyio.sleep_forever()

    # ------------------------------------------------------------------ the stream

    async def _next_event(self) -> object:
        """The next event of h11: part of a request, or the end of the connection."""
        while (event := self._protocol.next_event()) is h11.NEED_DATA:
            try:
                data = await self._stream.receive()
            except _BROKEN:
                data = b""
            self._protocol.receive_data(data)
        return event

    async def _refuse(self, status: int) -> None:
        """Respond to malformed HTTP, unless a response has begun."""
        log.debug("a request is not valid HTTP", extra={"status": status, "address": self._address})
        if self._protocol.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            headers = raw_headers({"content-length": "0", "connection": "close"})
            await self.send(h11.Response(status_code=status, headers=headers))

    async def _linger(self) -> None:
        """Close so that the last response arrives: closing with unread data would discard it."""
        with anyio.move_on_after(self._limits.flush):
            try:
                await self._stream.send_eof()
                while True:
                    await self._stream.receive()
            except _BROKEN:
                return


def _is_ambiguous(request: h11.Request) -> bool:
    """True when a proxy in front of us may see another end of the body, and take the rest for a request (smuggling)."""
    names = {name for name, _ in request.headers}
    return b"transfer-encoding" in names and (b"content-length" in names or request.http_version < b"1.1")


class Http1Exchange(Exchange):
    """See `Exchange`."""

    def __init__(self, connection: Http1, head: Head, *, last: bool, on_admitted: Callable[[], None]) -> None:
        super().__init__(head, on_admitted=on_admitted)
        self.last = last
        self._connection = connection

    async def receive(self) -> bytes:
        """See `Exchange`."""
        return await self._connection.receive()

    async def begin(self, status: int, headers: RawHeaders) -> None:
        """See `Exchange`."""
        closing = [(b"connection", b"close")] if self.last else []
        response = h11.Response(status_code=status, headers=[*headers, *closing], reason=phrase(status).encode())
        await self._connection.send(response)

    async def send(self, piece: bytes) -> None:
        """See `Exchange`."""
        await self._connection.send(h11.Data(data=piece))

    async def end(self) -> None:
        """See `Exchange`."""
        await self._connection.send(h11.EndOfMessage())

    async def gone(self) -> None:
        """See `Exchange`."""
        try:
            while await self.receive():
                pass
        except (ClientGone, HttpError):
            return
        await self._connection.gone()
