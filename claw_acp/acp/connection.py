"""The connection to one editor: its capabilities, its open sessions, and the routes to the handlers."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeAlias, TypeVar, cast

import anyio
from anyio.abc import TaskGroup

from claw_acp.acp.dialect import DIALECTS
from claw_acp.acp.handshake import (
    PROTOCOL_VERSION,
    ClientCapabilities,
    Handshake,
    agreed_version,
    requested_version,
)
from claw_acp.acp.view import SessionView
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError, SessionNotFound
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.redaction import redact
from claw_acp.registry.reference import Ref
from claw_acp.rpc.dispatcher import BAD_ID, Dispatcher
from claw_acp.rpc.errors import RpcError
from claw_acp.rpc.message import INTERNAL_ERROR, INVALID_REQUEST, is_plain
from claw_acp.rpc.peer import IncomingCall, NotificationHandler, OnFrame, Reply, RequestHandler, Transport
from claw_acp.runtime.engine import Engine
from claw_acp.runtime.engine_host import EngineHost
from claw_acp.runtime.live_session import LiveSession

log = logging.getLogger(__name__)

CLOSE_TIMEOUT = 5.0  # seconds for closing the sessions of a client that is gone; each part of it has a bound of its own

_T = TypeVar("_T")

Handler: TypeAlias = Callable[["Connection", IncomingCall, JsonObject], Awaitable["JsonValue | Reply"]]
Listener: TypeAlias = Callable[["Connection", JsonObject], Awaitable[None]]


class Connection:
    """The agent's side of one ACP connection. `run` serves it; `initialize` settles the protocol version.

    Args:
        transport: Carries the frames.
        host: Holds the engine.
        clock: Time.
        spoken: The protocol versions on offer.
        answered: The handshake, if it was done before.
        on_frame: Called with every frame.
    """

    def __init__(
        self,
        transport: Transport,
        host: EngineHost,
        *,
        clock: Clock,
        spoken: Sequence[int] = (PROTOCOL_VERSION,),
        answered: Handshake | None = None,
        on_frame: OnFrame | None = None,
    ) -> None:
        self.peer = Dispatcher(transport, self, on_frame=on_frame)
        self.clock = clock
        self.client = ClientCapabilities() if answered is None else answered.client
        self._dialect = None if answered is None else DIALECTS[PROTOCOL_VERSION].load()
        self._spoken = spoken
        self._fresh = True  # nothing was asked for but `initialize`
        self._host = host
        self._tasks: TaskGroup | None = None
        self._views: dict[str, SessionView] = {}
        self._parts: dict[type, object] = {}
        self._closing: list[Callable[[], None]] = []

    async def run(self) -> None:
        """Serve until the other side is gone, then release everything that was opened here."""
        try:
            async with anyio.create_task_group() as self._tasks:
                await self.peer.run()
                self._tasks.cancel_scope.cancel()
        finally:
            with anyio.move_on_after(CLOSE_TIMEOUT, shield=True):
                await self.aclose()

    @property
    def tasks(self) -> TaskGroup:
        """For work that outlasts its request; cancelled when the connection ends."""
        assert self._tasks is not None, "the connection is not running"
        return self._tasks

    async def engine(self) -> Engine:
        """The engine; waits for its start.

        Raises:
            StoreError: It cannot start; the next call tries again.
        """
        return await self._host.engine()

    def part(self, kind: type[_T], make: Callable[[], _T]) -> _T:
        """The object of a `kind` that a feature keeps for this connection, created on first use."""
        if kind not in self._parts:
            self._parts[kind] = make()
        return cast("_T", self._parts[kind])

    def on_close(self, callback: Callable[[], None]) -> None:
        """Register a callback for when the client is gone."""
        self._closing.append(callback)

    # ------------------------------------------------------------------ routing

    def request_handler(self, method: str) -> RequestHandler | None:
        """See `Router`. Before `initialize` every other request is refused with -32600."""
        if method == "initialize":
            return self._initialize
        if self._dialect is None:
            return _refuse_early
        self._fresh = False
        handler = self._dialect.requests.get(method)
        return None if handler is None else partial(Ref[Handler](handler).load(), self)

    def notification_handler(self, method: str) -> NotificationHandler | None:
        """See `Router`. Notifications before `initialize` are ignored."""
        listener = None if self._dialect is None else self._dialect.notifications.get(method)
        return None if listener is None else partial(Ref[Listener](listener).load(), self)

    def to_wire(self, error: Exception, method: str) -> RpcError:
        """See `Router`."""
        return to_wire(error, method, clock=self.clock)

    async def _initialize(self, call: IncomingCall, params: JsonObject) -> JsonValue:
        spoken = self._spoken
        if self._dialect is not None:
            if not (self._dialect.repeats and self._fresh):
                raise RpcError(INVALID_REQUEST, "initialize: this connection is already initialized")
            spoken = (self._dialect.version,)
        requested = requested_version(params)
        if self._dialect is not None and requested < self._dialect.version:
            raise RpcError(INVALID_REQUEST, f"initialize: this connection speaks protocol {self._dialect.version}")
        dialect = DIALECTS[agreed_version(requested, spoken=spoken)].load()
        if dialect.plain_ids and not is_plain(call.id):
            call.id = None  # it is not echoed
            raise RpcError(INVALID_REQUEST, BAD_ID)
        handshake = dialect.handshake(params, requested == dialect.version)
        self.client, self._dialect, self.peer.plain_ids = handshake.client, dialect, dialect.plain_ids
        return handshake.result

    # ------------------------------------------------------------------ sessions

    def open(self, live: LiveSession) -> SessionView:
        """Make a session active here; from now on its updates go to the client."""
        session_id = live.session.id
        view = self._views.get(session_id)
        if view is None or view.live is not live:
            self.forget(session_id)
            assert self._dialect is not None
            view = self._views[session_id] = self._dialect.make_view(self.peer, live, self.client)
            view.when_closed = partial(self.forget, session_id)
        return view

    def view(self, session_id: str) -> SessionView:
        """An active session.

        Raises:
            SessionNotFound: It was not opened on this connection, or was closed since.
        """
        view = self._views.get(session_id)
        if view is None or view.live.closed is not None:
            raise SessionNotFound(
                session_id, f"session {session_id} is not open on this connection, or closed since; open it first"
            )
        return view

    def serves(self, method: str) -> bool:
        """Return whether the agreed protocol version has a request of this name."""
        return self._dialect is not None and method in self._dialect.requests

    def has_open(self, session_id: str) -> bool:
        """Return whether a session is active here."""
        return session_id in self._views

    def forget(self, session_id: str) -> bool:
        """Stop sending a session's updates; False when it was not active."""
        view = self._views.pop(session_id, None)
        if view is None:
            return False
        view.detach()
        return True

    @asynccontextmanager
    async def holding(self, session_id: str) -> AsyncGenerator[None]:
        """Hold back live events of a session that is open here while the block runs: a replay comes first."""
        view = self._views.get(session_id)
        if view is None:
            yield
            return
        async with view.holding():
            yield

    async def leave(self, session_id: str) -> None:
        """Cancel a session's work and release it here; it is closed unless other clients have it open, or are to.

        Raises:
            SessionNotFound: It is not open on this connection.
        """
        view = self.view(session_id)
        session = view.live.session
        if view.live.goes_on_without(view):
            self.forget(session_id)
        elif len(session.subscribers) > 1:
            await session.stop()
            self.forget(session_id)
        if view.live.wanted and not self.has_open(session_id):
            return
        await (await self.engine()).sessions.close(session_id)  # nobody else watches, or the others left meanwhile
        self.forget(session_id)

    async def aclose(self) -> None:
        """Release everything after the client is gone: unsubscribe, and close the sessions that nobody else wants."""
        for callback in self._closing:
            callback()
        views = tuple(self._views.items())
        for session_id, _ in views:
            self.forget(session_id)
        unwatched = [
            session_id for session_id, view in views if not (view.live.session.subscribers or view.live.places.awaited)
        ]
        if unwatched:
            engine = await self.engine()
            async with anyio.create_task_group() as tasks:
                for session_id in unwatched:
                    tasks.start_soon(engine.sessions.close, session_id)


async def _refuse_early(call: IncomingCall, _params: JsonObject) -> JsonValue:
    raise RpcError(INVALID_REQUEST, f"{call.method}: send initialize first")


def to_wire(error: BaseException, method: str, *, clock: Clock) -> RpcError:
    """The error to answer with.

    Our own errors keep their code and text. Anything else is an internal error: the client gets an id, the log gets the
    id and the traceback.
    """
    error = _sole_cause(error)
    if isinstance(error, RpcError):
        return error
    if isinstance(error, ClawError):
        return RpcError(error.code, redact(error.message), error.data)
    incident = new_id("inc", clock=clock)
    log.error("request failed", exc_info=error, extra={"method": method, "incident": incident})
    return RpcError(INTERNAL_ERROR, f"Internal error in {method}: see log entry {incident}", {"incident": incident})


def _sole_cause(error: BaseException) -> BaseException:
    """The error inside an exception group, if it is the only one."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return _sole_cause(group.exceptions[0]) if len(group.exceptions) == 1 else group
    return error
