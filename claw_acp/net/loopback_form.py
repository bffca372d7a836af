"""A short-lived web form on loopback, for input that must not pass through the editor's protocol, such as keys.

The URL holds 192 random bits, and requests are answered only with the `Host` that the URL names (a page elsewhere whose
name resolves to this machine gets nothing). A submitted form must carry a token that only the page knows, and come from
that page. The page loads nothing from anywhere, and the browser stores nothing.
"""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias
from urllib.parse import parse_qsl

import anyio
import h11
from anyio.abc import SocketAttribute, SocketStream

from claw_acp.core.clock import Clock
from claw_acp.core.value import Value

REQUEST_TIMEOUT = 60.0  # seconds for one request, with whatever its answer waits for
HEAD_LIMIT = 16 * 1024  # bytes
BODY_LIMIT = 64 * 1024  # bytes of a form
CONNECTIONS = 8  # at a time; more are turned away
CLOSE_TIMEOUT = 1.0  # seconds to end a connection

_HEADERS = (
    ("Content-Type", "text/html; charset=utf-8"),
    ("Cache-Control", "no-store"),
    (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    ),
    ("X-Frame-Options", "DENY"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "same-origin"),  # with `no-referrer` browsers hide where a form comes from
    ("Connection", "close"),
)

log = logging.getLogger(__name__)


class Page(Value):
    """An HTML page; after the `last` one the form is finished."""

    html: str
    last: bool = False


class Refused(Exception):
    """A request that is refused with an HTTP status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


Answer: TypeAlias = Callable[[Mapping[str, str] | None], Awaitable[Page]]
"""Makes a page: the empty form for None, otherwise the one that follows the submitted fields."""


class LoopbackForm:
    """A form served on a random loopback port.

    Args:
        answer: Renders its pages; a hidden field `TICKET` must hold `ticket`.
        clock: Source of random bytes.

    Attributes:
        url: Its URL, once it is served.
        ticket: The token that a submitted form must carry.
        finished: Set when the last page has been delivered.
    """

    TICKET = "ticket"

    def __init__(self, answer: Answer, *, clock: Clock) -> None:
        self.url = ""
        self.ticket = clock.random_bytes(24).hex()
        self.finished = anyio.Event()
        self._path = f"/{clock.random_bytes(24).hex()}"
        self._answer = answer
        self._host = ""
        self._open = 0

    @asynccontextmanager
    async def served(self) -> AsyncGenerator[None]:
        """Serve the form while the block runs.

        Raises:
            OSError: No port of the loopback interface can be had.
        """
        async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
            port: int = listener.extra(SocketAttribute.local_port)  # noqa: S610 - anyio's, not Django's
            self._host = f"127.0.0.1:{port}"
            self.url = f"http://{self._host}{self._path}"
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listener.serve, self._serve, name="login page")
                yield
                tasks.cancel_scope.cancel()

    async def _serve(self, stream: SocketStream) -> None:
        self._open += 1
        try:
            with anyio.move_on_after(REQUEST_TIMEOUT), suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                if self._open <= CONNECTIONS:
                    await self._serve_one(stream)
        finally:
            self._open -= 1
            with anyio.move_on_after(CLOSE_TIMEOUT, shield=True):
                await stream.aclose()

    async def _serve_one(self, stream: SocketStream) -> None:
        wire = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_LIMIT)
        try:
            request, body = await _received(wire, stream)
            page = await self._answered(request, body)
        except (Refused, h11.RemoteProtocolError) as error:
            status = error.status if isinstance(error, Refused) else 400
            log.info("request to the login page refused", extra={"status": status, "reason": str(error)})
            await _send(wire, stream, status, f"<!doctype html><title>{status}</title><p>{error}")
            return
        await _send(wire, stream, 200, page.html)
        if page.last:
            self.finished.set()

    async def _answered(self, request: h11.Request, body: bytes) -> Page:
        headers = {name.decode("ascii").lower(): value.decode("latin-1") for name, value in request.headers}
        if headers.get("host") != self._host or request.target.decode("ascii") != self._path:
            raise Refused(404, "Not found.")
        if self.finished.is_set():
            raise Refused(410, "This page has expired.")
        if request.method == b"GET":
            return await self._answer(None)
        if request.method != b"POST":
            raise Refused(405, "Only GET and POST are supported here.")
        if headers.get("origin", "") != f"http://{self._host}" or not headers.get("content-type", "").startswith(
            "application/x-www-form-urlencoded"
        ):
            raise Refused(403, "This form was not sent by its own page.")
        try:
            fields = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=16))
        except ValueError as error:
            raise Refused(400, "The request is no submission of this form.") from error
        if fields.pop(self.TICKET, "") != self.ticket:
            raise Refused(403, "This form was not sent by its own page.")
        return await self._answer(fields)


async def _received(wire: h11.Connection, stream: SocketStream) -> tuple[h11.Request, bytes]:
    """Read a whole request: its head and its body."""
    request: h11.Request | None = None
    body = b""
    while True:
        event = wire.next_event()
        if event is h11.NEED_DATA:
            try:
                wire.receive_data(await stream.receive())
            except anyio.EndOfStream:
                wire.receive_data(b"")
        elif isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > BODY_LIMIT:
                raise Refused(413, "The request is too large.")
        elif isinstance(event, h11.EndOfMessage) and request is not None:
            return request, body
        else:
            raise anyio.BrokenResourceError  # it left without asking for anything


async def _send(wire: h11.Connection, stream: SocketStream, status: int, html: str) -> None:
    body = html.encode("utf-8", "replace")
    headers = [*_HEADERS, ("Content-Length", str(len(body)))]
    response = h11.Response(status_code=status, headers=headers)
    with suppress(h11.LocalProtocolError):  # nothing can be said to what was no HTTP at all
        parts = [wire.send(response), wire.send(h11.Data(data=body)), wire.send(h11.EndOfMessage())]
        await stream.send(b"".join(part for part in parts if part))
