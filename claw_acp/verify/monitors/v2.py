"""Protocol 2, judged by all frames: shapes, states, ids, and used features."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.schema.base import Wire
from claw_acp.schema.elicitation import CompleteElicitationNotification, CreateElicitationRequest
from claw_acp.schema.errors import AUTHENTICATION_REQUIRED, Error
from claw_acp.schema.prompt import CancelRequestNotification
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.frames import Frame, as_list, as_object, text_of
from claw_acp.verify.monitors import content, offers
from claw_acp.verify.monitors.observation import Observation, broken, kept, observed
from claw_acp.verify.monitors.order import AFTER_OPENING, KNOWN_SESSION
from claw_acp.verify.rule import must, should
from claw_acp.verify.v2.messages import CALLS, RESULTS

_PAGE = "protocol 2 (draft)"

# fmt: off
RESTS = must("state.rests-only-after-running", source=f"{_PAGE}: states; TCK ACP-STATE-201",
    text="A stop reason ends work that was reported: the state was running or requires_action before.")
AT_WORK = should("state.at-work-while-it-speaks", source=f"{_PAGE}: states", cases=(9,),
    text="Messages, thoughts and tool calls of the agent come while the state is not idle.")
ENUMS = should("schema.own-values-have-an-underscore",
    source=f"{_PAGE}: extensibility; TCK ACP-ENUM-201, 202; ACP-AUTH-206",
    text="A value that an enumeration of the protocol does not have begins with an underscore.")
GONE = must("client.nothing-of-protocol-1", source=f"{_PAGE}; TCK ACP-CLIENTCAP-202",
    text="fs/* and terminal/* are not called: protocol 2 does not have them.")
MARKERS = must("initialize.markers-are-objects", source=f"{_PAGE}: initialization; TCK ACP-INIT-204",
    text="A capability is there as an object, never as true or false.")
TITLED = should("tools.title-at-first", source=f"{_PAGE}: tool calls; TCK ACP-PATCH-208",
    text="The first update of a tool call gives it a title.")
# fmt: on
RULES = (
    MARKERS,
    content.SHAPE,
    content.KEYS,
    content.METHODS,
    content.OPTIONS,
    content.COMMANDS,
    AFTER_OPENING,
    KNOWN_SESSION,
    RESTS,
    AT_WORK,
    ENUMS,
    GONE,
    TITLED,
    offers.ELICITATION,
    offers.TERMINAL_LOGIN,
    offers.HAS_METHODS,
)  # fmt: skip

CLIENT_CALLS: dict[str, type[Wire]] = {
    **CALLS,
    "elicitation/create": CreateElicitationRequest,
    "elicitation/complete": CompleteElicitationNotification,
    "$/cancel_request": CancelRequestNotification,
}
KNOWN: dict[tuple[str, str], frozenset[str]] = {
    ("tool_call_update", "kind"): frozenset(
        {"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"}
    ),
    ("tool_call_update", "status"): frozenset({"pending", "in_progress", "paused", "completed", "failed", "cancelled"}),
    ("state_update", "state"): frozenset({"running", "idle", "requires_action", "unknown"}),
    ("state_update", "stopReason"): frozenset(
        {"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"}
    ),
    ("notice", "severity"): frozenset({"info", "warning", "error"}),
}
UPDATES = frozenset(
    {"user_message_chunk", "user_message", "agent_message_chunk", "agent_message", "agent_thought_chunk",
     "agent_thought", "state_update", "tool_call_content_chunk", "tool_call_update", "terminal_update",
     "terminal_output_chunk", "plan_update", "plan_removed", "available_commands_update", "config_option_update",
     "session_info_update", "usage_update", "notice", "compaction_update", "compaction_summary_chunk",
     "subagent_update", "session_message", "session_message_chunk"}
)  # fmt: skip
SPOKEN = frozenset(
    {"agent_message_chunk", "agent_message", "agent_thought_chunk", "agent_thought", "tool_call_content_chunk"}
)


def watch(agents: Sequence[AgentConnection]) -> Iterator[Observation]:
    """Judge all frames of protocol 2."""
    for agent in agents:
        if agent.protocol == 2:
            yield from _Follower(agent).follow()


@dataclass(slots=True)
class _Session:
    is_open: bool = False
    opening: int = 0
    state: str = "idle"
    told: bool = False  # whether a state was told since it was opened
    tools: set[str] = field(default_factory=set[str])


@dataclass(slots=True)
class _Follower:
    """Walks through one connection and tracks its sessions."""

    agent: AgentConnection
    sessions: dict[str, _Session] = field(default_factory=dict[str, _Session])

    def follow(self) -> Iterator[Observation]:
        """Every observation, in order."""
        for frame in self.agent.frames:
            if frame.way == "->":
                if frame.call is not None and frame.method == "session/resume":
                    self._session(frame).opening += 1
            elif frame.fault:
                continue
            elif frame.is_answer:
                yield from _shape_of_answer(frame)
                yield from self._answered(frame)
            else:
                yield from _shape_of_call(frame)
                yield from self._called(frame)

    def _session(self, frame: Frame) -> _Session:
        name = text_of(frame.params, "sessionId") or (frame.call.session if frame.call else "")
        return self.sessions.setdefault(name or text_of(frame.result, "sessionId"), _Session())

    def _answered(self, frame: Frame) -> Iterator[Observation]:
        method = frame.call.method if frame.call else ""
        if method in {"session/new", "session/resume"}:
            session = self._session(frame)
            session.opening -= method == "session/resume"
            session.is_open = session.is_open or frame.error is None
            yield from _options(as_list(frame.result.get("configOptions")), frame)
            yield from content.judged_commands(frame.result, frame)
        elif method in {"session/close", "session/delete"} and frame.error is None:
            self._session(frame).is_open = False
        if frame is self.agent.hello:
            yield from self._hello(frame)
        if frame.code == AUTHENTICATION_REQUIRED and self.agent.hello is not None:
            ways = as_list(self.agent.hello.result.get("authMethods"))
            yield kept(offers.HAS_METHODS) if ways else broken(offers.HAS_METHODS, "authMethods is empty", frame)

    def _hello(self, frame: Frame) -> Iterator[Observation]:
        odd = list(_flags(frame.result.get("capabilities"), ""))
        yield broken(MARKERS, f"{odd[0]} is true or false", frame) if odd else kept(MARKERS)
        methods = [as_object(method) for method in as_list(frame.result.get("authMethods"))]
        may = offers.offers(self.agent.offered or {}, "auth.terminal")
        for method in methods:
            kind = text_of(method, "type")
            known = kind in {"agent", "terminal"} or kind.startswith("_")
            yield kept(ENUMS) if known else broken(ENUMS, f"a way to log in is of type {kind!r}", frame)
            fine = may or method.get("type") != "terminal"
            yield observed(offers.TERMINAL_LOGIN, "the client does not offer auth.terminal", frame, fine=fine)

    def _called(self, frame: Frame) -> Iterator[Observation]:
        if frame.method.startswith(("fs/", "terminal/")):
            yield broken(GONE, f"{frame.method} was called", frame)
            return
        if frame.method == "elicitation/create":
            path = f"elicitation.{text_of(frame.params, 'mode') or 'form'}"
            fine = offers.offers(self.agent.offered or {}, path)
            yield kept(offers.ELICITATION) if fine else broken(offers.ELICITATION, f"the client lacks {path}", frame)
        name = text_of(frame.params, "sessionId")
        if not name:
            return
        yield kept(GONE)
        session = self._session(frame)
        if not session.is_open and not session.opening:
            later = {text_of(answer.result, "sessionId") for call in self.agent.calls for answer in call.answers}
            rule = AFTER_OPENING if name in later and not session.told else KNOWN_SESSION
            yield broken(rule, f"session {name} is not open", frame)
            return
        yield kept(AFTER_OPENING)
        yield kept(KNOWN_SESSION)
        if frame.method == "session/update":
            yield from self._update(session, frame.update, frame)

    def _update(self, session: _Session, update: JsonObject, frame: Frame) -> Iterator[Observation]:
        kind = text_of(update, "sessionUpdate")
        if kind == "state_update":
            session.told = True
            if update.get("stopReason") and not session.opening:
                idle = session.state == "idle"
                yield broken(RESTS, "the session was idle already", frame) if idle else kept(RESTS)
            session.state = text_of(update, "state")
        elif kind in SPOKEN and session.is_open and not session.opening:
            idle = session.state == "idle"
            yield broken(AT_WORK, f"{kind} came while the session was idle", frame) if idle else kept(AT_WORK)
        if kind == "tool_call_update" and text_of(update, "toolCallId") not in session.tools:
            session.tools.add(text_of(update, "toolCallId"))
            titled = bool(text_of(update, "title"))
            yield kept(TITLED) if titled else broken(TITLED, "a tool call begins without a title", frame)
        yield from _values(kind, update, frame)
        yield from _options(as_list(update.get("configOptions")), frame)
        yield from content.judged_commands(update, frame)


def _flags(value: JsonValue, path: str) -> Iterator[str]:
    """The paths of capabilities that are true or false; `_meta` is free."""
    if isinstance(value, bool):
        yield path
    for key, inner in as_object(value).items():
        if key != "_meta":
            yield from _flags(inner, f"{path}.{key}" if path else key)


def _values(kind: str, update: JsonObject, frame: Frame) -> Iterator[Observation]:
    if kind not in UPDATES and not kind.startswith("_"):
        yield broken(ENUMS, f"{kind} is no kind of update", frame)
    for (owner, key), known in KNOWN.items():
        value = update.get(key)
        if owner == kind and isinstance(value, str):
            fine = value in known or value.startswith("_")
            yield kept(ENUMS) if fine else broken(ENUMS, f"{key} is {value!r}", frame)


def _options(options: list[JsonValue], frame: Frame) -> Iterator[Observation]:
    """The same rule as in protocol 1, where ids have another name."""
    renamed = [{**as_object(option), "id": as_object(option).get("configId")} for option in options]
    if renamed:
        yield from content.judged_options(renamed, frame)


# ------------------------------------------------------------------ shapes


def _shape_of_call(frame: Frame) -> Iterator[Observation]:
    model = CLIENT_CALLS.get(frame.method)
    if model is not None:
        yield kept(content.METHODS)
        yield from content.fits(model, frame.object.get("params"), frame, what=frame.method)
    elif not frame.method.startswith("_"):
        known = frame.method.startswith(("fs/", "terminal/", "mcp/", "auth/"))
        yield kept(content.METHODS) if known else broken(content.METHODS, f"{frame.method} is no such method", frame)


def _shape_of_answer(frame: Frame) -> Iterator[Observation]:
    if frame.error is not None:
        yield from content.fits(Error, frame.object.get("error"), frame, what="error")
    elif frame.call is not None and (model := RESULTS.get(frame.call.method)):
        yield from content.fits(model, frame.object.get("result"), frame, what=f"result of {frame.call.method}")
