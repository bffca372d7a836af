"""A WebSocket client for tests, on wsproto, which can also misbehave."""

import socket
import struct
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import anyio
from anyio.abc import SocketStream
from wsproto import WSConnection
from wsproto.connection import ConnectionType
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    Event,
    Ping,
    Pong,
    RejectConnection,
    RejectData,
    Request,
    TextMessage,
)
from wsproto.utilities import LocalProtocolError

from tests.support.program.agent_process import TIMEOUT


@dataclass(frozen=True)
class Closed:
    """The close of the other side; None: without a close frame."""

    code: int | None
    reason: str


class Rejected(Exception):
    """The handshake was answered with a status."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"{status}: {body}")
        self.status = status
        self.body = body


class WebSocketClient:
    """One open WebSocket. Made by `connected`.

    Attributes:
        headers: Those of the 101, in lower case.
        subprotocol: The one that the server chose.
    """

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._protocol = WSConnection(ConnectionType.CLIENT)
        self._events: deque[Event] = deque()
        self._text = ""
        self.headers: Mapping[str, str] = {}
        self.subprotocol: str | None = None

    @classmethod
    @asynccontextmanager
    async def connected(
        cls, url: str, *, headers: Mapping[str, str] | None = None, subprotocols: Sequence[str] = ()
    ) -> "AsyncGenerator[WebSocketClient]":
        """Connect and shake hands; the connection is cut at the end.

        Raises:
            Rejected: The server refused.
        """
        parts = urlsplit(url)
        assert parts.hostname is not None
        stream = await anyio.connect_tcp(parts.hostname, parts.port or 80)
        async with stream:
            client = cls(stream)
            extra = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
            host = (headers or {}).get("Host", parts.netloc)
            extra = [pair for pair in extra if pair[0] != b"Host"]
            await client._put(
                Request(host=host, target=parts.path, subprotocols=list(subprotocols), extra_headers=extra)
            )
            await client._shake_hands()
            yield client

    async def _shake_hands(self) -> None:
        answer = await self._next()
        if isinstance(answer, RejectConnection):
            body = b""
            while isinstance(piece := await self._next(), RejectData):
                body += piece.data
                if piece.body_finished:
                    break
            raise Rejected(answer.status_code, body.decode())
        assert isinstance(answer, AcceptConnection), answer
        self.headers = {name.decode().lower(): value.decode() for name, value in answer.extra_headers}
        self.subprotocol = answer.subprotocol

    async def send(self, text: str) -> None:
        """Send a text message."""
        await self._put(TextMessage(data=text))

    async def send_binary(self, data: bytes) -> None:
        """Send a binary message."""
        await self._put(BytesMessage(data=data))

    async def send_raw(self, data: bytes) -> None:
        """Send bytes that are no WebSocket frame."""
        await self._stream.send(data)

    async def receive(self) -> str | Closed:
        """The next text message, or the end."""
        while True:
            event = await self._next()
            if event is None:
                return Closed(None, "")
            if isinstance(event, TextMessage):
                self._text += event.data
                if event.message_finished:
                    text, self._text = self._text, ""
                    return text
            elif isinstance(event, CloseConnection):
                with suppress(LocalProtocolError, OSError, anyio.BrokenResourceError):
                    await self._put(event.response())
                return Closed(int(event.code), event.reason or "")

    async def close(self, code: int = 1000) -> None:
        """Close properly: send a close frame, and wait for the answer."""
        await self._put(CloseConnection(code=code))
        while not isinstance(await self.receive(), Closed):
            pass

    async def cut(self) -> None:
        """Disconnect with a reset."""
        raw = self._stream.extra(anyio.abc.SocketAttribute.raw_socket)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await anyio.aclose_forcefully(self._stream)

    async def _put(self, event: Event) -> None:
        await self._stream.send(self._protocol.send(event))

    async def _next(self) -> Event | None:
        with anyio.fail_after(TIMEOUT):
            while not self._events:
                try:
                    data = await self._stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return None
                self._protocol.receive_data(data)
                for event in self._protocol.events():
                    if isinstance(event, Ping):
                        await self._put(event.response())
                    elif not isinstance(event, Pong):
                        self._events.append(event)
        return self._events.popleft()
