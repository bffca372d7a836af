"""Permission requests and the meaning of answers."""

from claw_acp.core.json_value import JsonObject
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.answers import exchange, must_succeed
from claw_acp.verify.check import ONLY_1, checks_in, must, should
from claw_acp.verify.check_run import CheckRun, updates
from claw_acp.verify.client_stub import EVERYTHING, PermissionAnswer
from claw_acp.verify.frames import Frame, as_list, as_object, text_of
from claw_acp.verify.needs import tool
from claw_acp.verify.rule import Failed

_PAGE = "tool-calls: permission"


async def _not_done(attempt: CheckRun, how: PermissionAnswer) -> None:
    """Answer the first question with something that is no permission: the call must not succeed, the turn must end."""
    async with attempt.in_session() as (agent, session):
        begin = len(agent.frames)
        call, question = await attempt.question(agent, session)
        agent.client.permission = "reject"  # whatever else it may ask
        sent = agent.answer(question, how)
        answer = await attempt.ended(agent, call)
        shown = [question, *([sent] if sent else []), *exchange(answer)]
        status = _status(agent, session, question, since=begin)
        if status is not None and status.params and text_of(status.update, "status") == "completed":
            raise Failed("the tool call was completed all the same", [*shown, status])
        await attempt.alive(agent, shown=shown)


def _status(agent: AgentConnection, session: str, question: Frame, *, since: int) -> Frame | None:
    """The last update with a status of the call in question."""
    subject = as_object(question.params.get("subject")) or question.params
    wanted = text_of(as_object(subject.get("toolCall")), "toolCallId")
    told = [
        frame
        for frame in updates(agent, session, since=since)
        if text_of(frame.update, "toolCallId") == wanted and text_of(frame.update, "status")
    ]
    return told[-1] if told else None


@must("permission.rejected-is-not-done", tool, source=_PAGE)
async def rejected(attempt: CheckRun) -> None:
    """A call that was rejected is not carried out, and the turn comes to an end."""
    await _not_done(attempt, "reject")


@must("permission.dismissed-is-not-done", tool, source=_PAGE, cases=(4,))
async def dismissed(attempt: CheckRun) -> None:
    """A question answered with `cancelled`, without any cancel, is no approval, and the turn comes to an end."""
    await _not_done(attempt, "cancelled")


@must("permission.unoffered-option", tool, source=_PAGE, cases=(5,))
async def unoffered(attempt: CheckRun) -> None:
    """An option that was not offered is no approval."""
    await _not_done(attempt, "unoffered")


@must("permission.unknown-outcome", tool, source=_PAGE, cases=(5,))
async def unknown_outcome(attempt: CheckRun) -> None:
    """An outcome that the protocol does not know is no approval."""
    await _not_done(attempt, "unknown")


@must("permission.client-cannot-answer", tool, source=_PAGE, cases=(6,))
async def error(attempt: CheckRun) -> None:
    """When the client answers a question with an error, the call is not carried out and the turn comes to an end."""
    await _not_done(attempt, "error")


@must("permission.allowed-is-done", tool, source=f"{_PAGE}; TCK ACP-PERM-201")
async def allowed(attempt: CheckRun) -> None:
    """A call that was allowed goes on, and the turn comes to an end."""
    async with attempt.in_session() as (agent, session):
        call, question = await attempt.question(agent, session)
        agent.client.permission = "allow"
        agent.answer(question, "allow")
        must_succeed(await attempt.ended(agent, call), "the turn of --tool-prompt")


@should("permission.options", tool, source=_PAGE)
async def options(attempt: CheckRun) -> None:
    """A question offers options, each with an id of its own, at least one to allow and one to reject."""
    async with attempt.in_session() as (agent, session):
        call, question = await attempt.question(agent, session)
        await attempt.over(agent, session, call)
        offered: list[JsonObject] = [as_object(option) for option in as_list(question.params.get("options"))]
        ids = [text_of(option, "optionId") for option in offered]
        if len(set(ids)) < len(ids):
            raise Failed(f"two options have the same id: {ids}", [question])
        for wish in ("allow", "reject"):
            if not any(text_of(option, "kind").startswith(wish) for option in offered):
                raise Failed(f"no option is of the kind {wish}", [question])


@must("permission.out-of-order", tool, source=_PAGE, cases=(8,))
async def out_of_order(attempt: CheckRun) -> None:
    """Questions of two sessions may be open at once, and be answered in any order."""
    async with attempt.agent() as agent:
        first, second = await attempt.session(agent), await attempt.session(agent)
        one, early = await attempt.question(agent, first)
        other, late = await attempt.question(agent, second)
        agent.client.permission = "reject"
        agent.answer(late, "reject")
        await attempt.ended(agent, other)
        if end := attempt.dialect.end(agent, one):
            raise Failed("the turn of the other question ended", [early, late, end])
        agent.answer(early, "reject")
        await attempt.ended(agent, one)


@must("permission.holds-up-nobody", tool, source=_PAGE, cases=(32,))
async def holds_up_nobody(attempt: CheckRun) -> None:
    """While a question is open, other sessions can be opened and the agent answers."""
    async with attempt.in_session() as (agent, session):
        call, question = await attempt.question(agent, session)
        must_succeed(await agent.ask("session/new", attempt.opening()), "session/new while a question is open")
        await attempt.alive(agent, shown=[question])
        await attempt.over(agent, session, call)


# ------------------------------------------------------------------ files and terminals of the client


async def _with_client(attempt: CheckRun, *, works: bool) -> None:
    async with attempt.fresh(capabilities=EVERYTHING) as agent:
        agent.client.works = works
        session = await attempt.session(agent)
        call = attempt.prompt(agent, session, attempt.options.tool_prompt)
        must_succeed(await attempt.ended(agent, call), "the turn of --tool-prompt")


@must("client.serves-everything", tool, source="file-system; terminals", cases=(36, 37), versions=ONLY_1)
async def serves_everything(attempt: CheckRun) -> None:
    """The agent works with a client that serves files and terminals and takes every kind of update."""
    await _with_client(attempt, works=True)


@must("client.fails-at-everything", tool, source="file-system; terminals", cases=(36,), versions=ONLY_1)
async def fails_at_everything(attempt: CheckRun) -> None:
    """When the client's files and terminals fail, the turn still comes to an end with a stop reason."""
    await _with_client(attempt, works=False)


CHECKS = checks_in(globals())
