"""Streamable HTTP: POST sends messages, GET opens a stream of messages, DELETE closes the connection."""

from contextlib import suppress
from typing import Final

import anyio

from claw_acp.core.ids import may_be_id
from claw_acp.gateway.access.client import Client
from claw_acp.gateway.acp.close_code import LEFT
from claw_acp.gateway.acp.connections import Connections
from claw_acp.gateway.acp.http_transport import HttpTransport
from claw_acp.gateway.acp.mailbox import Mailbox
from claw_acp.gateway.acp.routing import HEADER_REQUIRED, Route, session_in
from claw_acp.gateway.http.exchange import Exchange
from claw_acp.gateway.http.http_error import ClientGone, HttpError
from claw_acp.gateway.http.receive_budget import BUSY, ReceiveBudget
from claw_acp.rpc.message import Malformed, Notification, Request, Response, decode, error_line

CONNECTION_ID: Final = "acp-connection-id"
SESSION_ID: Final = "acp-session-id"
JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"

_SIGN_OF_LIFE: Final = b":\n\n"
_STREAM_HEADERS: Final = {"content-type": EVENTS, "cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}


class HttpProfile:
    """Handles the requests of all streamable HTTP clients.

    Args:
        connections: The ACP connections.
        room: The budget for bodies being received.
    """

    def __init__(self, connections: Connections, room: ReceiveBudget) -> None:
        self._connections = connections
        self._room = room

    async def post(self, exchange: Exchange, client: Client) -> None:
        """Accept one message. The response to `initialize` is returned directly, all others are sent on a stream.

        Raises:
            Refused: 400, 404, 408, 413, 415 or 503.
            ClientGone: The client hung up.
        """
        headers = exchange.head.headers
        if headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
            raise HttpError(415, f"a message is sent as {JSON}")
        frame = await exchange.body(limits=self._room.limits, room=self._room)
        message = decode(frame)
        if isinstance(message, Malformed):
            raise HttpError(400, json=error_line(message.id, message.code, message.reason))
        if isinstance(message, Request) and message.method == "initialize":
            await self._initialize(exchange, client, message, frame)
            return
        transport = self._connection(exchange)
        try:
            await _hand_in(transport, message, frame, header=headers.get(SESSION_ID))
        except TimeoutError:
            raise HttpError(503, "the connection is busy; read its streams, then try again", headers=BUSY) from None
        await exchange.answer(202, b"", {})

    async def _initialize(self, exchange: Exchange, client: Client, request: Request, frame: bytes) -> None:
        if CONNECTION_ID in exchange.head.headers:
            raise HttpError(400, "this connection is initialized; leave out Acp-Connection-Id to make another")
        if request.id is None:
            raise HttpError(400, "initialize needs an id")
        transport = HttpTransport(self._room.limits)
        connection_id = self._connections.add(transport)
        self._connections.start(connection_id, transport, client, beside=transport.end_when_unused)
        try:
            with transport.usage.one():
                answer = await transport.initialize(frame)
        except TimeoutError:
            transport.end(LEFT)
            raise HttpError(504, "no response to initialize in time") from None
        if not answer:
            raise HttpError(503, "the server is shutting down")
        await exchange.answer(200, answer.rstrip(b"\n"), {"content-type": JSON, CONNECTION_ID: connection_id})

    async def get(self, exchange: Exchange) -> None:
        """Serve a stream until the client hangs up or the connection closes.

        Raises:
            Refused: 400, 404, 406, 409 or 503.
        """
        headers = exchange.head.headers
        if EVENTS not in headers.get("accept", "").lower():
            raise HttpError(406, f"a stream is sent as {EVENTS}; name it in Accept")
        transport = self._connection(exchange)
        session = headers.get(SESSION_ID)
        if session is not None and not may_be_id(session, "ses"):
            raise HttpError(404, "there is no such session")
        mailbox = transport.stream(session)
        if mailbox is None:
            raise HttpError(503, f"a connection has at most {self._room.limits.streams} streams of sessions")
        if mailbox.open:
            raise HttpError(409, "this stream is open already")
        mailbox.open = True
        try:
            with transport.usage.one():
                await self._stream(exchange, transport, mailbox, session=session)
        finally:
            mailbox.open = False
            transport.left(session, mailbox)

    async def _stream(self, exchange: Exchange, transport: HttpTransport, mailbox: Mailbox, *, session: Route) -> None:
        ids = {CONNECTION_ID: exchange.head.headers[CONNECTION_ID]} | ({SESSION_ID: session} if session else {})
        await exchange.begin_stream({**_STREAM_HEADERS, **ids})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._until_over, transport, tasks.cancel_scope)
            tasks.start_soon(_until_gone, exchange, tasks.cancel_scope)
            with suppress(ClientGone):
                await self._carry(mailbox, exchange)
            tasks.cancel_scope.cancel()

    async def _carry(self, mailbox: Mailbox, exchange: Exchange) -> None:
        while (lines := await mailbox.take(within=self._room.limits.keep_alive)) is not None:
            try:
                await exchange.send(_events(lines) if lines else _SIGN_OF_LIFE)
            finally:
                mailbox.sent(lines)
        await exchange.end()

    async def _until_over(self, transport: HttpTransport, scope: anyio.CancelScope) -> None:
        await transport.over.wait()
        await anyio.sleep(self._room.limits.flush)
        scope.cancel()

    async def delete(self, exchange: Exchange) -> None:
        """Close a connection.

        Raises:
            Refused: 400 or 404.
        """
        self._connection(exchange).end(LEFT)
        await exchange.answer(202, b"", {})

    def _connection(self, exchange: Exchange) -> HttpTransport:
        connection_id = exchange.head.headers.get(CONNECTION_ID)
        if connection_id is None:
            raise HttpError(400, "Acp-Connection-Id is missing; the answer to initialize has it")
        transport = self._connections.get(connection_id)
        if not isinstance(transport, HttpTransport) or transport.over.is_set():
            raise HttpError(404, "there is no such connection; it was closed, or the server is another one by now")
        return transport


async def _hand_in(
    transport: HttpTransport, message: Request | Notification | Response, frame: bytes, *, header: Route
) -> None:
    if isinstance(message, Response):
        expected = transport.expects(message)
        if header is not None and expected is not None and header != expected:
            raise HttpError(400, "Acp-Session-Id is not the session of the request that is answered")
        with transport.usage.one():
            await transport.take_answer(message, frame)
        return
    session = session_in(message.params)
    if header is None and message.method in HEADER_REQUIRED:
        raise HttpError(400, f"{message.method} needs Acp-Session-Id")
    if header is not None and session is not None and header != session:
        raise HttpError(400, "Acp-Session-Id is not the session in params")
    with transport.usage.one():
        if isinstance(message, Request):
            await transport.take_request(message, frame, session=header or session)
        else:
            await transport.take(frame)


async def _until_gone(exchange: Exchange, scope: anyio.CancelScope) -> None:
    await exchange.gone()
    scope.cancel()


def _events(lines: list[bytes]) -> bytes:
    return b"".join(b"data: " + line + b"\n" for line in lines)  # each line brings its own end
