"""Server side of one WebSocket, from its upgrade request to its close. wsproto implements the protocol."""

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import anyio
from anyio.abc import ByteStream
from anyio.lowlevel import checkpoint
from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Event, Ping, TextMessage
from wsproto.utilities import LocalProtocolError, generate_accept_token

from claw_acp.gateway.http.exchange import Head, listed, phrase, raw_headers
from claw_acp.gateway.http.http_error import ClientGone, HttpError
from claw_acp.gateway.http.limits import Limits

VERSION: Final = "13"
TOO_BIG: Final = 1009

_BROKEN = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)


def wants_websocket(head: Head) -> bool:
    """True for a request that asks for a WebSocket."""
    asks = head.headers.get("upgrade", "").lower() == "websocket"
    return asks and head.method == "GET" and "upgrade" in map(str.lower, listed(head.headers.get("connection", "")))


class WebSocket:
    """Text messages in both directions. One task receives, one sends.

    Args:
        head: The request.
        stream: The TCP connection.
        rest: The bytes already read after the request.
        limits: Limits.
        on_admitted: To be called when the client has shown a right to be served.

    Attributes:
        longest: The bytes of the longest message to receive.
    """

    def __init__(
        self, head: Head, stream: ByteStream, *, rest: bytes, limits: Limits, on_admitted: Callable[[], None]
    ) -> None:
        self.head = head
        self.on_admitted = on_admitted
        self.longest = limits.message
        self._stream = stream
        self._rest = rest
        self._limits = limits
        self._protocol = Connection(ConnectionType.SERVER)
        self._events: Iterator[Event] = iter(())
        self._begun = bytearray()
        self._reading = anyio.Lock()
        self._writing = anyio.Lock()

    # ------------------------------------------------------------------ the handshake

    async def accept(self, headers: Mapping[str, str], *, subprotocol: str | None) -> None:
        """Accept the upgrade, after checking the request.

        Raises:
            Refused: 400 or 426, the request is not valid.
            ClientGone: The client hung up.
        """
        named = {
            "upgrade": "websocket",
            "connection": "Upgrade",
            "sec-websocket-accept": generate_accept_token(_key(self.head)).decode(),
            **({} if subprotocol is None else {"sec-websocket-protocol": subprotocol}),
            **headers,
        }
        await self._write(_answer(101, named, b""))
        self._protocol.receive_data(self._rest)
        self._events = self._protocol.events()

    async def refuse(self, refusal: HttpError) -> None:
        """Respond to the request with a status instead.

        Raises:
            ClientGone: The client hung up.
        """
        body = f"{refusal.reason}\n".encode()
        headers = {
            "content-type": "text/plain; charset=utf-8",
            "content-length": str(len(body)),
            "connection": "close",
            **refusal.headers,
        }
        await self._write(_answer(refusal.status, headers, body))

    # ------------------------------------------------------------------ messages

    async def receive(self) -> bytes | None:
        """The next text message, in UTF-8; None after the close. Binary messages are ignored, pings are answered."""
        while (event := await self._next_event()) is not None:
            if isinstance(event, TextMessage | BytesMessage):
                if (message := await self._collect(event)) is not None:
                    return message
            elif isinstance(event, Ping):
                await self._answer(event)
            elif isinstance(event, CloseConnection):
                await self._answer(event)
                return None
        return None

    async def send(self, text: str) -> None:
        """Send a text message; waits while the client is slow.

        Raises:
            ClientGone: The client hung up, or the WebSocket was closed.
        """
        await self._put(TextMessage(data=text))

    async def close(self, code: int, reason: str) -> None:
        """Send a close frame, and wait for the client's own.

        Raises:
            ClientGone: The client hung up.
        """
        await self._put(CloseConnection(code=code, reason=reason))
        while self._protocol.state is not ConnectionState.CLOSED and await self._next_event() is not None:
            pass

    async def _collect(self, event: TextMessage | BytesMessage) -> bytes | None:
        """The message that this piece completes; None while it is incomplete."""
        self._begun += event.data.encode() if isinstance(event, TextMessage) else event.data
        if len(self._begun) > self.longest:
            self._begun.clear()
            await self._say_goodbye(TOO_BIG, f"a message may have at most {self.longest} bytes")
            return None
        if not event.message_finished:
            return None
        message = bytes(self._begun)
        self._begun.clear()
        return message if isinstance(event, TextMessage) else None

    async def _say_goodbye(self, code: int, reason: str) -> None:
        try:
            with anyio.move_on_after(self._limits.flush):
                await self.close(code, reason)
        except ClientGone:
            pass
        self._events = iter(())
        self._protocol.receive_data(None)  # the end, for later calls of `receive` as well

    async def _answer(self, event: Ping | CloseConnection) -> None:
        try:
            await self._put(event.response())
        except ClientGone:
            return

    # ------------------------------------------------------------------ the stream

    async def _next_event(self) -> Event | None:
        async with self._reading:
            await checkpoint()  # others have their turn, however many frames have come
            while self._protocol.state is not ConnectionState.CLOSED:
                if (event := next(self._events, None)) is not None:
                    return event
                try:
                    self._protocol.receive_data(await self._stream.receive())
                except _BROKEN:
                    return None
                self._events = self._protocol.events()
            return None

    async def _put(self, event: Event) -> None:
        async with self._writing:
            try:
                data = self._protocol.send(event)
            except LocalProtocolError as error:
                raise ClientGone from error
            await self._write(data)

    async def _write(self, data: bytes) -> None:
        try:
            await self._stream.send(data)
        except _BROKEN as error:
            raise ClientGone from error


def _key(head: Head) -> bytes:
    version = head.headers.get("sec-websocket-version")
    if version != VERSION:
        raise HttpError(426, "only WebSocket 13 is spoken here", headers={"sec-websocket-version": VERSION})
    key = head.headers.get("sec-websocket-key", "")
    try:
        if len(base64.b64decode(key, validate=True)) != 16:
            raise binascii.Error
    except ValueError:
        raise HttpError(400, "Sec-WebSocket-Key is not 16 bytes in Base64") from None
    return key.encode()


def _answer(status: int, headers: Mapping[str, str], body: bytes) -> bytes:
    lines = [f"HTTP/1.1 {status} {phrase(status)}".encode()]
    lines += [name.title() + b": " + value for name, value in raw_headers(headers)]
    return b"\r\n".join([*lines, b"", body])
