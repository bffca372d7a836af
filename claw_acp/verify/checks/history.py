"""Stored sessions: load, resume, list, close, delete."""

from collections.abc import Sequence

import anyio

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.message import INVALID_PARAMS
from claw_acp.schema.errors import RESOURCE_NOT_FOUND
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.answers import exchange, must_fail, must_succeed
from claw_acp.verify.check import ONLY_1, advice, checks_in, must, should
from claw_acp.verify.check_run import MARKER, SETTLED, CheckRun, late, updates
from claw_acp.verify.checks.prompt import UPDATES
from claw_acp.verify.frames import Frame, as_list, as_object, text_of
from claw_acp.verify.needs import offers, slow, tool, turn
from claw_acp.verify.needs import session as opened
from claw_acp.verify.rule import Failed

_PAGE = "session-setup"
PAGES = 200  # of a list before it is taken for endless
MESSAGES = UPDATES | {"user_message_chunk", "user_message"}

_load = offers("loadSession")
_list = offers("sessionCapabilities.list")
_resume = offers("sessionCapabilities.resume")
_close = offers("sessionCapabilities.close")
_roots = offers("sessionCapabilities.additionalDirectories")
_delete = offers("sessionCapabilities.delete")


async def _stored_once(attempt: CheckRun) -> str:
    """A stored session, created once for all checks that only read it."""
    async with attempt.facts.one_at_a_time:
        if attempt.facts.stored is None:
            attempt.facts.stored, _ = await attempt.stored()
    return attempt.facts.stored


def _text(frames: Sequence[Frame], kind: str) -> str:
    """The whole text of one kind of chunk."""
    contents = [as_object(frame.update.get("content")) for frame in frames if frame.kind == kind]
    return "".join(text_of(content, "text") for content in contents)


async def _opened(
    attempt: CheckRun, agent: AgentConnection, session: str, method: str = "session/load"
) -> tuple[Frame, list[Frame]]:
    """The answer to session/load or session/resume, and the messages before it."""
    begin = len(agent.frames)
    answer = await agent.ask(method, attempt.opening(sessionId=session))
    must_succeed(answer, method)
    end = agent.frames.index(answer)
    return answer, [frame for frame in updates(agent, session, since=begin, until=end) if frame.kind in MESSAGES]


# ------------------------------------------------------------------ load


@must("load.replays", turn, _load, source=_PAGE, cases=(11,), versions=ONLY_1)
async def replays(attempt: CheckRun) -> None:
    """session/load shows the whole conversation again, of the user and of the agent, before it is answered."""
    session = await _stored_once(attempt)
    async with attempt.agent() as agent:
        answer, history = await _opened(attempt, agent, session)
        if MARKER not in _text(history, "user_message_chunk"):
            raise Failed("the user's message was not shown before the answer", [*exchange(answer), *history[:5]])
        if not any(frame.kind != "user_message_chunk" for frame in history):
            raise Failed("no text of the agent was shown before the answer", [*exchange(answer), *history[:5]])


@must("load.nothing-after-the-answer", turn, _load, source=f"{_PAGE}; TCK ACP-LOAD-002", cases=(11,), versions=ONLY_1)
async def nothing_after(attempt: CheckRun) -> None:
    """No part of the conversation is shown after the answer to session/load."""
    session = await _stored_once(attempt)
    async with attempt.agent() as agent:
        answer, _ = await _opened(attempt, agent, session)
        if shown := [frame for frame in await late(agent, session, answer) if frame.kind in MESSAGES]:
            raise Failed("parts of the conversation came after the answer", [*exchange(answer), *shown[:5]])


@must("load.not-doubled", turn, _load, source=_PAGE, cases=(12,), versions=ONLY_1)
async def not_doubled(attempt: CheckRun) -> None:
    """Loading a session, on the same connection too, does not add to it: it shows the same each time."""
    session = await _stored_once(attempt)
    async with attempt.agent() as agent:
        _, first = await _opened(attempt, agent, session)
        await anyio.sleep(SETTLED)
        answer, second = await _opened(attempt, agent, session)
        for kind in ("user_message_chunk", "agent_message_chunk"):
            if _text(first, kind) != _text(second, kind):
                raise Failed(f"{kind}: the second load shows something else", [*exchange(answer), *first, *second][:9])


@must("load.then-prompt", turn, _load, source=f"{_PAGE}; TCK ACP-LOAD-001", cases=(12,), versions=ONLY_1)
async def then_prompt(attempt: CheckRun) -> None:
    """A loaded session takes prompts."""
    session, _ = await attempt.stored()
    async with attempt.agent() as agent:
        await _opened(attempt, agent, session)
        must_succeed(await attempt.ended(agent, attempt.prompt(agent, session)), "a prompt in a loaded session")


