"""Cancelling a turn: `session/cancel` and `$/cancel_request`."""

import anyio

from claw_acp.core.json_value import JsonValue
from claw_acp.rpc.message import REQUEST_CANCELLED
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.answers import exchange, must_succeed
from claw_acp.verify.check import ONLY_1, advice, checks_in, must
from claw_acp.verify.check_run import SETTLED, CheckRun
from claw_acp.verify.frames import Call, Frame
from claw_acp.verify.needs import session as opened
from claw_acp.verify.needs import slow, tool, turn
from claw_acp.verify.rule import Failed

_PAGE = "prompt-turn: cancellation"
NO_IDS: tuple[JsonValue, ...] = (720_001, "nobody", None, 1.5, [])


async def _must_be_cancelled(attempt: CheckRun, agent: AgentConnection, call: Call, *before: Frame) -> None:
    end = await attempt.ended(agent, call)
    must_succeed(end, "the cancelled prompt")
    reason = attempt.dialect.reason(end)
    if reason != "cancelled":
        raise Failed(f"the cancelled turn ended with {reason!r}, not 'cancelled'", [*before, *exchange(end)])


@must("cancel.mid-turn", slow, source=f"{_PAGE}; TCK ACP-CANCEL-001, 201, 203", cases=(1, 2))
async def mid_turn(attempt: CheckRun) -> None:
    """A turn that is cancelled ends with the stop reason `cancelled`, not with an error and not later by itself."""
    async with attempt.in_session() as (agent, session):
        call = await attempt.slow_turn(agent, session)
        await _must_be_cancelled(attempt, agent, call, agent.cancel(session))
        await anyio.sleep(SETTLED)  # monitors see what comes late


@must("cancel.next-prompt-works", slow, turn, source=_PAGE, cases=(1,))
async def next_prompt(attempt: CheckRun) -> None:
    """After a cancelled turn the session takes the next prompt."""
    async with attempt.in_session() as (agent, session):
        call = await attempt.slow_turn(agent, session)
        cancel = agent.cancel(session)
        try:
            await attempt.ended(agent, call)
        except Failed as failed:
            raise Failed(f"the cancelled turn never ended: {failed.reason}", [cancel, *failed.frames]) from failed
        must_succeed(await attempt.ended(agent, attempt.prompt(agent, session)), "the prompt after a cancelled one")


@must("cancel.right-away", turn, source=_PAGE, cases=(1,))
async def right_away(attempt: CheckRun) -> None:
    """A cancel that comes right after its prompt ends the turn too, or comes too late; the prompt has one result."""
    async with attempt.in_session() as (agent, session):
        call = attempt.prompt(agent, session)
        cancel = agent.cancel(session)
        answer = await attempt.ended(agent, call)
        early = attempt.options.protocol == 2 and answer.code == REQUEST_CANCELLED  # it was not taken in yet
        if answer.error is not None and not early:
            raise Failed(f"the cancelled prompt was answered with error {answer.code}", [cancel, *exchange(answer)])


@must("cancel.nothing-to-cancel", turn, source=_PAGE, cases=(3,))
async def idle(attempt: CheckRun) -> None:
    """session/cancel without a turn, twice, or for an unknown session is not answered and does no harm."""
    async with attempt.in_session() as (agent, session):
        begin = len(agent.frames)
        sent = [agent.cancel(session), agent.cancel(session), agent.cancel("verify-no-such-session")]
        for frame in await attempt.heard(agent, begin=begin, shown=sent):
            if frame.is_answer:
                raise Failed("a notification was answered", [*sent, frame])
        end = await attempt.ended(agent, attempt.prompt(agent, session))
        must_succeed(end, "a prompt after a cancel without a turn")
        if attempt.dialect.reason(end) == "cancelled":
            raise Failed("a cancel from before cancelled the next turn", [*sent, *exchange(end)])


@must("cancel.only-its-session", slow, source=_PAGE, cases=(32,))
async def only_its_session(attempt: CheckRun) -> None:
    """A cancel ends the turn of its session and no other."""
    async with attempt.agent() as agent:
        first, second = await attempt.session(agent), await attempt.session(agent)
        one, other = await attempt.slow_turn(agent, first), await attempt.slow_turn(agent, second)
        cancel = agent.cancel(first)
        await attempt.ended(agent, one)
        await attempt.heard(agent, begin=len(agent.frames), shown=[cancel])
        if end := attempt.dialect.end(agent, other):
            raise Failed("the turn of another session ended as well", [cancel, *exchange(end)])
        await attempt.over(agent, second, other)


@must("cancel.while-asking", tool, source=_PAGE, cases=(1,))
async def while_asking(attempt: CheckRun) -> None:
    """A turn that is cancelled while it waits for permission ends with the stop reason `cancelled`."""
    async with attempt.in_session() as (agent, session):
        call, question = await attempt.question(agent, session)
        cancel = agent.cancel(session)
        await _must_be_cancelled(attempt, agent, call, question, cancel)


@must("cancel.unknown-request", opened, source="cancellation", cases=(45,))
async def unknown_request(attempt: CheckRun) -> None:
    """$/cancel_request for an unknown or finished request, or with no id at all, is not answered and does no harm."""
    async with attempt.agent() as agent:
        begin = len(agent.frames)
        finished = agent.calls[-1].id
        sent = [agent.notify("$/cancel_request", {"requestId": name}) for name in (*NO_IDS, finished)]
        sent.append(agent.notify("$/cancel_request", {}))
        for frame in await attempt.heard(agent, begin=begin, shown=sent):
            if frame.is_answer:
                raise Failed("a notification was answered", [*sent, frame])


@advice("cancel.by-request-id", slow, source="cancellation", cases=(45,), versions=ONLY_1)
async def by_request_id(attempt: CheckRun) -> None:
    """$/cancel_request for a prompt ends its turn: with the stop reason `cancelled`, or with error -32800."""
    async with attempt.in_session() as (agent, session):
        call = await attempt.slow_turn(agent, session)
        sent = agent.notify("$/cancel_request", {"requestId": call.id})
        try:
            end = await attempt.ended(agent, call, within=min(5.0, attempt.options.timeout))
        except Failed as failed:
            await attempt.over(agent, session, call)
            raise Failed("it had no effect; session/cancel had", [sent]) from failed
        if end.code != REQUEST_CANCELLED and attempt.dialect.reason(end) != "cancelled":
            raise Failed("the turn ended in another way", [sent, *exchange(end)])


@advice("cancel.listing", opened, source="cancellation", cases=(45,))
async def listing(attempt: CheckRun) -> None:
    """A request that $/cancel_request comes too late for, or in time, is answered once, with a result or an error."""
    async with attempt.agent() as agent:
        call = agent.call("session/new", attempt.opening())
        agent.notify("$/cancel_request", {"requestId": call.id})
        await agent.answered(call)


CHECKS = checks_in(globals())
