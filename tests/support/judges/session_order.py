"""The rules of protocol 1 about order and permission, checked on one connection.

`SessionOrder` knows the open sessions, their running turns and the client's capabilities, and refuses (`Breach`) what
an agent may not send now.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

Object: TypeAlias = dict[str, Any]

BETWEEN_TURNS = frozenset(
    {
        "available_commands_update",
        "config_option_update",
        "current_mode_update",
        "session_info_update",
        "notice",
        "subagent_update",
    }
)
"""Kinds of updates that belong to no turn."""

METHOD_GATES = {
    "fs/read_text_file": ("fs", "readTextFile"),
    "fs/write_text_file": ("fs", "writeTextFile"),
    "terminal/create": ("terminal",),
    "terminal/output": ("terminal",),
    "terminal/wait_for_exit": ("terminal",),
    "terminal/kill": ("terminal",),
    "terminal/release": ("terminal",),
}
UPDATE_GATES = {
    "notice": ("session", "notices"),
    "compaction_update": ("session", "compaction"),
    "compaction_summary_chunk": ("session", "compaction"),
    "plan_update": ("plan",),
    "plan_removed": ("plan",),
    "subagent_update": ("subagents",),
    "session_message": ("subagents",),
    "session_message_chunk": ("subagents",),
}
SERVED_GATES = {
    "session/load": ("loadSession",),
    "session/list": ("sessionCapabilities", "list"),
    "session/delete": ("sessionCapabilities", "delete"),
    "session/resume": ("sessionCapabilities", "resume"),
    "session/close": ("sessionCapabilities", "close"),
    "session/fork": ("sessionCapabilities", "fork"),
    "session/archive": ("sessionCapabilities", "archive"),
    "session/unarchive": ("sessionCapabilities", "archive"),
    "session/status": ("sessionCapabilities", "status"),
    "session/set_title": ("sessionCapabilities", "title"),
    "logout": ("auth", "logout"),
    "auth/status": ("auth", "status"),
    "auth/status_update": ("auth", "status"),
    "providers/list": ("providers",),
    "providers/set": ("providers",),
    "providers/disable": ("providers",),
    "mcp/message": ("mcpCapabilities", "acp"),
}
"""The capability that the agent must have before it serves a request or makes a call."""
ENDING = ("session/close", "session/archive", "session/delete")
"""Requests that close a session."""


class Breach(AssertionError):
    """The agent did something that the protocol does not allow."""


@dataclass(slots=True, eq=False)
class Asked:
    """A request of the client that waits for its answer."""

    method: object
    params: Object
    early: bool = False  # sent before any `initialize`
    must_be_cancelled: bool = False
    withdrawn: bool = False  # by `$/cancel_request`


@dataclass(slots=True)
class _Session:
    is_open: bool = False
    opening: int = 0  # `session/load` and `session/resume` that wait for their answer
    loads: int = 0  # those of them that replay
    turns: list[Asked] = field(default_factory=list[Asked])
    tools: set[str] = field(default_factory=set[str])
    is_subagent: bool = False

    def stop_opening(self, method: object) -> None:
        """Note that a request was answered; if it opened the session, it no longer does."""
        self.opening -= method in {"session/load", "session/resume"}
        self.loads -= method == "session/load"


@dataclass(slots=True)
class SessionOrder:
    """The state of one connection.

    Attributes:
        late_cancel: Whether a turn may still end by itself when the client cancels it just then. A test that cancels
            without knowing that the turn is held must allow it.
        prompted_by: Whether only this client prompts in its sessions, or others on connections of their own, too.
    """

    late_cancel: Literal["refused", "allowed"] = "refused"
    prompted_by: Literal["us", "anyone"] = "us"
    initialized: bool = False
    asked_to_initialize: bool = False
    _capabilities: Object = field(default_factory=dict[str, Any])
    _offered: Object = field(default_factory=dict[str, Any])
    _sessions: dict[str, _Session] = field(default_factory=dict[str, _Session])

    # -------------------------------------------------------------- the client speaks

    def asked(self, request: Asked) -> None:
        """Handle a request of the client."""
        if request.method == "initialize":
            self.asked_to_initialize = True
        request.early = not self.asked_to_initialize
        name = _text(request.params, "sessionId")
        if request.method in {"session/load", "session/resume"} and name is not None:
            session = self._sessions.setdefault(name, _Session())
            session.opening += 1
            if request.method == "session/load":
                session.loads += 1
                session.tools.clear()
        session = self._sessions.get(name or "")
        if session and (session.is_open or session.opening) and request.method == "session/prompt":
            session.turns.append(request)
        if session and request.method in ENDING:
            for turn in session.turns:
                turn.must_be_cancelled = True

    def cancelled(self, params: Object) -> None:
        """Handle `session/cancel` of the client: the running turn must end with it, those that wait may."""
        session = self._sessions.get(_text(params, "sessionId") or "")
        if session and session.turns:
            session.turns[0].must_be_cancelled = True

    # -------------------------------------------------------------- the agent answers

    def answered(self, request: Asked, result: Object) -> None:
        """Handle a result of the agent, which fits the schema."""
        if request.early:
            raise Breach("a request before `initialize` must be answered with the error -32600")
        on_result: dict[object, Callable[[Asked, Object], None]] = {
            "initialize": self._on_initialized,
            "session/new": self._on_opened,
            "session/fork": self._on_opened,
            "session/load": self._on_opened,
            "session/resume": self._on_opened,
            "session/list": self._on_listed,
            "session/prompt": self._on_turn_ended,
            "session/close": self._on_closed,
            "session/delete": self._on_closed,
            "session/archive": self._on_closed,
            "session/set_config_option": self._on_options,
        }
        if gate := self._not_offered(request.method):
            raise Breach(f"{request.method} was served and `{gate}` is not offered")
        if request.method in on_result:
            on_result[request.method](request, result)

    def failed(self, request: Asked, error: Object) -> None:
        """Handle an error response of the agent."""
        code = error["code"]
        if request.early and code != -32600:
            raise Breach("a request before `initialize` must be answered with the error -32600")
        session = self._sessions.get(_text(request.params, "sessionId") or "")
        if session:
            session.stop_opening(request.method)
        if session and request in session.turns:
            session.turns.remove(request)
            if request.must_be_cancelled and not (request.withdrawn and code == -32800):
                raise Breach("a cancelled prompt must end with the stop reason `cancelled`, not with an error")

    def _on_initialized(self, request: Asked, result: Object) -> None:
        self.initialized = True
        self._capabilities = _object(request.params, "clientCapabilities")
        if request.params.get("protocolVersion", 1) > 1 and "clientCapabilities" not in request.params:
            self._capabilities = {"session": {"configOptions": {"boolean": {}}}, "plan": {}}  # a client of 2
        self._offered = _object(result, "agentCapabilities")
        terminal = self._offers(("auth", "terminal")) or _object(self._capabilities, "_meta").get("terminal-auth")
        if not terminal and any(method.get("type") == "terminal" for method in result.get("authMethods") or ()):
            raise Breach("a login by terminal is offered to a client without `auth.terminal`")

    def _on_opened(self, request: Asked, result: Object) -> None:
        is_new = request.method in {"session/new", "session/fork"}
        name: str = result["sessionId"] if is_new else request.params["sessionId"]
        session = self._sessions.setdefault(name, _Session())
        if is_new and session.is_open:
            raise Breach(f"session id {name} is given twice")
        session.is_open = True
        session.stop_opening(request.method)
        self._on_options(request, result)

    def _on_listed(self, _request: Asked, result: Object) -> None:
        archives = not self._not_offered("session/archive")
        if any(("archived" in session) != archives for session in result["sessions"]):
            raise Breach("`archived` is said of every listed session where `session/archive` is offered, else of none")

    def _on_options(self, _request: Asked, holder: Object) -> None:
        switches = [option for option in holder.get("configOptions") or () if option["type"] == "boolean"]
        if switches and not self._offers(("session", "configOptions", "boolean")):
            raise Breach("a boolean option is shown to a client without `session.configOptions.boolean`")

    def _on_turn_ended(self, request: Asked, result: Object) -> None:
        session = self._sessions.get(_text(request.params, "sessionId") or "")
        if session is None or request not in session.turns:
            raise Breach("a prompt for a session that is not open was answered with a result")
        session.turns.remove(request)
        if request.must_be_cancelled and result["stopReason"] != "cancelled" and self.late_cancel == "refused":
            raise Breach(f"a cancelled prompt must end with the stop reason `cancelled`, not `{result['stopReason']}`")

    def _on_closed(self, request: Asked, _result: Object) -> None:
        session = self._sessions.get(_text(request.params, "sessionId") or "")
        if session:
            session.is_open = False

    # -------------------------------------------------------------- the agent speaks

    def agent_called(self, method: str, params: Object) -> None:
        """Handle a request or notification of the agent, whose parameters fit the schema."""
        if not self.initialized:
            raise Breach(f"{method} was sent before the answer to `initialize`")
        gate = METHOD_GATES.get(method)
        if method == "elicitation/create":
            gate = ("elicitation", params["mode"])
        if gate and not self._offers(gate):
            raise Breach(f"{method} needs the client's capability `{'.'.join(gate)}`")
        if missing := self._not_offered(method):
            raise Breach(f"{method} was sent and `{missing}` is not offered")
        name = _text(params, "sessionId")
        if name is not None:
            self._agent_called_in(name, method, params)

    def _agent_called_in(self, name: str, method: str, params: Object) -> None:
        session = self._sessions.get(name)
        if session is None or not (session.is_open or session.opening):
            raise Breach(f"session {name} is not open: nothing opened it, or the answer that does comes later")
        if method == "session/update":
            self._on_update(session, params["update"])
        elif not session.is_open:
            raise Breach(f"session {name} is still being opened")
        elif method == "session/request_permission" and params["toolCall"]["toolCallId"] not in session.tools:
            raise Breach(f"permission is asked for tool call {params['toolCall']['toolCallId']}, never announced")

    def _on_update(self, session: _Session, update: Object) -> None:
        kind = update["sessionUpdate"]
        gate = UPDATE_GATES.get(kind)
        if gate and not self._offers(gate):
            raise Breach(f"{kind} needs the client's capability `{'.'.join(gate)}`")
        ours = self.prompted_by == "us" and not session.is_subagent
        between_turns = ours and not session.turns and not session.loads
        if kind == "subagent_update":
            child = self._sessions.setdefault(update["sessionId"], _Session())
            child.is_open = child.is_subagent = True
        if between_turns and kind not in BETWEEN_TURNS:
            raise Breach(f"{kind} belongs to a turn, and none runs")
        if kind == "config_option_update":
            self._on_options(Asked(None, {}), update)
        elif kind == "tool_call":
            if update["toolCallId"] in session.tools:
                raise Breach(f"tool call {update['toolCallId']} is announced twice")
            session.tools.add(update["toolCallId"])
        elif kind == "tool_call_update" and update["toolCallId"] not in session.tools:
            raise Breach(f"tool call {update['toolCallId']} is updated and was never announced")
        elif kind == "tool_call_update" and "status" not in update:
            raise Breach("an update of a tool call has no status; some clients take that for completed")

    def _offers(self, path: tuple[str, ...]) -> bool:
        return _has(self._capabilities, path)

    def _not_offered(self, method: object) -> str | None:
        """The capability that the agent lacks for a method, if any."""
        gate = SERVED_GATES.get(method) if isinstance(method, str) else None
        return None if gate is None or _has(self._offered, gate) else ".".join(gate)


def _has(capabilities: Object, path: tuple[str, ...]) -> bool:
    """Return whether a capability exists: `true` if it is a flag, an object if it is a marker."""
    value: object = capabilities
    for part in path:
        value = _object({"": value}, "").get(part)
    return value is True or isinstance(value, dict)


def _text(params: Mapping[str, object], key: str) -> str | None:
    value = params.get(key)
    return value if isinstance(value, str) else None


def _object(params: Mapping[str, object], key: str) -> Object:
    value = params.get(key)
    return cast("Object", value) if isinstance(value, dict) else {}