@should("load.tool-calls-settled", tool, _load, source=_PAGE, cases=(11,), versions=ONLY_1)
async def tool_calls(attempt: CheckRun) -> None:
    """Tool calls are part of what session/load shows, each with its final status."""
    session, _ = await attempt.stored(attempt.options.tool_prompt)
    async with attempt.agent() as agent:
        begin = len(agent.frames)
        answer, history = await _opened(attempt, agent, session)
        if not any(frame.kind == "tool_call" for frame in history):
            raise Failed("the tool call was not shown", exchange(answer))
        last: dict[str, str] = {}
        for frame in updates(agent, session, since=begin):
            if name := text_of(frame.update, "toolCallId"):
                last[name] = text_of(frame.update, "status") or last.get(name, "pending")
        for name, status in last.items():
            if status not in {"completed", "failed"}:
                raise Failed(f"tool call {name} is left {status!r}", [*exchange(answer), *history])
        await attempt.turn(agent, session, attempt.options.tool_prompt)  # its ids are compared with the earlier ones


@advice("load.result-is-an-object", turn, _load, source=f"{_PAGE}; TCK ACP-LOAD-003", versions=ONLY_1)
async def result_is_an_object(attempt: CheckRun) -> None:
    """The result of session/load is an object, `{}` if there is nothing to say; older agents sent null."""
    session = await _stored_once(attempt)
    async with attempt.agent() as agent:
        answer, _ = await _opened(attempt, agent, session)
        if not isinstance(answer.object.get("result"), dict):
            raise Failed("the result is no object", exchange(answer))


# ------------------------------------------------------------------ resume


@must("resume.opens", turn, _resume, source=f"{_PAGE}; TCK ACP-RESUME-001, 201")
async def resumes(attempt: CheckRun) -> None:
    """session/resume opens a stored session, which then takes prompts."""
    session, _ = await attempt.stored()
    async with attempt.agent() as agent:
        must_succeed(await agent.ask("session/resume", attempt.opening(sessionId=session)), "session/resume")
        must_succeed(await attempt.ended(agent, attempt.prompt(agent, session)), "a prompt in a resumed session")


@must("resume.no-history", turn, _resume, source=f"{_PAGE}; TCK ACP-RESUME-002, 203", cases=(13,))
async def no_history(attempt: CheckRun) -> None:
    """session/resume shows nothing of the conversation before it is answered."""
    session = await _stored_once(attempt)
    async with attempt.agent() as agent:
        answer, shown = await _opened(attempt, agent, session, "session/resume")
        if shown:
            raise Failed("history was shown", [*exchange(answer), *shown[:5]])


@must("resume.additional-directories", turn, _resume, _roots, source=f"{_PAGE}; TCK ACP-ADDDIRS-202", cases=(39,))
async def resumes_with_directories(attempt: CheckRun) -> None:
    """session/resume takes additional directories when the agent offers them."""
    session = await _stored_once(attempt)
    async with attempt.agent() as agent:
        where = attempt.opening(sessionId=session, additionalDirectories=[str(attempt.options.cwd.parent)])
        must_succeed(await agent.ask("session/resume", where), "session/resume with additionalDirectories")


# ------------------------------------------------------------------ list


async def _all_sessions(agent: AgentConnection, **params: JsonValue) -> list[JsonObject]:
    found: list[JsonObject] = []
    cursor: JsonObject = {}
    for _ in range(PAGES):
        answer = await agent.ask("session/list", {**params, **cursor})
        must_succeed(answer, "session/list")
        found += [as_object(session) for session in as_list(answer.result.get("sessions"))]
        if not text_of(answer.result, "nextCursor"):
            return found
        cursor = {"cursor": text_of(answer.result, "nextCursor")}
    raise Failed(f"the list does not end after {PAGES} pages")


@must("list.answers-an-array", opened, _list, source="session-list; TCK ACP-LIST-001, 002, 201, 202", cases=(46,))
async def lists(attempt: CheckRun) -> None:
    """session/list without parameters, or for a directory without sessions, is answered with an array, never null."""
    async with attempt.agent() as agent:
        for params in ({}, {"cwd": str(attempt.scratch / "nothing-happened-here")}):
            answer = await agent.ask("session/list", params)
            must_succeed(answer, "session/list")
            sessions = answer.result.get("sessions")
            if not isinstance(sessions, list):
                raise Failed(f"sessions is {sessions!r}, not an array", exchange(answer))


@should("list.holds-the-session", turn, _list, source="session-list")
async def holds_the_session(attempt: CheckRun) -> None:
    """A session in which something was said is in the list, once."""
    async with attempt.in_session() as (agent, session):
        answer = await attempt.turn(agent, session)
        listed = [text_of(found, "sessionId") for found in await _all_sessions(agent)]
        if session not in listed:
            raise Failed(
                f"session {session} is not in the list of {len(listed)}", [answer, *exchange(agent.frames[-1])]
            )


