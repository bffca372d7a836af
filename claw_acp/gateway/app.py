"""The application behind the HTTP server: one endpoint with two transports."""

import logging
from typing import Final

from claw_acp.core.clock import Clock
from claw_acp.core.ids import new_id
from claw_acp.core.secret import Secret
from claw_acp.gateway.acp.connections import Connections
from claw_acp.gateway.acp.http_profile import HttpProfile
from claw_acp.gateway.acp.websocket_profile import WebSocketProfile
from claw_acp.gateway.http.exchange import Exchange, Head
from claw_acp.gateway.http.http_error import ClientGone, HttpError
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.http.origin_policy import METHODS, OriginPolicy
from claw_acp.gateway.http.receive_budget import ReceiveBudget
from claw_acp.gateway.http.token_check import check_token
from claw_acp.gateway.http.websocket import WebSocket

log = logging.getLogger(__name__)

ENDPOINT: Final = "/acp"


class Application:
    """See `Handler`.

    Args:
        connections: The ACP connections.
        place: The hosts and origins that are allowed.
        token: The token that clients must send; None admits everyone.
        limits: Bounds.
        clock: Makes incident ids.
    """

    def __init__(
        self, connections: Connections, *, place: OriginPolicy, token: Secret | None, limits: Limits, clock: Clock
    ) -> None:
        self._place = place
        self._token = token
        self._clock = clock
        self._http = HttpProfile(connections, ReceiveBudget(limits))
        self._websocket = WebSocketProfile(connections, limits)

    # ------------------------------------------------------------------ HTTP

    async def answer(self, exchange: Exchange) -> None:
        """See `Handler`."""
        exchange.extra = self._place.answer_headers(exchange.head)
        try:
            try:
                await self._handle(exchange)
            except HttpError as refusal:
                await exchange.refuse(refusal)
            except ClientGone:
                raise
            except Exception as error:  # noqa: BLE001 - the request wall: whatever happens, the client gets an answer
                await exchange.refuse(self._incident(error, exchange.head))
        except ClientGone:
            return

    async def _handle(self, exchange: Exchange) -> None:
        head = exchange.head
        self._check(head)
        if head.method == "OPTIONS" and "origin" in head.headers:
            await exchange.answer(204, b"", self._place.preflight_headers())
            return
        check_token(head, self._token)
        handlers = {"POST": self._http.post, "GET": self._http.get, "DELETE": self._http.delete}
        handler = handlers.get(head.method)
        if handler is None:
            raise HttpError(405, f"{ENDPOINT} knows {METHODS}", headers={"allow": METHODS})
        if head.headers.get("upgrade", "").lower() == "websocket":
            raise HttpError(400, "a WebSocket is opened with GET and `Connection: Upgrade`, over HTTP/1.1")
        await handler(exchange)

    # ------------------------------------------------------------------ WebSocket

    async def talk(self, websocket: WebSocket) -> None:
        """See `Handler`."""
        head = websocket.head
        try:
            try:
                self._check(head)
                check_token(head, self._token)
                await self._websocket.serve(websocket)
            except HttpError as refusal:
                await websocket.refuse(refusal)
            except ClientGone:
                raise
            except Exception as error:  # noqa: BLE001 - the same wall; the client sees the connection end
                self._incident(error, head)
        except ClientGone:
            return

    # ------------------------------------------------------------------ both

    def _check(self, head: Head) -> None:
        self._place.check(head)
        if head.path != ENDPOINT:
            raise HttpError(404, f"the one endpoint here is {ENDPOINT}")

    def _incident(self, error: Exception, head: Head) -> HttpError:
        incident = new_id("inc", clock=self._clock)
        log.error("request failed", exc_info=error, extra={"method": head.method, "incident": incident})
        return HttpError(500, f"internal error, see log entry {incident}")
