"""The route of ACP: one path with two transports."""

from collections.abc import Awaitable, Callable

from claw_acp.gateway.access.admission import Client
from claw_acp.gateway.acp.connections import Connections
from claw_acp.gateway.acp.http_profile import HttpProfile
from claw_acp.gateway.acp.websocket_profile import WebSocketProfile
from claw_acp.gateway.app import Answer, Route
from claw_acp.gateway.http.exchange import Exchange
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.http.receive_budget import ReceiveBudget
from claw_acp.gateway.http.websocket import WebSocket


def acp_route(connections: Connections, limits: Limits) -> Route:
    """The route."""
    http, over_websocket = HttpProfile(connections, ReceiveBudget(limits)), WebSocketProfile(connections, limits)

    async def talk(websocket: WebSocket, _client: Client) -> None:
        await over_websocket.serve(websocket)

    methods = {"GET": _for_all(http.get), "POST": _for_all(http.post), "DELETE": _for_all(http.delete)}
    return Route(scope="attach", methods=methods, websocket=talk)


def _for_all(handle: Callable[[Exchange], Awaitable[None]]) -> Answer:
    async def answer(exchange: Exchange, _client: Client) -> None:
        await handle(exchange)

    return answer
