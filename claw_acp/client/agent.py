"""An agent seen from a client: the methods of protocol 1 with typed answers."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

import anyio

from claw_acp.client.handlers import Handlers
from claw_acp.client.served import Dialect, Served
from claw_acp.client.terminals import Terminals
from claw_acp.core.errors import ClawError
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.version import VERSION
from claw_acp.rpc.errors import ConnectionClosed
from claw_acp.rpc.peer import Peer
from claw_acp.schema.base import Wire
from claw_acp.schema.content import ContentBlock, TextContent
from claw_acp.schema.initialize import Implementation, InitializeRequest, InitializeResponse
from claw_acp.schema.invalid import parse
from claw_acp.schema.mcp import McpServer
from claw_acp.schema.prompt import CancelNotification, PromptRequest, PromptResponse
from claw_acp.schema.session_settings import (
    SessionConfigOption,
    SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse,
    SetSessionModeRequest,
    SetSessionModeResponse,
)
from claw_acp.schema.sessions import (
    CloseSessionRequest,
    CloseSessionResponse,
    ListSessionsRequest,
    ListSessionsResponse,
    LoadSessionRequest,
    LoadSessionResponse,
    NewSessionRequest,
    NewSessionResponse,
    ResumeSessionRequest,
    ResumeSessionResponse,
    SessionInfo,
)

PROTOCOL_VERSION = 1
EXIT_WAIT = 2.0  # seconds an agent has to end by itself after its input was closed
ANSWER_TIMEOUT = 60.0  # seconds for anything but a turn, which ends when it ends
PAGES = 1000  # of a session list before it is taken for endless

Obituary = Callable[[], Awaitable[str]]

_W = TypeVar("_W", bound=Wire)


class AgentGone(ClawError):
    """The agent ended, or could not be started; the text holds its last output."""

    code = -31200


class AgentNotStarted(AgentGone):
    """The agent's program could not be started; the text says why."""


class AgentMisbehaved(ClawError):
    """The agent answered with something that the protocol does not allow."""

    code = -31201


