"""The route by which programs attach over the network: the attach protocol in text messages of a WebSocket."""

import logging
from functools import partial
from typing import Final

import anyio
from anyio import CapacityLimiter

from claw_acp.contracts.endpoint import LARGEST_FRAME
from claw_acp.core.errors import ClawError
from claw_acp.endpoints.greeting import introduce
from claw_acp.gateway.access.client import Client
from claw_acp.gateway.acp.close_code import OVER, TOKEN_ENDED
from claw_acp.gateway.acp.websocket_transport import WebSocketTransport
from claw_acp.gateway.app import Route
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.http.receive_budget import one_of
from claw_acp.gateway.http.token_check import chosen_subprotocol
from claw_acp.gateway.http.websocket import WebSocket
from claw_acp.gateway.hub.greeting import about_us
from claw_acp.gateway.hub.programs import Programs

log = logging.getLogger(__name__)

PATH: Final = "/attach"


def attach_route(programs: Programs, limits: Limits) -> Route:
    """The route."""
    room = CapacityLimiter(limits.connections)

    async def serve(websocket: WebSocket, client: Client) -> None:
        with one_of(room, "programs are attached; end some"):
            await _serve(websocket, client, programs, limits)

    return Route(scope="attach", websocket=serve)


async def _serve(websocket: WebSocket, client: Client, programs: Programs, limits: Limits) -> None:
    """Serve a program until it leaves, or its token ends."""
    websocket.longest = LARGEST_FRAME
    transport = WebSocketTransport(websocket, limits=limits)
    await websocket.accept({}, subprotocol=chosen_subprotocol(websocket.head.subprotocols))
    about = {"client": client.name, "address": websocket.head.address}
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(transport.write, name="writer")
        try:
            with client.visit(partial(transport.end, TOKEN_ENDED)):
                attached = await introduce(transport, about_us())
                log.info("attached", extra={**about, "role": attached.role})
                await programs.serve(transport, attached)
                log.info("gone", extra=about)
        except ClawError as error:
            log.warning("a program is not served", extra={**about, "reason": error.message})
        finally:
            transport.end(OVER)
