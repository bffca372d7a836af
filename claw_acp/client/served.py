"""The methods a client serves to its agent, and the updates it handles."""

import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Final, TypeAlias

import anyio

from claw_acp.client.handlers import Handlers, TerminalHost, absolute, window
from claw_acp.core.errors import ClawError, InvalidRequest
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.errors import RpcError
from claw_acp.rpc.message import INTERNAL_ERROR
from claw_acp.rpc.peer import IncomingCall, NotificationHandler, RequestHandler
from claw_acp.schema.elicitation import CreateElicitationRequest, CreateElicitationResponse
from claw_acp.schema.files import ReadTextFileRequest, WriteTextFileRequest
from claw_acp.schema.invalid import parse
from claw_acp.schema.permission import (
    CancelledPermissionOutcome,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SelectedPermissionOutcome,
)
from claw_acp.schema.terminal import (
    CreateTerminalRequest,
    CreateTerminalResponse,
    KillTerminalRequest,
    ReleaseTerminalRequest,
    TerminalOutputRequest,
    WaitForTerminalExitRequest,
)
from claw_acp.schema.updates import SessionNotification

log = logging.getLogger(__name__)

UPDATES_WAITING = 4096  # full: the next ones wait in their own tasks, in order


class Dialect:
    """Returns the messages of an agent in the form of protocol 1; this one, as they are."""

    def updates(self, params: JsonObject) -> Sequence[JsonObject]:
        """The parameters of the updates that one notification stands for."""
        return (params,)

    def question(self, params: JsonObject) -> JsonObject:
        """The parameters of a permission request."""
        return params


SAME: Final = Dialect()

_Serve: TypeAlias = Callable[[JsonObject], Awaitable[JsonValue]]


