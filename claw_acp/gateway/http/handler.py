"""Protocols between the HTTP server and its application."""

from typing import Protocol

from claw_acp.gateway.http.exchange import Exchange
from claw_acp.gateway.http.websocket import WebSocket


class Handler(Protocol):
    """Handles requests and WebSockets. Neither method raises."""

    async def answer(self, exchange: Exchange) -> None:
        """Handle one request."""
        ...

    async def serve_websocket(self, websocket: WebSocket) -> None:
        """Accept or refuse a WebSocket, and serve it until it closes."""
        ...


class HttpConnection(Protocol):
    """One TCP connection."""

    async def run(self) -> None:
        """Serve the connection until it closes."""
        ...

    def shut_down(self) -> None:
        """Shut down: close now, or after the requests in progress."""
        ...
