"""Checks for protocol 2 only: messages with ids, states, replay on resume, finer cancellation."""

import anyio

from claw_acp.core.json_value import JsonObject
from claw_acp.rpc.message import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.answers import exchange, must_fail, must_succeed
from claw_acp.verify.check import advice, checks_in, must, should
from claw_acp.verify.check_run import MARKER, QUIET, CheckRun, late, updates
from claw_acp.verify.frames import Call, Frame, text_of
from claw_acp.verify.needs import greeted, session, slow, tool, turn
from claw_acp.verify.rule import Failed

_PAGE = "protocol 2 (draft)"
UNSUPPORTED_VERSION = -32022
STOP_REASONS = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error")
WITHDRAWAL_TIMEOUT = 5.0  # seconds for a question to be withdrawn after its turn was cancelled


def _kind(frame: Frame) -> str:
    """The kind of an update; a state by name."""
    return text_of(frame.update, "state") or frame.kind


# ------------------------------------------------------------------ initialize and ids


@should("initialize.info-required", greeted, source=f"{_PAGE}: initialization; errors")
async def info_required(attempt: CheckRun) -> None:
    """A request for version 2 without `info` is refused with error -32602, and can be sent again."""
    async with attempt.bare() as agent:
        must_fail(await agent.ask("initialize", {"protocolVersion": 2}), "initialize without info", [INVALID_PARAMS])
        must_succeed(await agent.ask("initialize", attempt.hello(capabilities={})), "initialize after a refused one")


@should("jsonrpc.no-null-ids", greeted, source=f"{_PAGE}: envelope", cases=(20,))
async def null_ids(attempt: CheckRun) -> None:
    """A request whose id is null or a fraction is refused with error -32600 and a null id."""
    async with attempt.agent() as agent:
        for request_id in (None, 1.5):
            begin = len(agent.frames)
            agent.unreadable += 1
            call = agent.call("session/new", attempt.opening(), id=request_id)
            came = await attempt.heard(agent, begin=begin, shown=[call.frame])
            refused = [frame for frame in came if frame.code == INVALID_REQUEST]
            if not refused or any(frame.result for frame in came):
                raise Failed(f"the id {request_id!r} was accepted", [call.frame, *came])


@should("methods.of-protocol-1-gone", session, source=_PAGE)
async def gone(attempt: CheckRun) -> None:
    """Methods that protocol 2 removed (session/load, session/set_mode, authenticate) are answered with error -32601."""
    async with attempt.in_session() as (agent, opened):
        where = attempt.opening(sessionId=opened)
        for method, params in (
            ("session/load", where),
            ("session/set_mode", {"sessionId": opened, "modeId": "x"}),
            ("authenticate", {"methodId": "x"}),
        ):
            must_fail(await agent.ask(method, params), method, [METHOD_NOT_FOUND])


