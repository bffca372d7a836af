"""ACP over WebSocket: each WebSocket is one connection, whose first message must be `initialize`."""

from typing import Final

import anyio

from claw_acp.gateway.access.client import Client
from claw_acp.gateway.acp.close_code import LATE, CloseReason
from claw_acp.gateway.acp.connections import Connections
from claw_acp.gateway.acp.http_profile import CONNECTION_ID
from claw_acp.gateway.acp.websocket_transport import WebSocketTransport
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.http.token_check import chosen_subprotocol
from claw_acp.gateway.http.websocket import WebSocket
from claw_acp.rpc.message import Malformed, Request, Response, decode, error_line

NOT_INITIALIZE: Final = CloseReason(code=1002, reason="the first message must be initialize")
WITHOUT_ID: Final = CloseReason(code=1002, reason="initialize needs an id")


class WebSocketProfile:
    """Handles the WebSockets of all clients."""

    def __init__(self, connections: Connections, limits: Limits) -> None:
        self._connections = connections
        self._limits = limits

    async def serve(self, websocket: WebSocket, client: Client) -> None:
        """Accept a WebSocket and serve it until it closes, or the client's token ends.

        Raises:
            Refused: 400, 426 or 503, before the WebSocket is accepted.
            ClientGone: The client hung up.
        """
        transport = WebSocketTransport(websocket, limits=self._limits)
        connection_id = self._connections.add(transport)
        started = False
        try:
            await websocket.accept(
                {CONNECTION_ID: connection_id}, subprotocol=chosen_subprotocol(websocket.head.subprotocols)
            )
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(transport.write, name=f"{connection_id} writer")
                if await self._initialized(transport):
                    self._connections.start(connection_id, transport, client)
                    started = True
        finally:
            if not started:
                self._connections.remove(connection_id)

    async def _initialized(self, transport: WebSocketTransport) -> bool:
        """Wait for `initialize`, and put it back to be received next; False when the connection ends without it."""
        with anyio.move_on_after(self._limits.first_message) as time_limit:
            while (frame := await transport.receive()) is not None:
                message = decode(frame)
                if isinstance(message, Malformed):
                    transport.send(error_line(message.id, message.code, message.reason))
                    await transport.drained()
                elif not isinstance(message, Response):
                    if message.method != "initialize":
                        transport.end(NOT_INITIALIZE)
                    elif isinstance(message, Request) and message.id is not None:
                        transport.put_back(frame)
                        return True
                    else:
                        transport.end(WITHOUT_ID)
        if time_limit.cancelled_caught:
            transport.end(LATE)
        return False