@must("list.only-of-the-directory", turn, _list, source="session-list; TCK ACP-LIST-203", cases=(46,))
async def only_of_the_directory(attempt: CheckRun) -> None:
    """session/list with a cwd gives only the sessions of that directory."""
    async with attempt.agent() as agent:
        elsewhere = attempt.scratch / "elsewhere"
        await anyio.Path(elsewhere).mkdir(exist_ok=True)
        here, there = await attempt.session(agent), await attempt.session(agent, cwd=elsewhere)
        for session in (here, there):
            await attempt.turn(agent, session)
        listed = await _all_sessions(agent, cwd=str(elsewhere))
        shown = exchange(agent.frames[-1]) if agent.frames[-1].is_answer else []
        if here in [text_of(found, "sessionId") for found in listed]:
            raise Failed("a session of another directory is in the list", shown)
        if odd := [text_of(found, "cwd") for found in listed if text_of(found, "cwd") != str(elsewhere)]:
            raise Failed(f"a session of {odd[0]} is in the list", shown)


@should("list.bad-cursor", opened, _list, source="session-list; errors", cases=(46,))
async def bad_cursor(attempt: CheckRun) -> None:
    """A cursor that was never given out is refused with error -32602."""
    async with attempt.agent() as agent:
        answer = await agent.ask("session/list", {"cursor": "verify: no such cursor"})
        must_fail(answer, "session/list with a made-up cursor", [INVALID_PARAMS])


# ------------------------------------------------------------------ close and delete


@must("close.closes", opened, _close, source=f"{_PAGE}; TCK ACP-CLOSE-001, 201", cases=(15,))
async def closes(attempt: CheckRun) -> None:
    """session/close is answered with a result, and afterwards the session takes no prompt."""
    async with attempt.in_session() as (agent, session):
        must_succeed(await agent.ask("session/close", {"sessionId": session}), "session/close")
        must_fail(await agent.answered(attempt.prompt(agent, session)), "a prompt in a closed session")


@must("close.ends-the-turn", slow, _close, source=f"{_PAGE}; TCK ACP-CLOSE-002", versions=ONLY_1)
async def ends_the_turn(attempt: CheckRun) -> None:
    """session/close cancels the turn that runs in the session, as session/cancel does."""
    async with attempt.in_session() as (agent, session):
        call = await attempt.slow_turn(agent, session)
        closing = agent.call("session/close", {"sessionId": session})
        must_succeed(await agent.answered(closing), "session/close")
        answer = await agent.answered(call)
        must_succeed(answer, "the prompt whose session was closed")
        if answer.result.get("stopReason") != "cancelled":
            reason = answer.result.get("stopReason")
            raise Failed(f"the turn ended with {reason!r}, not 'cancelled'", [closing.frame, *exchange(answer)])


@must("delete.removes", turn, _delete, source=f"{_PAGE}; TCK ACP-DELETE-001, 201, 202", cases=(15,))
async def removes(attempt: CheckRun) -> None:
    """A deleted session is in no list any more and cannot be loaded."""
    async with attempt.in_session() as (agent, session):
        await attempt.turn(agent, session)
        deleted = await agent.ask("session/delete", {"sessionId": session})
        must_succeed(deleted, "session/delete")
        if attempt.facts.offers("sessionCapabilities.list"):
            listed = [text_of(found, "sessionId") for found in await _all_sessions(agent)]
            if session in listed:
                raise Failed("the deleted session is in the list", exchange(deleted))
        if attempt.facts.offers("loadSession"):
            answer = await agent.ask("session/load", attempt.opening(sessionId=session))
            must_fail(answer, "session/load of a deleted session")


@should("delete.twice", opened, _delete, source=f"{_PAGE}; TCK ACP-DELETE-002, 203", cases=(14,))
async def deletes_twice(attempt: CheckRun) -> None:
    """Deleting a session that does not exist, or does no longer, succeeds."""
    async with attempt.agent() as agent:
        must_succeed(await agent.ask("session/delete", {"sessionId": "verify-no-such-session"}), "session/delete")


@should("close.unknown", opened, _close, source=f"{_PAGE}; errors", cases=(14,))
async def closes_unknown(attempt: CheckRun) -> None:
    """Closing a session that is not open succeeds, or is refused with error -32002."""
    async with attempt.agent() as agent:
        answer = await agent.ask("session/close", {"sessionId": "verify-no-such-session"})
        if answer.error is not None and answer.code != RESOURCE_NOT_FOUND:
            raise Failed(f"it was refused with error {answer.code}, not {RESOURCE_NOT_FOUND}", exchange(answer))


CHECKS = checks_in(globals())
