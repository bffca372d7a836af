"""Questions that belong to no tool call: a client is asked under a call that is only shown."""

import anyio.lowlevel

from claw_acp.agent.user_wait import UserWait
from claw_acp.contracts.questions import Asker, Choice, PermissionQuestion
from claw_acp.core.clock import Clock
from claw_acp.core.events import ToolCallChanged, ToolStatus
from claw_acp.core.ids import new_id
from claw_acp.core.value import replace
from claw_acp.session.session import Session


async def ask_announced(
    session: Session, asker: Asker, question: PermissionQuestion, *, tool: str, clock: Clock,
    waiting: UserWait | None = None,
) -> Choice | None:  # fmt: skip
    """The answer to a question, whose call is shown meanwhile; it is not stored, and no model sees it.

    Args:
        session: The session in which it is shown.
        asker: Asks the person.
        question: The question; session and call are set here.
        tool: The name under which it is shown.
        clock: Makes the call's id.
        waiting: Tracks the time for which a person is waited for.
    """
    call_id = new_id("call", clock=clock)
    question = replace(question, session=session.id, call_id=call_id)
    announced = ToolCallChanged(
        item=call_id, name=tool, title=question.title, kind=question.kind, status="pending",
        content=question.content, locations=question.locations, raw_input=question.raw_input,
    )  # fmt: skip
    await session.broadcast(announced)
    status: ToolStatus = "cancelled"
    try:
        async with (waiting or UserWait(session)).for_person():
            choice = await asker.permission(question)
        await anyio.lowlevel.checkpoint_if_cancelled()  # a client that cancels answers, too: that is no "no"
        allowed = choice is not None and choice.kind in {"allow_once", "allow_always"}
        status = "completed" if allowed else "failed"
    finally:
        with session.cleanup_scope():
            await session.broadcast(ToolCallChanged(item=call_id, status=status))
    return choice
