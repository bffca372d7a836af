"""The route of ACP: one path with two transports."""

from collections.abc import Awaitable, Callable

from claw_acp.gateway.access.client import Client
from claw_acp.gateway.acp.connections import Connections
from claw_acp.gateway.acp.http_profile import HttpProfile
from claw_acp.gateway.acp.websocket_profile import WebSocketProfile
from claw_acp.gateway.app import Answer, Route
from claw_acp.gateway.http.exchange import Exchange
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.http.receive_budget import ReceiveBudget


def acp_route(connections: Connections, limits: Limits) -> Route:
    """The route."""
    http, over_websocket = HttpProfile(connections, ReceiveBudget(limits)), WebSocketProfile(connections, limits)

    methods = {"GET": _for_all(http.get), "POST": http.post, "DELETE": _for_all(http.delete)}
    return Route(scope="attach", methods=methods, websocket=over_websocket.serve)


def _for_all(handle: Callable[[Exchange], Awaitable[None]]) -> Answer:
    async def answer(exchange: Exchange, _client: Client) -> None:
        await handle(exchange)

    return answer