@should("initialize.version-1", greeted, source=f"{_PAGE}: initialization; TCK ACP-INIT-202", cases=(16,))
async def version_1(attempt: CheckRun) -> None:
    """A request for version 1 is answered with a version that is spoken, or with error -32022."""
    async with attempt.bare() as agent:
        answer = await agent.ask("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        if answer.error is None and answer.result.get("protocolVersion") not in {1, 2}:
            raise Failed(f"the version is {answer.result.get('protocolVersion')!r}", exchange(answer))
        if answer.error is not None:
            must_fail(answer, "initialize for version 1", [UNSUPPORTED_VERSION])


@must("session.servers-optional", session, source=f"{_PAGE}: session/new; TCK ACP-SESSION-203")
async def servers_optional(attempt: CheckRun) -> None:
    """McpServers may be left out of session/new."""
    async with attempt.agent() as agent:
        must_succeed(
            await agent.ask("session/new", {"cwd": str(attempt.options.cwd)}), "session/new without mcpServers"
        )


# ------------------------------------------------------------------ prompts and states


@must("prompt.message-ids-unique", turn, source=f"{_PAGE}: prompt; TCK ACP-PATCH-203")
async def message_ids_unique(attempt: CheckRun) -> None:
    """Each prompt becomes a message with an id of its own."""
    async with attempt.in_session() as (agent, opened):
        calls: list[Call] = []
        for _ in range(2):
            calls.append(attempt.prompt(agent, opened))
            must_succeed(await attempt.ended(agent, calls[-1]), "session/prompt")
        names = [text_of(call.answers[0].result, "messageId") for call in calls]
        if len(set(names)) < len(names):
            raise Failed(f"two prompts have the id {names[0]}", [call.answers[0] for call in calls])


@must("prompt.answered-with-its-message", session, source=f"{_PAGE}: prompt; TCK ACP-PROMPT-201, 203")
async def answered_with_message(attempt: CheckRun) -> None:
    """session/prompt is answered with the id of the message, and the message is shown under that id."""
    async with attempt.in_session() as (agent, opened):
        begin = len(agent.frames)
        call = attempt.prompt(agent, opened)
        answer = await agent.answered(call)
        must_succeed(answer, "session/prompt")
        name = text_of(answer.result, "messageId")
        if not name:
            raise Failed("there is no messageId in the result", exchange(answer))
        await attempt.ended(agent, call)
        shown = [frame for frame in updates(agent, opened, since=begin) if frame.update.get("messageId") == name]
        if not any(kind.startswith("user_message") for kind in map(_kind, shown)):
            raise Failed(f"no user message has the id {name}", exchange(answer))


@must("state.runs-then-rests", session, source=f"{_PAGE}: states; TCK ACP-STATE-201, 202, 203")
async def runs_then_rests(attempt: CheckRun) -> None:
    """A turn begins with the state running and ends with the state idle and a stop reason."""
    async with attempt.in_session() as (agent, opened):
        begin = len(agent.frames)
        end = await attempt.ended(agent, attempt.prompt(agent, opened))
        must_succeed(end, "session/prompt")
        reason = attempt.dialect.reason(end)
        if reason not in STOP_REASONS and not reason.startswith("_"):
            raise Failed(f"the stop reason is {reason!r}", [end])
        said = updates(agent, opened, since=begin)
        if "running" not in map(_kind, said[: said.index(end)]):
            raise Failed("the state was never running before it was idle", [end])


@should("state.asks", tool, source=f"{_PAGE}: states; TCK ACP-PATCH-209")
async def asks(attempt: CheckRun) -> None:
    """While a question is open the state is requires_action."""
    async with attempt.in_session() as (agent, opened):
        begin = len(agent.frames)
        call, question = await attempt.question(agent, opened)
        await attempt.alive(agent, shown=[question])
        await anyio.sleep(QUIET)
        states = [text_of(frame.update, "state") for frame in updates(agent, opened, since=begin)]
        last = [state for state in states if state][-1:]
        await attempt.over(agent, opened, call)
        if last != ["requires_action"]:
            raise Failed(f"the state is {last[0] if last else 'none'} while a question is open", [question])


# ------------------------------------------------------------------ resume


async def _resumed(attempt: CheckRun, agent: AgentConnection, opened: str) -> tuple[Frame, list[Frame]]:
    """The answer to a resume from the start, and the frames before it."""
    begin = len(agent.frames)
    where: JsonObject = {"sessionId": opened, "cwd": str(attempt.options.cwd), "replayFrom": {"type": "start"}}
    answer = await agent.ask("session/resume", where)
    must_succeed(answer, "session/resume")
    return answer, updates(agent, opened, since=begin, until=agent.frames.index(answer))


@must("resume.replays-from-start", turn, source=f"{_PAGE}: session/resume", cases=(11,))
async def replays(attempt: CheckRun) -> None:
    """With replayFrom start, the whole conversation is shown again before session/resume is answered."""
    opened, _ = await attempt.stored()
    async with attempt.agent() as agent:
        answer, shown = await _resumed(attempt, agent, opened)
        text = "".join(str(frame.update) for frame in shown if _kind(frame).startswith("user_message"))
        if MARKER not in text:
            raise Failed("the user's message was not shown before the answer", [*exchange(answer), *shown[:5]])
        if not any(kind.startswith(("agent_", "tool_")) for kind in map(_kind, shown)):
            raise Failed("no text of the agent was shown before the answer", [*exchange(answer), *shown[:5]])


@must("resume.state-before-answer", turn, source=f"{_PAGE}: session/resume")
async def state_before_answer(attempt: CheckRun) -> None:
    """The current state is sent after the replay and before the answer to session/resume."""
    opened, _ = await attempt.stored()
    async with attempt.agent() as agent:
        answer, shown = await _resumed(attempt, agent, opened)
        kinds = [_kind(frame) for frame in shown]
        if not {"running", "idle", "requires_action"} & set(kinds):
            raise Failed("no state was sent before the answer", [*exchange(answer), *shown[-3:]])
        last = max(index for index, frame in enumerate(shown) if "state" in frame.update)
        if any(kind.startswith(("user_", "agent_")) for kind in kinds[last:]):
            raise Failed("the state was sent before the end of the replay", [*exchange(answer), *shown[-3:]])


def _message_ids(shown: list[Frame]) -> set[str]:
    return {text_of(frame.update, "messageId") for frame in shown}


@should("resume.ids-stay", turn, source=f"{_PAGE}: session/resume; TCK ACP-RESUME-204", cases=(50,))
async def ids_stay(attempt: CheckRun) -> None:
    """Messages have the same ids when they are shown again."""
    opened, before = await attempt.stored()
    async with attempt.agent() as agent:
        answer, after = await _resumed(attempt, agent, opened)
        if missing := _message_ids(before) - _message_ids(after) - {""}:
            raise Failed(f"the messages {sorted(missing)} have other ids now", [*exchange(answer), *after[:5]])


@should("resume.unknown-cursor", turn, source=f"{_PAGE}: session/resume; errors")
async def unknown_cursor(attempt: CheckRun) -> None:
    """A replayFrom of unknown type is refused with error -32602."""
    opened, _ = await attempt.stored()
    async with attempt.agent() as agent:
        where: JsonObject = {"sessionId": opened, "cwd": str(attempt.options.cwd), "replayFrom": {"type": "middle"}}
        must_fail(await agent.ask("session/resume", where), "an unknown replayFrom", [INVALID_PARAMS])


@must("resume.silent-after-answer", turn, source=f"{_PAGE}: session/resume; TCK ACP-RESUME-202", cases=(11,))
async def silent_after_answer(attempt: CheckRun) -> None:
    """No part of the conversation is shown after the answer to session/resume."""
    opened, _ = await attempt.stored()
    async with attempt.agent() as agent:
        answer, _ = await _resumed(attempt, agent, opened)
        shown = await late(agent, opened, answer)
        if said := [frame for frame in shown if _kind(frame).startswith(("user_message", "agent_", "tool_"))]:
            raise Failed("parts of the conversation came after the answer", [*exchange(answer), *said[:5]])


@must("resume.messages-before-chunks", turn, source=f"{_PAGE}: session/resume; TCK ACP-RESUME-205")
async def messages_before_chunks(attempt: CheckRun) -> None:
    """In a replay, chunks of a message come after the message itself, so that they do not add to what is there."""
    opened, _ = await attempt.stored()
    async with attempt.agent() as agent:
        answer, shown = await _resumed(attempt, agent, opened)
        begun: set[str] = set()
        for frame in shown:
            name, kind = text_of(frame.update, "messageId"), _kind(frame)
            if name and kind.endswith("_chunk") and name not in begun:
                raise Failed(f"a chunk of {name} came before its message", [*exchange(answer), frame])
            begun.add(name)


# ------------------------------------------------------------------ cancelling and closing


@must("close.cancels-work", slow, source=f"{_PAGE}: session/close; TCK ACP-CLOSE-202, ACP-CANCEL-208")
async def cancels_work(attempt: CheckRun) -> None:
    """session/close ends the work of the session as session/cancel does: idle, with the stop reason `cancelled`."""
    async with attempt.in_session() as (agent, opened):
        call = await attempt.slow_turn(agent, opened)
        answer = await agent.ask("session/close", {"sessionId": opened})
        must_succeed(answer, "session/close")
        end = attempt.dialect.end(agent, call)
        if end is None or attempt.dialect.reason(end) != "cancelled":
            raise Failed("the work did not end with `cancelled`", [*exchange(answer), *([end] if end else [])])


@advice("cancel.withdraws-questions", tool, source=f"{_PAGE}: cancellation; TCK ACP-INFO-CANCEL-202")
async def withdraws(attempt: CheckRun) -> None:
    """When a turn is cancelled, the agent withdraws its open questions with $/cancel_request."""
    async with attempt.in_session() as (agent, opened):
        call, question = await attempt.question(agent, opened)
        begin = len(agent.frames)
        cancel = agent.notify("session/cancel", {"sessionId": opened})
        name = question.object.get("id")

        def withdrawn() -> Frame | None:
            return next((frame for frame in agent.frames[begin:] if frame.params.get("requestId") == name), None)

        try:
            await agent.until(withdrawn, "a $/cancel_request", within=min(WITHDRAWAL_TIMEOUT, agent.timeout))
        except Failed as failed:
            await attempt.over(agent, opened, call)
            raise Failed("the question was not withdrawn", [question, cancel]) from failed
        await attempt.over(agent, opened, call)


@must("close.then-silence", slow, source=f"{_PAGE}: session/close; TCK ACP-CLOSE-202")
async def then_silence(attempt: CheckRun) -> None:
    """After the answer to session/close there are no more messages about the session, whatever was going on in it."""
    async with attempt.in_session() as (agent, opened):
        await attempt.slow_turn(agent, opened)
        answer = await agent.ask("session/close", {"sessionId": opened})
        must_succeed(answer, "session/close")
        if shown := await late(agent, opened, answer):
            raise Failed("updates came after the session was closed", [*exchange(answer), *shown[:5]])


@should("cancel.unknown-work", session, source=f"{_PAGE}: tool_call/cancel, terminal/cancel; errors")
async def unknown_work(attempt: CheckRun) -> None:
    """tool_call/cancel and terminal/cancel for what cannot be cancelled are refused with error -32602."""
    async with attempt.in_session() as (agent, opened):
        for method, key in (("tool_call/cancel", "toolCallId"), ("terminal/cancel", "terminalId")):
            answer = await agent.ask(method, {"sessionId": opened, key: "verify-no-such-thing"})
            must_fail(answer, f"{method} for something unknown", [INVALID_PARAMS])


CHECKS = checks_in(globals())
