"""Lines and messages: nothing but protocol, and a request for every answer."""

from collections.abc import Iterator, Sequence

from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.frames import Frame, text_of
from claw_acp.verify.monitors.observation import Observation, broken, kept
from claw_acp.verify.rule import must, should

ENVELOPE = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
NULL_ID_CODES = frozenset({-32700, -32600})

# fmt: off
ONLY_PROTOCOL = must("transport.stdout-is-only-protocol",
    source="transports: stdio; TCK ACP-TRANSPORT-001, 002", cases=(27, 31, 51),
    text="Every line on standard output is a message of the protocol: no banner, no log, no stray print, all in UTF-8.")
ONE_LINE = must("transport.one-line-a-message", source="transports: stdio; TCK ACP-TRANSPORT-203", cases=(30,),
    text="A message is written on a single line, and the line is ended by a line feed.")
ANSWER_FIRST = must("initialize.answer-comes-first", source="initialization; ACP Registry", cases=(51,),
    text="The first line that the agent writes is the answer to initialize.")
MESSAGES = must("jsonrpc.messages-well-formed", source="JSON-RPC 2.0 §4, §5; TCK ACP-JSONRPC-002",
    text='Every message is one object with "jsonrpc": "2.0" and exactly one of method, result and error.')
ONE_ANSWER = must("jsonrpc.one-answer", source="JSON-RPC 2.0 §5", cases=(1, 6),
    text="Every request is answered at most once, and nothing is answered that was not asked.")
OWN_IDS = must("jsonrpc.own-ids-unique", source="JSON-RPC 2.0 §4",
    text="A request of the agent's does not carry the id of one that it is still waiting for.")
READABLE = should("jsonrpc.errors-say-why", source="errors; TCK ACP-ERROR-001", cases=(48,),
    text="An error has a message: one line that says what is wrong.")
# fmt: on
RULES = (ONLY_PROTOCOL, ONE_LINE, ANSWER_FIRST, MESSAGES, ONE_ANSWER, OWN_IDS, READABLE)


def watch(agents: Sequence[AgentConnection]) -> Iterator[Observation]:
    """Judge every frame."""
    for agent in agents:
        yield from _first(agent)
        for frame in agent.frames:
            if frame.way == "<-":
                yield from _line(frame)
                if not frame.fault:
                    yield from _message(frame)
        yield from _answers(agent)
        yield from _own_ids(agent)


def _first(agent: AgentConnection) -> Iterator[Observation]:
    """Judge only connections that began with `initialize`: after another request, other answers may come first."""
    heard = next((frame for frame in agent.frames if frame.way == "<-" and not frame.fault), None)
    if (
        heard is not None
        and agent.calls
        and agent.calls[0].frame is agent.frames[0]
        and agent.calls[0].method == "initialize"
    ):
        first = heard.call is agent.calls[0]
        yield kept(ANSWER_FIRST) if first else broken(ANSWER_FIRST, "something else came first", heard)


def _line(frame: Frame) -> Iterator[Observation]:
    if "line feed" in frame.fault:
        yield broken(ONE_LINE, frame.fault, frame)
    elif frame.fault:
        yield broken(ONLY_PROTOCOL, f"a line is no message: {frame.fault}", frame)
    elif frame.pieces > 1:
        yield broken(ONE_LINE, f"a message is spread over {frame.pieces} lines", frame)
    else:
        yield kept(ONLY_PROTOCOL)
        yield kept(ONE_LINE)


def _message(frame: Frame) -> Iterator[Observation]:
    reason = _malformed(frame)
    yield broken(MESSAGES, reason, frame) if reason else kept(MESSAGES)
    if frame.error is not None:
        message = text_of(frame.error, "message").strip()
        reason = "the message has several lines" if "\n" in message else "" if message else "there is no message"
        yield broken(READABLE, reason, frame) if reason else kept(READABLE)


def _malformed(frame: Frame) -> str:
    if not isinstance(frame.message, dict):
        return "the message is no object; there are no batches"
    message = frame.object
    kinds = [key for key in ("method", "result", "error") if key in message]
    if message.get("jsonrpc") != "2.0":
        return '"jsonrpc" is not "2.0"'
    if len(kinds) != 1:
        return f"it has {' and '.join(kinds) or 'none'} of method, result and error"
    if strange := sorted(set(message) - ENVELOPE):
        return f"it has a key that messages do not have: {', '.join(strange)}"
    if kinds == ["method"] and not isinstance(message["method"], str):
        return "its method is no string"
    if kinds != ["method"] and "id" not in message:
        return "it is an answer without an id"
    if "id" in message and not _is_id(frame):
        return "its id is neither a string nor an integer nor null"
    return ""


def _is_id(frame: Frame) -> bool:
    value = frame.object["id"]
    return value is None or (isinstance(value, str | int) and not isinstance(value, bool)) or frame.call is not None


def _answers(agent: AgentConnection) -> Iterator[Observation]:
    allowed = agent.unreadable
    for frame in agent.frames:
        if frame.way == "<-" and frame.is_answer and frame.call is None:
            if frame.object.get("id") is None and frame.code in NULL_ID_CODES and allowed > 0:
                allowed -= 1
                continue
            yield broken(ONE_ANSWER, "it answers no request that was sent", frame)
    for call in agent.calls:
        if len(call.answers) > 1:
            reason = f"{call.method or 'a request'} was answered {len(call.answers)} times"
            yield broken(ONE_ANSWER, reason, call.frame, *call.answers)
        elif call.answers:
            yield kept(ONE_ANSWER)


def _own_ids(agent: AgentConnection) -> Iterator[Observation]:
    waiting: dict[str, Frame] = {}
    for frame in agent.frames:
        name = repr(frame.object.get("id"))
        if frame.way == "<-" and frame.is_request:
            yield broken(OWN_IDS, f"id {name} is in use", waiting[name], frame) if name in waiting else kept(OWN_IDS)
            waiting[name] = frame
        elif frame.way == "->" and frame.is_answer:
            waiting.pop(name, None)
