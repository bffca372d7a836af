"""Sessions and turns: the permitted order of messages, judged by all frames of each connection."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from claw_acp.core.json_value import JsonObject
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.frames import Call, Frame, as_object, text_of
from claw_acp.verify.monitors.observation import Observation, broken, kept, observed
from claw_acp.verify.rule import must, should

# fmt: off
AFTER_OPENING = must("session.opened-before-updates", source="session-setup", cases=(10,),
    text="The answer to session/new comes before any update of that session; clients drop earlier ones.")
KNOWN_SESSION = must("updates.of-open-sessions", source="prompt-turn; TCK ACP-PROMPT-002, 205", cases=(15,),
    text="Updates and requests name a session that is open on this connection, or being loaded.")
DISTINCT_SESSIONS = must("session.ids-never-reused", source="session-setup; TCK ACP-SESSION-002",
    text="session/new never gives an id that was given before, by another process of the agent either.")
IN_TURN = must("prompt.updates-before-answer", source="prompt-turn; TCK ACP-CANCEL-002", cases=(9,),
    text="Messages, thoughts, plans and tool calls of a turn come before the answer to its prompt.")
UNIQUE_CALLS = must("tools.unique-ids", source="tool-calls", cases=(50,),
    text="Each tool call of a session is announced once, under an id of its own.")
ANNOUNCED = must("tools.announced-first", source="tool-calls",
    text="A tool call is announced by tool_call before tool_call_update changes it.")
ASKED_AFTER = should("permission.announced-call", source="tool-calls: permission", cases=(7,),
    text="Permission is asked for a tool call that was announced before.")
SETTLED = should("tools.settled-at-the-end", source="tool-calls",
    text="When a turn has ended by itself, each of its tool calls is completed or failed.")
RELEASED = must("terminals.released", source="terminals", cases=(37,),
    text="Every terminal that the agent made is released in the end.")
# fmt: on
RULES = (
    AFTER_OPENING,
    KNOWN_SESSION,
    DISTINCT_SESSIONS,
    IN_TURN,
    UNIQUE_CALLS,
    ANNOUNCED,
    ASKED_AFTER,
    SETTLED,
    RELEASED,
)  # fmt: skip

OF_A_TURN = frozenset(
    {"user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"}
)
FINAL = frozenset({"completed", "failed"})
OPENING = frozenset({"session/load", "session/resume"})


def watch(agents: Sequence[AgentConnection]) -> Iterator[Observation]:
    """Follow every connection, and compare their sessions."""
    given: dict[str, Frame] = {}
    for agent in agents:
        if agent.hello is None or not _keeps_sessions(agent.hello):
            given = {}  # an agent that forgets its sessions with its process may count them from 1 in each
        if agent.protocol == 1:
            yield from _Follower(agent).follow()
        for call in agent.calls:
            for answer in call.answers[:1]:
                session = text_of(answer.result, "sessionId")
                if call.method == "session/new" and session:
                    before = given.setdefault(session, answer)
                    reason = f"{session} was given twice"
                    yield observed(DISTINCT_SESSIONS, reason, before, answer, fine=before is answer)


def _keeps_sessions(hello: Frame) -> bool:
    offered = as_object(hello.result.get("agentCapabilities"))
    stored = as_object(offered.get("sessionCapabilities"))
    return offered.get("loadSession") is True or isinstance(stored.get("resume"), dict)


@dataclass(slots=True)
class _Session:
    is_open: bool = False
    opening: int = 0
    turns: list[Call] = field(default_factory=list[Call])
    prompted: bool = False  # since it was opened: only then can something be late
    tools: dict[str, str] = field(default_factory=dict[str, str])  # id -> status
    of_turn: set[str] = field(default_factory=set[str])
    terminals: dict[str, Frame] = field(default_factory=dict[str, Frame])


class _Follower:
    """Walks through one connection and tracks its sessions."""

    def __init__(self, agent: AgentConnection) -> None:
        self._agent = agent
        self._sessions: dict[str, _Session] = {}
        self._asked: dict[str, Frame] = {}  # the agent's requests by id
        self._to_come = {
            text_of(answer.result, "sessionId")
            for call in agent.calls
            if call.method == "session/new"
            for answer in call.answers[:1]
        }

    def follow(self) -> Iterator[Observation]:
        for frame in self._agent.frames:
            if frame.way == "->":
                yield from self._we_said(frame)
            elif frame.is_answer:
                yield from self._answered(frame)
            else:
                yield from self._called(frame)
        ended = self._agent.ending
        for session in self._sessions.values():
            for made in session.terminals.values():
                if ended is not None and ended.seconds is not None:
                    yield broken(RELEASED, "a terminal was never released", made)

    # ------------------------------------------------------------------ what we said

    def _we_said(self, frame: Frame) -> Iterator[Observation]:
        session = self._sessions.setdefault(text_of(frame.params, "sessionId"), _Session())
        if frame.call is not None and frame.method in OPENING:
            session.opening += 1
            session.tools.clear()  # a load shows them again
        elif frame.call is not None and frame.method == "session/prompt":
            session.turns.append(frame.call)
            session.prompted = True
        elif frame.is_answer:
            yield from self._we_answered(frame)

    def _we_answered(self, frame: Frame) -> Iterator[Observation]:
        asked = self._asked.pop(repr(frame.object.get("id")), None)
        if asked is None:
            return
        session = self._sessions.setdefault(text_of(asked.params, "sessionId"), _Session())
        if asked.method == "terminal/create" and frame.error is None:
            session.terminals[text_of(frame.result, "terminalId")] = asked
        elif asked.method == "terminal/release" and session.terminals.pop(text_of(asked.params, "terminalId"), None):
            yield kept(RELEASED)

    # ------------------------------------------------------------------ what the agent answered

    def _answered(self, frame: Frame) -> Iterator[Observation]:
        call = frame.call
        if call is None or frame is not call.answers[0]:
            return
        session = self._sessions.setdefault(call.session or text_of(frame.result, "sessionId"), _Session())
        if call.method in {*OPENING, "session/new"}:
            session.opening -= call.method in OPENING
            session.is_open = session.is_open or frame.error is None
            session.prompted = session.prompted and bool(session.turns)
        elif call.method == "session/prompt" and call in session.turns:
            session.turns.remove(call)
            yield from self._turn_over(session, frame)
        elif call.method in {"session/close", "session/delete"} and frame.error is None:
            session.is_open = False

    def _turn_over(self, session: _Session, answer: Frame) -> Iterator[Observation]:
        if session.turns or answer.result.get("stopReason") != "end_turn":
            return
        for name in session.of_turn:
            status = session.tools.get(name, "")
            done = status in FINAL
            yield kept(SETTLED) if done else broken(SETTLED, f"tool call {name} was left {status!r}", answer)
        session.of_turn.clear()

    # ------------------------------------------------------------------ what the agent said by itself

    def _called(self, frame: Frame) -> Iterator[Observation]:
        if frame.is_request:
            self._asked[repr(frame.object.get("id"))] = frame
        name = text_of(frame.params, "sessionId")
        if not name:
            return
        session = self._sessions.setdefault(name, _Session())
        if not session.is_open and not session.opening:
            early = name in self._to_come
            rule = AFTER_OPENING if early else KNOWN_SESSION
            what = frame.method.rpartition("/")[2]
            when = "before the answer that opens it" if early else "which is not open"
            yield broken(rule, f"{what} names session {name}, {when}", frame)
            return
        yield kept(KNOWN_SESSION)
        yield kept(AFTER_OPENING)
        if frame.method == "session/request_permission":
            call = text_of(as_object(frame.params.get("toolCall")), "toolCallId")
            known = call in session.tools
            yield kept(ASKED_AFTER) if known else broken(ASKED_AFTER, f"tool call {call} was never announced", frame)
        elif frame.method == "session/update":
            yield from self._update(session, frame.update, frame)

    def _update(self, session: _Session, update: JsonObject, frame: Frame) -> Iterator[Observation]:
        kind = text_of(update, "sessionUpdate")
        if kind in OF_A_TURN and session.prompted and not session.opening:
            late = not session.turns
            yield broken(IN_TURN, f"{kind} came when no turn was running", frame) if late else kept(IN_TURN)
        name = text_of(update, "toolCallId")
        if kind == "tool_call":
            new = name not in session.tools
            yield observed(UNIQUE_CALLS, f"tool call {name} was announced twice", frame, fine=new)
            session.tools[name] = text_of(update, "status") or "pending"
            session.of_turn.add(name)
        elif kind == "tool_call_update":
            known = name in session.tools
            yield kept(ANNOUNCED) if known else broken(ANNOUNCED, f"tool call {name} was never announced", frame)
            session.tools[name] = text_of(update, "status") or session.tools.get(name, "pending")
