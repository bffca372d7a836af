"""One editor: what it can do, which sessions it has open, and the way to its handlers."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeAlias

from claw_acp.acp.errors import to_wire
from claw_acp.acp.handshake import ClientCapabilities, initialize
from claw_acp.acp.methods import NOTIFICATIONS, REQUESTS
from claw_acp.acp.view import SessionView
from claw_acp.core.clock import Clock
from claw_acp.core.errors import SessionNotFound
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.registry.reference import Ref
from claw_acp.rpc.dispatcher import Dispatcher
from claw_acp.rpc.errors import RpcError
from claw_acp.rpc.message import INVALID_REQUEST
from claw_acp.rpc.peer import IncomingCall, NotificationHandler, OnFrame, Reply, RequestHandler, Transport
from claw_acp.runtime.engine import Engine, OpenSession
from claw_acp.runtime.lifetimes import EngineHouse

log = logging.getLogger(__name__)

Handler: TypeAlias = Callable[["Connection", IncomingCall, JsonObject], Awaitable["JsonValue | Reply"]]
Listener: TypeAlias = Callable[["Connection", JsonObject], Awaitable[None]]


class Connection:
    """The agent's side of one ACP connection (protocol 1)."""

    def __init__(
        self,
        transport: Transport,
        house: EngineHouse,
        *,
        clock: Clock,
        client: ClientCapabilities | None = None,
        on_frame: OnFrame | None = None,
    ) -> None:
        self.peer = Dispatcher(transport, self, on_frame=on_frame)
        self.clock = clock
        self._client = client
        self._house = house
        self._views: dict[str, SessionView] = {}

    @property
    def client(self) -> ClientCapabilities:
        """What the client offers; nothing before `initialize`."""
        return self._client or ClientCapabilities()

    async def engine(self) -> Engine:
        """The engine, once it is up.

        Raises:
            StoreError: It cannot start; the next call tries again.
        """
        return await self._house.engine()

    # ------------------------------------------------------------------ routing

    def request_handler(self, method: str) -> RequestHandler | None:
        """See `Router`. Before `initialize` every other request is refused with -32600."""
        if method == "initialize":
            return self._initialize
        if self._client is None:
            return _refuse_early
        if method not in REQUESTS:
            return None
        return partial(Ref[Handler](REQUESTS[method]).load(), self)

    def notification_handler(self, method: str) -> NotificationHandler | None:
        """See `Router`. Notifications before `initialize` are ignored."""
        if method not in NOTIFICATIONS or self._client is None:
            return None
        return partial(Ref[Listener](NOTIFICATIONS[method]).load(), self)

    def to_wire(self, error: Exception, method: str) -> RpcError:
        """See `Router`."""
        return to_wire(error, method, clock=self.clock)

    async def _initialize(self, _call: IncomingCall, params: JsonObject) -> JsonValue:
        if self._client is not None:
            raise RpcError(INVALID_REQUEST, "initialize: this connection is already initialized")
        handshake = initialize(params)
        self._client = handshake.client
        return handshake.result

    # ------------------------------------------------------------------ sessions

    def open(self, opened: OpenSession) -> SessionView:
        """Make a session active here; its updates go to the client from now on."""
        session_id = opened.session.id
        if session_id not in self._views:
            self._views[session_id] = SessionView(self.peer, opened, client=self.client)
        return self._views[session_id]

    def view(self, session_id: str) -> SessionView:
        """An active session.

        Raises:
            SessionNotFound: It was not opened on this connection, or closed since.
        """
        view = self._views.get(session_id)
        if view is None:
            raise SessionNotFound(
                session_id, f"session {session_id} is not open here; open it with session/load or session/resume"
            )
        return view

    def forget(self, session_id: str) -> bool:
        """Stop sending a session's updates; False when it was not active."""
        view = self._views.pop(session_id, None)
        if view is None:
            return False
        view.detach()
        return True

    async def aclose(self) -> None:
        """The editor is gone: stop watching. Its sessions end with the engine."""
        for session_id in tuple(self._views):
            self.forget(session_id)


async def _refuse_early(call: IncomingCall, _params: JsonObject) -> JsonValue:
    raise RpcError(INVALID_REQUEST, f"{call.method}: send initialize first")
