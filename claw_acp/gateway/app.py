"""The application behind the HTTP server: one endpoint, two ways to use it."""

import logging
from collections.abc import Callable
from typing import Final

from claw_acp.core.clock import Clock
from claw_acp.core.ids import new_id
from claw_acp.core.secret import Secret
from claw_acp.gateway.asgi import Event, Exchange, Head, Receive, Send, raw_headers
from claw_acp.gateway.connections import Connections
from claw_acp.gateway.http_profile import HttpProfile
from claw_acp.gateway.limits import Limits
from claw_acp.gateway.place import METHODS, Place
from claw_acp.gateway.refused import ClientGone, Refused
from claw_acp.gateway.room import Room
from claw_acp.gateway.token_check import check_token
from claw_acp.gateway.websocket_profile import WebSocketProfile

log = logging.getLogger(__name__)

ENDPOINT: Final = "/acp"


class Application:
    """ASGI application.

    Args:
        connections: Where connections are made and found.
        place: Which hosts and origins are right.
        token: What clients must show; None lets all pass.
        limits: Bounds.
        clock: For the ids of incidents.
        vouch: Told where requests come from that were let pass.
    """

    def __init__(
        self,
        connections: Connections,
        *,
        place: Place,
        token: Secret | None,
        limits: Limits,
        clock: Clock,
        vouch: Callable[[object], None],
    ) -> None:
        self._vouch = vouch
        self._place = place
        self._token = token
        self._clock = clock
        self._http = HttpProfile(connections, Room(limits))
        self._websocket = WebSocketProfile(connections, limits)

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """Handle one request, or one WebSocket to its end."""
        if scope["type"] == "lifespan":
            await _live(receive, send)
        elif scope["type"] == "http":
            head = Head.of(scope)
            await self._answer(Exchange(head, receive, send, extra=self._place.answer_headers(head)))
        elif scope["type"] == "websocket":
            await self._connect(Head.of(scope), receive, send)

    # ------------------------------------------------------------------ HTTP

    async def _answer(self, exchange: Exchange) -> None:
        try:
            await self._handle(exchange)
        except Refused as refusal:
            await exchange.refuse(refusal)
        except ClientGone:
            return
        except Exception as error:  # noqa: BLE001 - the request wall: whatever happens, the client gets an answer
            await exchange.refuse(self._incident(error, exchange.head))

    async def _handle(self, exchange: Exchange) -> None:
        head = exchange.head
        self._check(head)
        if head.method == "OPTIONS" and "origin" in head.headers:
            await exchange.answer(204, b"", self._place.preflight_headers())
            return
        check_token(head, self._token)
        self._vouch(head.client)
        handlers = {"POST": self._http.post, "GET": self._http.get, "DELETE": self._http.delete}
        handler = handlers.get(head.method)
        if handler is None:
            raise Refused(405, f"{ENDPOINT} knows {METHODS}", headers={"allow": METHODS})
        if head.headers.get("upgrade", "").lower() == "websocket":
            raise Refused(400, "a WebSocket is opened with GET and `Connection: Upgrade`")
        await handler(exchange)

    # ------------------------------------------------------------------ WebSocket

    async def _connect(self, head: Head, receive: Receive, send: Send) -> None:
        try:
            self._check(head)
            check_token(head, self._token)
            self._vouch(head.client)
            await self._websocket.serve(head, receive, send)
        except Refused as refusal:
            await _refuse_websocket(refusal, send)
        except Exception as error:  # noqa: BLE001 - the same wall; the server library closes with 1011
            self._incident(error, head)

    # ------------------------------------------------------------------ both

    def _check(self, head: Head) -> None:
        self._place.check(head)
        if head.path != ENDPOINT:
            raise Refused(404, f"the one endpoint here is {ENDPOINT}")

    def _incident(self, error: Exception, head: Head) -> Refused:
        incident = new_id("inc", clock=self._clock)
        about = {"method": head.method, "kind": head.kind, "incident": incident}
        log.error("request failed", exc_info=error, extra=about)
        return Refused(500, f"internal error, see log entry {incident}")


async def _refuse_websocket(refusal: Refused, send: Send) -> None:
    body = f"{refusal.reason}\n".encode()
    headers = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body)), **refusal.headers}
    start: Event = {"type": "websocket.http.response.start", "status": refusal.status, "headers": raw_headers(headers)}
    await send(start)
    await send({"type": "websocket.http.response.body", "body": body})


async def _live(receive: Receive, send: Send) -> None:
    """The lifespan of ASGI: nothing to do at the start or the end, which `serve` arranges."""
    while True:
        stage = (await receive())["type"]
        await send({"type": f"{stage}.complete"})
        if stage == "lifespan.shutdown":
            return
