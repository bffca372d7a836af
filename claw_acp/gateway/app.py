"""The application behind the HTTP server: routes, and who may use them."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from claw_acp.core.clock import Clock
from claw_acp.core.ids import new_id
from claw_acp.core.value import Value
from claw_acp.gateway.access.admission import Admission
from claw_acp.gateway.access.client import ANYONE, Client
from claw_acp.gateway.access.refusal_log import RefusalLog
from claw_acp.gateway.access.scope import Scope
from claw_acp.gateway.http.exchange import Exchange, Head
from claw_acp.gateway.http.http_error import ClientGone, HttpError
from claw_acp.gateway.http.origin_policy import OriginPolicy
from claw_acp.gateway.http.websocket import WebSocket

log = logging.getLogger(__name__)

ENDPOINT: Final = "/acp"
"""The path of ACP, over both transports."""

Answer: TypeAlias = Callable[[Exchange, Client], Awaitable[None]]
ServeWebSocket: TypeAlias = Callable[[WebSocket, Client], Awaitable[None]]

_NO_WEBSOCKET: Final = "a WebSocket is opened with GET and `Connection: Upgrade`, over HTTP/1.1"


class Route(Value):
    """The handlers of one path.

    Attributes:
        scope: The scope that a client needs; None: no token either.
        methods: Answer requests, by HTTP method.
        websocket: Serves a WebSocket.
    """

    scope: Scope | None
    methods: Mapping[str, Answer] = MappingProxyType({})
    websocket: ServeWebSocket | None = None


class Application:
    """See `Handler`.

    Args:
        routes: By path.
        origins: Decides about hosts and origins.
        admission: Decides about tokens.
        clock: Time.
    """

    def __init__(
        self, routes: Mapping[str, Route], *, origins: OriginPolicy, admission: Admission, clock: Clock
    ) -> None:
        self._routes = routes
        self._origins = origins
        self._admission = admission
        self._clock = clock
        self._refusals = RefusalLog(clock)

    # ------------------------------------------------------------------ HTTP

    async def answer(self, exchange: Exchange) -> None:
        """See `Handler`."""
        exchange.extra = self._origins.answer_headers(exchange.head)
        try:
            try:
                await self._handle(exchange)
            except HttpError as refusal:
                self._refusals.note(refusal, exchange.head)
                await exchange.refuse(refusal)
            except ClientGone:
                raise
            except Exception as error:  # noqa: BLE001 - the request wall: whatever happens, the client gets an answer
                await exchange.refuse(self._incident(error, exchange.head))
        except ClientGone:
            return

    async def _handle(self, exchange: Exchange) -> None:
        head = exchange.head
        route = self._route(head)
        if head.method == "OPTIONS" and "origin" in head.headers:
            await exchange.answer(204, b"", self._origins.preflight_headers())
            return
        client = self._admit(exchange, route)
        handler = route.methods.get(head.method)
        if handler is None:
            allowed = ", ".join([*route.methods, "OPTIONS"])
            raise HttpError(405, f"{head.path} knows {allowed}", headers={"allow": allowed})
        if head.headers.get("upgrade", "").lower() == "websocket":
            raise HttpError(400, _NO_WEBSOCKET)
        await handler(exchange, client)

    # ------------------------------------------------------------------ WebSocket

    async def serve_websocket(self, websocket: WebSocket) -> None:
        """See `Handler`."""
        head = websocket.head
        try:
            try:
                route = self._route(head)
                client = self._admit(websocket, route)
                await (route.websocket or _no_websocket)(websocket, client)
            except HttpError as refusal:
                self._refusals.note(refusal, head)
                await websocket.refuse(refusal)
            except ClientGone:
                raise
            except Exception as error:  # noqa: BLE001 - the same wall; the client sees the connection end
                self._incident(error, head)
        except ClientGone:
            return

    # ------------------------------------------------------------------ both

    def _route(self, head: Head) -> Route:
        """The route of a request.

        Raises:
            HttpError: 403 for a page of another origin; 404.
        """
        route = self._routes.get(head.path)
        self._origins.check(head, public=route is not None and route.scope is None)
        if route is None:
            raise HttpError(404, f"nothing is served at this path; ACP is at {ENDPOINT}")
        return route

    def _admit(self, visit: Exchange | WebSocket, route: Route) -> Client:
        if route.scope is None:
            return ANYONE
        client = self._admission.admit(visit.head, route.scope)
        visit.on_admitted()
        return client

    def _incident(self, error: Exception, head: Head) -> HttpError:
        incident = new_id("inc", clock=self._clock)
        log.error("request failed", exc_info=error, extra={"method": head.method, "incident": incident})
        return HttpError(500, f"internal error, see log entry {incident}")


async def _no_websocket(websocket: WebSocket, _client: Client) -> None:
    raise HttpError(404, f"there is no WebSocket at {websocket.head.path}")
