"""Routing of messages to streams of server-sent events.

The draft of the transport has one stream for the connection and one for each session. Messages of a session go on its
stream, except those that a client cannot receive there: the response that holds the session's id, and a load or resume
while the session's stream is not open. Then the conversation and the response after it stay together on the
connection's stream, since nothing orders two streams.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias, TypeVar

from claw_acp.core.json_value import JsonValue
from claw_acp.core.value import Value
from claw_acp.rpc.message import Notification, Request, RequestId, Response

Route: TypeAlias = str | None
"""The id of a session; None for the connection."""

REOPENERS: Final = frozenset({"session/load", "session/resume"})
ENDERS: Final = frozenset({"session/close", "session/delete", "session/archive"})
"""Requests after whose success a session sends nothing more on this connection."""

HEADER_REQUIRED: Final = frozenset(
    {"session/prompt", "session/cancel", "session/close", "session/set_mode", "session/set_config_option"}
)
"""Methods that must come with `Acp-Session-Id`. Others may leave it out: the official SDKs do not agree on them."""

_Key = TypeVar("_Key")
_Kept = TypeVar("_Kept")

REMEMBERED = 2048  # requests of one side that are remembered; the oldest is forgotten first


class Asked(Value):
    """A client request without a response yet."""

    method: str
    session: Route
    apart: bool
    """True if it reopens a session whose stream is not open."""


class Routes:
    """The requests in progress on one connection, in both directions."""

    def __init__(self) -> None:
        self._client_asked: dict[tuple[type, RequestId], Asked] = {}
        self._agent_asked: dict[RequestId, Route] = {}
        self._apart: list[str] = []

    def asked(self, request: Request, *, session: Route, streamed: bool) -> None:
        """Record a client request; `streamed` says whether the session's stream is open."""
        apart = request.method in REOPENERS and session is not None and not streamed
        if apart and session is not None:
            self._apart.append(session)
        _remember(self._client_asked, _key(request.id), Asked(method=request.method, session=session, apart=apart))

    def answered(self, response: Response) -> Asked | None:
        """The client request that an agent response belongs to, which is then forgotten."""
        asked = self._client_asked.pop(_key(response.id), None)
        if asked is not None and asked.apart and asked.session is not None:
            self._apart.remove(asked.session)
        return asked

    def for_call(self, call: Request | Notification) -> Route:
        """The route of an agent request or notification."""
        session = session_in(call.params)
        if isinstance(call, Request):
            _remember(self._agent_asked, call.id, session)
        return None if session in self._apart else session

    def expected_from(self, response: Response) -> Route:
        """The session of the agent request that a client response belongs to; None when any will do."""
        return self._agent_asked.get(response.id)

    def settle(self, response: Response) -> None:
        """Forget an agent request after its response was accepted."""
        self._agent_asked.pop(response.id, None)


def _remember(table: dict[_Key, _Kept], key: _Key, value: _Kept) -> None:
    table[key] = value
    if len(table) > REMEMBERED:
        del table[next(iter(table))]


def _key(request_id: RequestId) -> tuple[type, RequestId]:
    return type(request_id), request_id  # 1, 1.0 and true are different ids


def session_in(holder: JsonValue) -> Route:
    """The `sessionId` in params or in a result."""
    session = holder.get("sessionId") if isinstance(holder, Mapping) else None
    return session if isinstance(session, str) else None