class Agent:
    """A connected agent, created by `claw_acp.client.spawn.spawn_agent`.

    Every method raises `RpcError` when the agent answers with an error, `AgentGone` when there will be no answer,
    `AgentMisbehaved` when the answer is malformed, and `TimeoutError` when it takes longer than `ANSWER_TIMEOUT`.
    """

    def __init__(
        self, peer: Peer, served: Served, *, handlers: Handlers, terminals: Terminals, obituary: Obituary
    ) -> None:
        self._peer = peer
        self._served = served
        self._handlers = handlers
        self._obituary = obituary
        self.terminals = terminals
        self.ended = anyio.Event()
        """Set when its output has ended."""
        self.exit_wait = EXIT_WAIT
        """The seconds it has to leave by itself at the end; 0 for one that does not react."""

    async def initialize(self) -> InitializeResponse:
        """Agree on the protocol version; must come first."""
        request = InitializeRequest(
            protocol_version=PROTOCOL_VERSION,
            client_capabilities=self._handlers.capabilities(),
            client_info=Implementation(name="claw-acp-client", version=VERSION),
        )
        return await self._call("initialize", request, InitializeResponse)

    # ------------------------------------------------------------------ sessions

    async def new_session(
        self, cwd: Path, *, mcp_servers: Sequence[McpServer] = (), additional: Sequence[Path] = ()
    ) -> NewSessionResponse:
        """Start a session in the directory `cwd`, and in additional ones, which the agent must support."""
        directories = tuple(map(str, additional))
        request = NewSessionRequest(cwd=str(cwd), mcp_servers=tuple(mcp_servers), additional_directories=directories)
        return await self._call("session/new", request, NewSessionResponse)

    async def load_session(self, session_id: str, *, cwd: Path) -> LoadSessionResponse:
        """Open a stored session; its history arrives as updates before this returns."""
        request = LoadSessionRequest(session_id=session_id, cwd=str(cwd), mcp_servers=())
        return await self._call("session/load", request, LoadSessionResponse)

    async def resume_session(self, session_id: str, *, cwd: Path) -> ResumeSessionResponse:
        """Open a stored session without its history."""
        request = ResumeSessionRequest(session_id=session_id, cwd=str(cwd))
        return await self._call("session/resume", request, ResumeSessionResponse)

    async def list_sessions(self, *, cwd: Path | None = None) -> list[SessionInfo]:
        """All stored sessions, of one directory if given, in the agent's order (newest first)."""
        sessions: list[SessionInfo] = []
        cursor = None
        for _ in range(PAGES):
            request = ListSessionsRequest(cwd=None if cwd is None else str(cwd), cursor=cursor)
            page = await self._call("session/list", request, ListSessionsResponse)
            sessions += page.sessions
            cursor = page.next_cursor
            if cursor is None:
                return sessions
        raise AgentMisbehaved(f"session/list does not come to an end after {PAGES} pages")

    async def close_session(self, session_id: str) -> None:
        """Cancel the work of the session and release it."""
        await self._call("session/close", CloseSessionRequest(session_id=session_id), CloseSessionResponse)

    async def set_mode(self, session_id: str, mode: str) -> None:
        """Change the session's mode."""
        request = SetSessionModeRequest(session_id=session_id, mode_id=mode)
        await self._call("session/set_mode", request, SetSessionModeResponse)

    async def set_config_option(
        self, session_id: str, option: str, *, value: str | bool
    ) -> tuple[SessionConfigOption, ...]:
        """Set an option; returns all options with their values."""
        kind = "boolean" if isinstance(value, bool) else None
        request = SetSessionConfigOptionRequest(session_id=session_id, config_id=option, type=kind, value=value)
        response = await self._call("session/set_config_option", request, SetSessionConfigOptionResponse)
        return response.config_options

    # ------------------------------------------------------------------ turns

    async def prompt(
        self, session_id: str, *blocks: ContentBlock | str, meta: JsonObject | None = None
    ) -> PromptResponse:
        """Run a turn; returns when it has ended and all its updates were handled."""
        content = tuple(TextContent(text=block) if isinstance(block, str) else block for block in blocks)
        request = PromptRequest(session_id=session_id, prompt=content, meta=meta)
        return await self._call("session/prompt", request, PromptResponse, within=None)

    async def cancel(self, session_id: str) -> None:
        """Cancel the session's turn: open questions are dismissed, and the prompt returns with `cancelled`."""
        self._served.dismiss(session_id)
        await self._peer.notify("session/cancel", CancelNotification(session_id=session_id).to_wire())

    async def _call(self, method: str, request: Wire, answer: type[_W], *, within: float | None = ANSWER_TIMEOUT) -> _W:
        result = await self.request(method, request.to_wire(), within=within)
        try:
            return parse(answer, {} if result is None else result, method=method)
        except ClawError as error:
            raise AgentMisbehaved(f"the agent's answer is not one: {error.message}") from error

    async def request(self, method: str, params: JsonObject, *, within: float | None = ANSWER_TIMEOUT) -> JsonValue:
        """The result of a request, once all updates before it were handled."""
        try:
            result = await self._peer.request(method, params, within=within)
        except ConnectionClosed as error:
            raise AgentGone(f"the agent ended before it answered {method}{await self._obituary()}") from error
        await self._served.caught_up()
        return result

    async def gone(self) -> AgentGone:
        """The error about an agent that has ended."""
        return AgentGone(f"the agent ended{await self._obituary()}")

    def speaks(self, dialect: Dialect) -> None:
        """Read what it sends in this way from now on."""
        self._served.dialect = dialect

    async def caught_up(self) -> None:
        """Wait until all updates that arrived so far were handled."""
        await self._served.caught_up()

    @property
    def unheard(self) -> int:
        """The number of its updates that are not handled yet."""
        return self._served.unheard