class Served:
    """Routes the agent's requests to the handlers (`rpc.peer.Router`)."""

    def __init__(self, handlers: Handlers, *, terminals: TerminalHost) -> None:
        self._handlers = handlers
        self._terminals = terminals
        self._questions: dict[str, set[anyio.CancelScope]] = defaultdict(set)
        self._put, self._updates = anyio.create_memory_object_stream[SessionNotification](UPDATES_WAITING)
        self._arrived = self._heard = 0
        self._progress = anyio.Event()
        self._methods = self._table()
        self.dialect: Dialect = SAME
        """Reads what the agent sends, once the version of the protocol is known."""

    def _table(self) -> dict[str, _Serve]:
        methods: dict[str, _Serve] = {"session/request_permission": self._permission}
        if self._handlers.form is not None:
            methods["elicitation/create"] = self._form
        if self._handlers.files is not None:
            methods |= {"fs/read_text_file": self._read, "fs/write_text_file": self._write}
        if self._handlers.terminals or self._handlers.host is not None:
            methods |= {
                "terminal/create": self._create,
                "terminal/output": self._output,
                "terminal/wait_for_exit": self._wait,
                "terminal/kill": self._kill,
                "terminal/release": self._release,
            }
        return methods

    # ------------------------------------------------------------------ routing

    def request_handler(self, method: str) -> RequestHandler | None:
        """See `Router`."""
        serve = self._methods.get(method)
        if serve is None:
            return None

        async def handle(_call: IncomingCall, params: JsonObject) -> JsonValue:
            return await serve(params)

        return handle

    def notification_handler(self, method: str) -> NotificationHandler | None:
        """See `Router`."""
        return self._update if method == "session/update" else None

    def to_wire(self, error: Exception, method: str) -> RpcError:
        """See `Router`."""
        if isinstance(error, RpcError):
            return error
        if isinstance(error, ClawError):
            return RpcError(error.code, error.message, error.data)
        log.error("request failed", exc_info=error, extra={"method": method})
        return RpcError(INTERNAL_ERROR, f"the client failed to serve {method}")

    # ------------------------------------------------------------------ updates

    async def _update(self, params: JsonObject) -> None:
        for update in self.dialect.updates(params):
            self._arrived += 1
            try:
                notification = parse(SessionNotification, update, method="session/update")
            except ClawError as error:  # a newer agent may know updates that we do not
                log.warning("update ignored", extra={"reason": error.message})
                self._one_heard()
                continue
            await self._put.send(notification)

    async def hear(self) -> None:
        """Pass updates to the handler, one at a time; runs as long as the connection lives."""
        async for notification in self._updates:
            await self._handlers.update(notification.session_id, notification.update)
            self._one_heard()

    @property
    def unheard(self) -> int:
        """The number of updates that have arrived and are not handled yet."""
        return self._arrived - self._heard

    async def caught_up(self) -> None:
        """Wait until every update that has arrived was handled."""
        until = self._arrived
        while self._heard < until:
            self._progress = anyio.Event()
            await self._progress.wait()

    def close(self) -> None:
        """Stop handling updates."""
        self._put.close()
        self._updates.close()

    def _one_heard(self) -> None:
        self._heard += 1
        self._progress.set()

    # ------------------------------------------------------------------ questions

    async def _permission(self, params: JsonObject) -> JsonValue:
        asked = self.dialect.question(params)
        request = parse(RequestPermissionRequest, asked, method="session/request_permission")
        await self.caught_up()  # the call in question was announced by an update
        chosen = None
        with self._question(request.session_id):
            chosen = await self._handlers.permission(request)
        outcome = (
            CancelledPermissionOutcome() if chosen is None else SelectedPermissionOutcome(option_id=chosen.option_id)
        )
        return RequestPermissionResponse(outcome=outcome).to_wire()

    async def _form(self, params: JsonObject) -> JsonValue:
        request = parse(CreateElicitationRequest, params, method="elicitation/create")
        assert self._handlers.form is not None
        if request.mode != "form":
            raise InvalidRequest(f"elicitation/create: the mode {request.mode} was not advertised")
        await self.caught_up()
        answer = CreateElicitationResponse(action="cancel")
        with self._question(request.session_id or ""):
            answer = await self._handlers.form(request)
        return answer.to_wire()

    @contextmanager
    def _question(self, session_id: str) -> Generator[None]:
        """Let `dismiss` end the block early, to dismiss the question inside."""
        with anyio.CancelScope() as scope:
            self._questions[session_id].add(scope)
            try:
                yield
            finally:
                self._questions[session_id].discard(scope)

    def dismiss(self, session_id: str) -> None:
        """Answer the open questions of a session with `cancelled` or `cancel`, as a cancelling client must."""
        for scope in self._questions.pop(session_id, ()):
            scope.cancel()

    # ------------------------------------------------------------------ files

    async def _read(self, params: JsonObject) -> JsonValue:
        request = parse(ReadTextFileRequest, params, method="fs/read_text_file")
        assert self._handlers.files is not None
        text = await self._handlers.files.read(absolute(request.path))
        return {"content": window(text, line=request.line, limit=request.limit)}

    async def _write(self, params: JsonObject) -> JsonValue:
        request = parse(WriteTextFileRequest, params, method="fs/write_text_file")
        assert self._handlers.files is not None
        await self._handlers.files.write(absolute(request.path), request.content)
        return {}

    # ------------------------------------------------------------------ terminals

    async def _create(self, params: JsonObject) -> JsonValue:
        request = parse(CreateTerminalRequest, params, method="terminal/create")
        return CreateTerminalResponse(terminal_id=await self._terminals.create(request)).to_wire()

    async def _output(self, params: JsonObject) -> JsonValue:
        request = parse(TerminalOutputRequest, params, method="terminal/output")
        return (await self._terminals.output(request.terminal_id)).to_wire()

    async def _wait(self, params: JsonObject) -> JsonValue:
        request = parse(WaitForTerminalExitRequest, params, method="terminal/wait_for_exit")
        return (await self._terminals.wait(request.terminal_id)).to_wire()

    async def _kill(self, params: JsonObject) -> JsonValue:
        await self._terminals.kill(parse(KillTerminalRequest, params, method="terminal/kill").terminal_id)
        return {}

    async def _release(self, params: JsonObject) -> JsonValue:
        await self._terminals.release(parse(ReleaseTerminalRequest, params, method="terminal/release").terminal_id)
        return {}
