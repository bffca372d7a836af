"""The rules of protocol 2 about order, states and references, checked on one connection.

Some are stricter than the draft: a session's first update comes after the answer that opens it, work begins with
`running` and ends with a reason, a prompt's message is shown before its answer. They are our own promises.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, cast

from tests.support.judges.item_order import Items
from tests.support.judges.session_order import Asked, Breach

Object: TypeAlias = dict[str, Any]

MESSAGES: Final = {
    "user_message": "user",
    "user_message_chunk": "user",
    "agent_message": "agent",
    "agent_message_chunk": "agent",
    "agent_thought": "thought",
    "agent_thought_chunk": "thought",
}
FOREGROUND: Final = frozenset({*MESSAGES, "plan_update", "compaction_update", "compaction_summary_chunk"})
"""Kinds of updates that belong to work in the foreground, besides those of tool calls and terminals."""
UNSTABLE: Final = frozenset({"plan_removed", "subagent_update", "session_message", "session_message_chunk"})
"""Kinds that only the unstable schema has, and that we do not send."""


@dataclass(slots=True)
class _Session:
    is_open: bool = False
    closed: bool = False
    resumes: list[Asked] = field(default_factory=list[Asked])  # that wait for their answer
    told: bool = False  # a state, since the last history of a resume
    state: str = "idle"
    must_cancel: bool = False
    inserted: set[str] = field(default_factory=set[str])  # user messages
    answered: set[str] = field(default_factory=set[str])  # those that answered a prompt
    items: Items = field(default_factory=Items)

    @property
    def replays(self) -> bool:
        return any(request.params.get("replayFrom") for request in self.resumes)


@dataclass(slots=True)
class StateOrder:
    """The state of one connection; the counterpart of `SessionOrder`."""

    late_cancel: Literal["refused", "allowed"] = "refused"
    initialized: bool = False
    asked_to_initialize: bool = False
    _capabilities: Object = field(default_factory=dict[str, Any])
    _sessions: dict[str, _Session] = field(default_factory=dict[str, _Session])

    # -------------------------------------------------------------- the client speaks

    def asked(self, request: Asked) -> None:
        """Handle a request of the client."""
        self.asked_to_initialize = self.asked_to_initialize or request.method == "initialize"
        request.early = not self.asked_to_initialize
        name = request.params.get("sessionId")
        if request.method == "session/resume" and isinstance(name, str):
            session = self._sessions.setdefault(name, _Session())
            session.resumes.append(request)
            session.told = False
        session = self._sessions.get(name) if isinstance(name, str) else None
        if session and request.method in {"session/close", "session/delete"}:
            session.must_cancel = session.state != "idle"

    def cancelled(self, params: Object) -> None:
        """Handle `session/cancel` of the client: the running work must end with it."""
        session = self._sessions.get(str(params.get("sessionId")))
        if session and session.state != "idle":
            session.must_cancel = True

    # -------------------------------------------------------------- the agent answers

    def answered(self, request: Asked, result: Object) -> None:
        """Handle a result of the agent, which fits the schema."""
        if request.early:
            raise Breach("a request before `initialize` must be answered with the error -32600")
        on_result: dict[object, Callable[[Asked, Object], None]] = {
            "initialize": self._on_initialized,
            "session/new": self._on_opened,
            "session/fork": self._on_opened,
            "session/resume": self._on_resumed,
            "session/prompt": self._on_inserted,
            "session/close": self._on_closed,
            "session/delete": self._on_closed,
            "session/archive": self._on_closed,
        }
        if request.method in on_result:
            on_result[request.method](request, result)
        _check_options(result)
        _check_commands(result)

    def failed(self, request: Asked, error: Object) -> None:
        """Handle an error response of the agent."""
        if request.early and error["code"] != -32600:
            raise Breach("a request before `initialize` must be answered with the error -32600")
        session = self._sessions.get(str(request.params.get("sessionId")))
        if session and request in session.resumes:
            session.resumes.remove(request)

    def _on_initialized(self, request: Asked, result: Object) -> None:
        self.initialized = True
        known = request.params.get("capabilities")
        self._capabilities = known if isinstance(known, dict) else {}
        methods: Sequence[Object] = result.get("authMethods") or ()
        if any(method["type"] == "terminal" for method in methods) and not self._offers("auth", "terminal"):
            raise Breach("a login by terminal is offered to a client without `auth.terminal`")
        for method in methods:
            names = [variable["name"] for variable in method.get("env") or ()]
            if len(set(names)) != len(names):
                raise Breach("the variables of a login by terminal are not unique")

    def _on_opened(self, _request: Asked, result: Object) -> None:
        session = self._sessions.setdefault(result["sessionId"], _Session())
        if session.is_open or session.closed:
            raise Breach(f"session id {result['sessionId']} is given twice")
        session.is_open = True

    def _on_resumed(self, request: Asked, _result: Object) -> None:
        session = self._sessions[request.params["sessionId"]]
        session.resumes.remove(request)
        if not session.told:
            raise Breach("a resume is answered without a state after the replay")
        session.is_open, session.closed = True, False

    def _on_inserted(self, request: Asked, result: Object) -> None:
        session = self._sessions.get(request.params["sessionId"])
        if session is None or not session.is_open:
            raise Breach("a prompt for a session that is not open was answered with a result")
        message = result["messageId"]
        if message not in session.inserted:
            raise Breach(f"a prompt is answered with message {message}, which was not shown")
        if message in session.answered:
            raise Breach(f"two prompts are answered with message {message}")
        session.answered.add(message)

    def _on_closed(self, request: Asked, _result: Object) -> None:
        session = self._sessions.get(request.params["sessionId"])
        if session is None:
            return
        if session.is_open and session.state != "idle":
            raise Breach("a session is closed whose end of work was not reported")
        session.is_open, session.closed, session.must_cancel = False, True, False

    # -------------------------------------------------------------- the agent speaks

    def agent_called(self, method: str, params: Object) -> None:
        """Handle a request or notification of the agent, whose parameters fit the schema."""
        if not self.initialized:
            raise Breach(f"{method} was sent before the answer to `initialize`")
        if method == "elicitation/create" and not self._offers("elicitation", params["mode"]):
            raise Breach(f"{method} needs the client's capability `elicitation.{params['mode']}`")
        name = params.get("sessionId")
        if not isinstance(name, str):
            return
        session = self._sessions.get(name)
        if session is None or not (session.is_open or session.resumes):
            raise Breach(f"session {name} is not open")
        if method == "session/update":
            self._on_update(session, params["update"])
        elif method == "session/request_permission":
            _check_permission(session, params)

    def _on_update(self, session: _Session, update: Object) -> None:
        kind: str = update["sessionUpdate"]
        if kind in UNSTABLE:
            raise Breach(f"{kind} is not part of the stable schema")
        if kind == "state_update":
            self._on_state(session, update)
            return
        self._check_place(session, kind, update)
        if kind in MESSAGES:
            session.told = False
            if MESSAGES[kind] == "user":
                session.inserted.add(update["messageId"])
        elif kind in {"available_commands_update", "config_option_update"}:
            _check_commands(update)
            _check_options(update)
        else:
            session.items.change(kind, update, again=session.replays)

    def _check_place(self, session: _Session, kind: str, update: Object) -> None:
        """Check that work is between `running` and `idle`; replays and background programs may report at any time."""
        if kind == "notice" and session.replays:
            raise Breach("a notice is replayed")
        if session.replays or session.state != "idle":
            return
        of_terminal = kind in {"terminal_update", "terminal_output_chunk"}
        known = of_terminal and (
            update["terminalId"] in session.items.background or (session.resumes and kind == "terminal_update")
        )
        if (kind in FOREGROUND or kind.startswith("tool_call") or of_terminal) and not known:
            raise Breach(f"{kind} belongs to work, and the session is idle")

    def _on_state(self, session: _Session, update: Object) -> None:
        session.told = True
        session.items.list_background(update.get("background"))
        state, before = update["state"], session.state
        session.state = state
        if state != "idle" or session.resumes:
            return
        reason = update.get("stopReason")
        if before == "idle":
            return  # the same again, with other background work
        if reason is None:
            raise Breach("work ends without a reason")
        if session.must_cancel and reason != "cancelled" and self.late_cancel == "refused":
            raise Breach(f"cancelled work must end with the reason `cancelled`, not `{reason}`")
        if reason == "error" and not update.get("error", {}).get("message"):
            raise Breach("work fails without saying why")
        session.must_cancel = False

    def _offers(self, *path: str) -> bool:
        place = self._capabilities
        for part in path:
            inner = place.get(part)
            if not isinstance(inner, dict):
                return False
            place = cast("Object", inner)
        return True


def _check_permission(session: _Session, params: Object) -> None:
    ids = [option["optionId"] for option in params["options"]]
    if len(set(ids)) != len(ids):
        raise Breach("the options of a permission are not unique")
    if session.state == "idle":
        raise Breach("permission is asked for work, and the session is idle")
    subject: Object = params.get("subject") or {}
    call = subject.get("toolCallId") or subject.get("toolCall", {}).get("toolCallId")
    if call not in session.items.calls:
        raise Breach(f"permission is asked for tool call {call}, never announced")


def _check_options(holder: Mapping[str, Any]) -> None:
    options: Sequence[Object] = holder.get("configOptions") or ()
    ids = [option["configId"] for option in options]
    if len(set(ids)) != len(ids):
        raise Breach("the ids of options are not unique")
    for option in options:
        values = [value["value"] for value in option.get("options", ())]
        if option["type"] == "select" and (option["currentValue"] not in values or len(set(values)) != len(values)):
            raise Breach(f"the values of option {option['configId']} are not unique, or lack the current one")


def _check_commands(holder: Mapping[str, Any]) -> None:
    names = [command["name"] for command in holder.get("availableCommands") or ()]
    if len(set(names)) != len(names) or any(name.split() != [name] for name in names):
        raise Breach("the names of commands are not unique, or have white space")
