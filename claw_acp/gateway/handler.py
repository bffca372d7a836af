"""What the HTTP server asks of whoever answers."""

from typing import Protocol

from claw_acp.gateway.exchange import Exchange
from claw_acp.gateway.websocket import WebSocket


class Handler(Protocol):
    """Answers requests and talks on WebSockets. Neither method raises."""

    async def answer(self, exchange: Exchange) -> None:
        """Answer one request."""
        ...

    async def talk(self, websocket: WebSocket) -> None:
        """Accept or refuse a WebSocket, and stay with it to its end."""
        ...


class Guest(Protocol):
    """One TCP connection."""

    async def run(self) -> None:
        """Serve it to its end."""
        ...

    def wrap_up(self) -> None:
        """The server ends: leave now, or after what is going on."""
        ...
