"""A server in the process of the test, with an owner's token, and clients that show tokens of any kind."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import pytest

from claw_acp.gateway.access.scope import Scope
from tests.support.editors.editor_fixtures import home, project
from tests.support.editors.exchange import Json
from tests.support.editors.websocket_client import Closed, WebSocketClient
from tests.support.program.agent_process import TIMEOUT
from tests.support.servers.small_gateway import SmallGateway, open_gateway

__all__ = ["OWNER", "ChatSocket", "Serve", "bearer", "calling", "chatting", "home", "project", "serve", "token_for"]

OWNER = "an-owner-s-token-that-is-long-enough"

Serve: TypeAlias = Callable[..., AbstractAsyncContextManager[SmallGateway]]


@pytest.fixture
def serve(home: Path) -> Serve:
    """`open_gateway` with an owner's token."""
    return partial(open_gateway, home=home / "claw", owner=OWNER)


def token_for(gateway: SmallGateway, *scopes: Scope, name: str = "guest", lifetime: float | None = None) -> str:
    """A new token."""
    return gateway.tokens.add(name, frozenset(scopes), lifetime=lifetime).reveal()


def bearer(token: str) -> dict[str, str]:
    """The header that shows a token."""
    return {"authorization": f"Bearer {token}"}


@asynccontextmanager
async def calling(gateway: SmallGateway, token: str = OWNER) -> AsyncGenerator[Callable[..., Any]]:
    """A function that asks the control interface, and returns the result or the error."""
    async with httpx.AsyncClient(headers=bearer(token), timeout=TIMEOUT, trust_env=False) as client:

        async def ask(method: str, **params: Any) -> Json:
            request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            answer = (await client.post(f"{gateway.base}/rpc", json=request)).json()
            return answer.get("result", answer.get("error"))

        yield ask


class ChatSocket:
    """An open `/ws/chat`."""

    def __init__(self, websocket: WebSocketClient) -> None:
        self.websocket = websocket

    async def send(self, **frame: object) -> None:
        await self.websocket.send(json.dumps(frame))

    async def up_to(self, *kinds: str) -> Json:
        """The next frame of one of these types."""
        while True:
            received = await self.websocket.receive()
            assert not isinstance(received, Closed), received
            frame = json.loads(received)
            if frame["type"] in kinds:
                return frame


@asynccontextmanager
async def chatting(gateway: SmallGateway, token: str = OWNER) -> AsyncGenerator[ChatSocket]:
    """A chat."""
    url = gateway.websocket_url.removesuffix("/acp") + "/ws/chat"
    async with WebSocketClient.connected(url, subprotocols=["acp", f"acp.bearer.{token}"]) as websocket:
        yield ChatSocket(websocket)
