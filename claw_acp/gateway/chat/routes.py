"""The routes of chat. What answers is loaded with the first request."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from anyio import CapacityLimiter, to_thread

from claw_acp.gateway.access.client import Client
from claw_acp.gateway.app import Route
from claw_acp.gateway.http.exchange import Exchange
from claw_acp.gateway.http.json_body import JsonBodies
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.http.receive_budget import one_of
from claw_acp.gateway.http.websocket import WebSocket
from claw_acp.registry.reference import Ref
from claw_acp.runtime.engine_host import EngineHost

ANSWER_PROMPT: "Ref[Callable[..., Awaitable[None]]]" = Ref("claw_acp.gateway.chat.one_shot:answer_prompt")
SERVE_CHAT: "Ref[Callable[..., Awaitable[None]]]" = Ref("claw_acp.gateway.chat.websocket:serve_chat")

LONGEST: Final = 4 * 1024 * 1024  # bytes of a prompt
_AT_ONCE: Final = 32  # prompts by HTTP; one more is refused


class ChatRoutes:
    """Answers them for one server.

    Args:
        host: The engine.
        limits: Bounds.
    """

    def __init__(self, host: EngineHost, *, limits: Limits) -> None:
        self._host = host
        self._limits = limits
        self._bodies = JsonBodies(limits, longest=LONGEST)
        self._room = CapacityLimiter(_AT_ONCE)
        self._sockets = CapacityLimiter(limits.connections)

    def routes(self) -> Mapping[str, Route]:
        """The routes by path."""
        return {
            "/api/chat": Route(scope="chat", methods={"POST": self._one_shot}),
            "/ws/chat": Route(scope="chat", websocket=self._conversation),
        }

    async def _one_shot(self, exchange: Exchange, client: Client) -> None:
        content = await self._bodies.content(exchange)
        answer = await to_thread.run_sync(ANSWER_PROMPT.load)
        with one_of(self._room, "prompts are running; try again later"):
            await answer(exchange, content, self._host, client)

    async def _conversation(self, websocket: WebSocket, client: Client) -> None:
        websocket.longest = min(websocket.longest, LONGEST)
        serve = await to_thread.run_sync(SERVE_CHAT.load)
        with one_of(self._sockets, "chats are open; close some"):
            await serve(websocket, self._host, client, self._limits)
