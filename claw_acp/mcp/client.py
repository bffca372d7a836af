"""A running server: the session of the mcp library, the server's offer, and requests to it."""

import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.client import ClientRequestContext, ClientSession, IncomingMessage
from mcp.client._transport import TransportStreams
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.dispatcher import OnNotify, OnNotifyIntercept, OnRequest
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.types import (
    METHOD_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
    CallToolResult,
    DiscoverResult,
    ErrorData,
    GetPromptResult,
    Implementation,
    InputRequiredResult,
    InputResponses,
    ListRootsResult,
    LoggingMessageNotificationParams,
    PromptListChangedNotification,
    ReadResourceResult,
    RequestParamsMeta,
    ResourceListChangedNotification,
    Root,
    RootsListChangedNotification,
    ServerCapabilities,
    ToolListChangedNotification,
    ToolsCapability,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import FileUrl, ValidationError

from claw_acp.contracts.mcp_server import ClientServer, HttpServer, McpServerSpec
from claw_acp.contracts.tool import ToolResult
from claw_acp.core.errors import NoAnswer, ToolError
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ContentPart
from claw_acp.core.value import replace
from claw_acp.core.version import VERSION
from claw_acp.mcp.content import document_parts, prompt_parts, tool_result
from claw_acp.mcp.diagnostics import Diagnostics
from claw_acp.mcp.error_mapping import error_text, invalid, is_closed
from claw_acp.mcp.failure import ServerFailed, SessionForgotten
from claw_acp.mcp.listing import listed_resources, offered
from claw_acp.mcp.server_catalog import NOTHING, OfferedResource, OnProgress, ServerCatalog, ServerConnection
from claw_acp.rpc.message import encode
from claw_acp.telemetry.trace_context import current_trace

LIST_SECONDS = 30.0  # to ask again what a server offers
DEBOUNCE_SECONDS = 0.2  # after a server said that its lists changed: it often says so several times
REST_SECONDS = 1.0  # between two times that lists are asked for, however often they change
LISTEN_AGAIN_SECONDS = 10.0  # until a lost subscription is asked for again
LONGEST_ERROR = 2000  # characters of what a server says of a failure
LONGEST_PROGRESS = 10  # times the bound of a call, in all, however often there was a sign of life
ROUNDS = 5  # times a server may ask for more before it answers

_T = TypeVar("_T")

log = logging.getLogger(__name__)


class _Dispatcher(JSONRPCDispatcher):
    """The library's dispatcher, which also reports when the server disconnected."""

    def __init__(self, streams: TransportStreams, over: anyio.Event) -> None:
        super().__init__(*streams)
        self._over = over

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """See `Dispatcher`."""
        try:
            await super().run(on_request, on_notify, on_notify_intercept, task_status=task_status)
        finally:
            self._over.set()


class ProgressTimeout:
    """A time limit, in seconds, that restarts at each sign of progress."""

    def __init__(self, within: float) -> None:
        self.within = within
        self.scope = anyio.CancelScope()
        self._end = anyio.current_time() + LONGEST_PROGRESS * within
        self.again()

    def again(self) -> None:
        """Restart the limit."""
        self.scope.deadline = min(anyio.current_time() + self.within, self._end)


class Client:
    """See `ServerConnection`. Requests run in tasks of the connection: their callers may leave at any time."""

    def __init__(self, spec: McpServerSpec, *, evidence: Diagnostics, roots: Callable[[], Sequence[Path]]) -> None:
        self.offer = NOTHING
        self._spec = spec
        self._evidence = evidence
        self._roots = roots
        self._lost = anyio.Event()
        self._stale = anyio.Event()
        self._session: ClientSession
        self._tasks: TaskGroup

    @asynccontextmanager
    async def over(self, streams: TransportStreams) -> AsyncGenerator[None]:
        """Use these streams while the block runs."""
        session = ClientSession(
            dispatcher=_Dispatcher(streams, self._lost),
            list_roots_callback=self._list_roots,
            logging_callback=self._log,
            message_handler=self._hear,
            client_info=Implementation(name="claw-acp", title="Claw", version=VERSION),
        )
        async with session as self._session, anyio.create_task_group() as self._tasks:
            try:
                yield
            finally:
                self._lost.set()
                self._tasks.cancel_scope.cancel()

    # ------------------------------------------------------------------ getting to know each other

    async def open(self) -> None:
        """See `ServerConnection`."""
        if isinstance(self._spec, ClientServer):
            await self._discover()
        else:
            await self._initialize()
        self.offer = await self._offered()

    async def _offered(self) -> ServerCatalog:
        offer = await offered(self._session, server=self._spec.name, clean=self._evidence.clean)
        return replace(offer, instructions=self._evidence.redact(self._session.instructions or ""))

    async def _initialize(self) -> None:
        """Run the handshake of present servers; a server that refuses it may be of the kind without one."""
        try:
            await self._session.initialize()
        except MCPError as refusal:
            if refusal.code not in {UNSUPPORTED_PROTOCOL_VERSION, METHOD_NOT_FOUND}:
                raise
            try:
                await self._session.discover()
            except MCPError:
                raise refusal from None

    async def _discover(self) -> None:
        """Query a server inside a client, which has no handshake; without a description tools are assumed."""
        try:
            await self._session.discover()
        except MCPError as refusal:
            if refusal.code != METHOD_NOT_FOUND:
                raise
            can = ServerCapabilities(tools=ToolsCapability())
            versions = list(MODERN_PROTOCOL_VERSIONS)
            self._session.adopt(
                DiscoverResult(supported_versions=versions, capabilities=can, ttl_ms=0, cache_scope="private")
            )

    # ------------------------------------------------------------------ as long as it lasts

    async def attend(self, changed: Callable[[], Awaitable[None]]) -> None:
        """See `ServerConnection`."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep_in_step, changed)
            if self._session.protocol_version in MODERN_PROTOCOL_VERSIONS and self._tells_changes():
                tasks.start_soon(self._listen)
            await self._lost.wait()
            tasks.cancel_scope.cancel()
        raise ServerFailed((self._evidence.ending or "closed the connection") + "." + self._evidence.last_words)

    async def _keep_in_step(self, changed: Callable[[], Awaitable[None]]) -> None:
        while True:
            await self._stale.wait()
            await anyio.sleep(DEBOUNCE_SECONDS)
            self._stale = anyio.Event()
            try:
                offer = await self._ask(self._offered, ProgressTimeout(LIST_SECONDS))
            except ToolError as error:
                log.info("MCP server does not list again", extra={"server": self._spec.name, "reason": error.message})
            else:
                news, self.offer = offer != self.offer, offer
                if news:
                    await changed()
            await anyio.sleep(REST_SECONDS)

    def _tells_changes(self) -> bool:
        can = self._session.server_capabilities
        parts = () if can is None else (can.tools, can.prompts, can.resources)
        return any(part is not None and part.list_changed for part in parts)

    async def _listen(self) -> None:
        """Subscribe to changes, if MCP has no other way to report them."""
        while True:
            try:
                async with listen(
                    self._session, tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
                ) as changes:
                    async for _ in changes:
                        self._stale.set()
            except (MCPError, SubscriptionLost) as error:
                log.debug(
                    "MCP subscription lost",
                    extra={"server": self._spec.name, "reason": self._evidence.clean(str(error))},
                )
            await anyio.sleep(LISTEN_AGAIN_SECONDS)
            self._stale.set()  # whatever was not told meanwhile

    async def _hear(self, message: IncomingMessage) -> None:
        if isinstance(
            message, ToolListChangedNotification | PromptListChangedNotification | ResourceListChangedNotification
        ):
            self._stale.set()

    async def _log(self, params: LoggingMessageNotificationParams) -> None:
        if log.isEnabledFor(logging.DEBUG):
            text = params.data if isinstance(params.data, str) else json.dumps(params.data, default=str)
            about = {"server": self._spec.name, "severity": params.level, "text": self._evidence.clean(text)}
            log.debug("MCP server says", extra=about)

    async def _list_roots(self, context: ClientRequestContext) -> ListRootsResult | ErrorData:  # noqa: ARG002 - all roots, whoever asks
        return ListRootsResult(roots=[Root(uri=FileUrl(path.as_uri()), name=path.name) for path in self._roots()])

    async def roots_changed(self) -> None:
        """See `ServerConnection`. The stateless form of MCP has no such message: its servers ask when needed."""
        if self._session.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            await self._session.send_notification(RootsListChangedNotification())

    # ------------------------------------------------------------------ requests

    async def call(self, tool: str, arguments: JsonObject, *, within: float, on_progress: OnProgress) -> ToolResult:
        """See `ServerConnection`."""
        time_limit = ProgressTimeout(within)
        given = _writable(arguments)

        async def heard(progress: float, total: float | None, message: str | None) -> None:
            time_limit.again()
            share = f"{progress:g}" if total is None else f"{progress:g} of {total:g}"
            await on_progress(self._evidence.clean(f"{share}: {message}" if message else share))

        trace = cast("RequestParamsMeta | None", dict(current_trace()) or None)

        async def once(responses: InputResponses | None, state: str | None) -> CallToolResult | InputRequiredResult:
            return await self._session.call_tool(
                tool, given, None, heard, input_responses=responses, request_state=state, meta=trace,
                allow_input_required=True,
            )  # fmt: skip

        return tool_result(await self._ask(lambda: self._answered(once), time_limit))

    async def prompt(self, name: str, arguments: Mapping[str, str], *, within: float) -> tuple[ContentPart, ...]:
        """See `ServerConnection`."""

        async def once(responses: InputResponses | None, state: str | None) -> GetPromptResult | InputRequiredResult:
            return await self._session.get_prompt(
                name, dict(arguments), input_responses=responses, request_state=state, allow_input_required=True
            )

        return prompt_parts(await self._ask(lambda: self._answered(once), ProgressTimeout(within)))

    async def resources(self, *, within: float) -> Sequence[OfferedResource]:
        """See `ServerConnection`."""
        return await self._ask(lambda: listed_resources(self._session), ProgressTimeout(within))

    async def read(self, uri: str, *, within: float) -> tuple[ContentPart, ...]:
        """See `ServerConnection`."""

        async def once(responses: InputResponses | None, state: str | None) -> ReadResourceResult | InputRequiredResult:
            return await self._session.read_resource(
                uri, input_responses=responses, request_state=state, allow_input_required=True
            )

        return document_parts(await self._ask(lambda: self._answered(once), ProgressTimeout(within)))

    async def _answered(
        self, once: Callable[[InputResponses | None, str | None], Awaitable[_T | InputRequiredResult]]
    ) -> _T:
        """Repeat a request until it is answered. A server of the stateless form may ask for the roots first."""
        responses: InputResponses | None = None
        state: str | None = None
        for _ in range(ROUNDS):
            result = await once(responses, state)
            if not isinstance(result, InputRequiredResult):
                return result
            state, responses = result.request_state, {}
            for key, request in (result.input_requests or {}).items():
                context = ClientRequestContext(session=self._session, request_id=key)
                response = await self._session.dispatch_input_request(context, request)
                if isinstance(response, ErrorData):
                    raise ToolError(f"The MCP server {self._spec.name} needs something else first: {response.message}.")
                responses[key] = response
        raise NoAnswer(f"The MCP server {self._spec.name} wanted more {ROUNDS} times and did not answer.")

    async def _ask(self, work: Callable[[], Awaitable[_T]], time_limit: ProgressTimeout) -> _T:
        """Run it in a task of the connection, which notifies the server when the caller has left."""
        if self._lost.is_set():
            raise ServerFailed("is not connected")
        answers: list[_T] = []
        troubles: list[Exception] = []
        done = anyio.Event()

        async def run() -> None:
            try:
                with time_limit.scope:
                    answers.append(await work())
            except Exception as error:  # noqa: BLE001 - handed to who waits
                troubles.append(error)
            finally:
                done.set()

        self._tasks.start_soon(run)
        try:
            await done.wait()
        finally:
            time_limit.scope.cancel()  # does nothing when it is done
        if answers:
            return answers[0]
        raise self._translated(troubles[0] if troubles else None, time_limit)

    def _short(self, text: str) -> str:
        words = self._evidence.redact(text)
        return words if len(words) <= LONGEST_ERROR else f"{words[:LONGEST_ERROR]}…"

    def _is_forgotten(self) -> bool:
        """Return whether the last request was refused because the server does not know our session: HTTP status 404."""
        stateful = self._session.protocol_version not in MODERN_PROTOCOL_VERSIONS
        return stateful and isinstance(self._spec, HttpServer) and self._evidence.status == HTTPStatus.NOT_FOUND

    def _translated(self, error: Exception | None, time_limit: ProgressTimeout) -> Exception:
        name = self._spec.name
        match error:
            case None if self._lost.is_set():
                return ServerFailed("ended meanwhile")
            case None:
                return NoAnswer(f"The MCP server {name} did not answer within {time_limit.within:g} s.")
            case MCPError() if is_closed(error):
                self._lost.set()
                return ServerFailed("ended meanwhile")
            case MCPError() if self._is_forgotten():
                self._lost.set()
                return SessionForgotten("has forgotten the session")
            case MCPError():
                return ToolError(
                    f"The MCP server {name} answered with an error: {self._short(error_text(error.error))}"
                )
            case ValidationError():
                return ToolError(f"The answer of the MCP server {name} is not valid MCP: {self._short(invalid(error))}")
            case RuntimeError():  # the library's complaint about content that does not fit the tool's own schema
                return ToolError(f"The answer of the MCP server {name} cannot be used: {self._short(str(error))}")
            case _:
                return error


def _writable(arguments: JsonObject) -> dict[str, Any]:
    """Arguments that every transport can write: a model may have put lone surrogates into them."""
    return cast("dict[str, Any]", json.loads(encode(arguments)))


if TYPE_CHECKING:
    _conforms: type[ServerConnection] = Client
