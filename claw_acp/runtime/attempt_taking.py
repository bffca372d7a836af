"""`/try take`: the changes of an attempt are made in the project, in a turn that the model knows of."""

from collections.abc import Sequence
from pathlib import Path

from claw_acp.agent.loop import Outcome
from claw_acp.agent.turn_frame import framed_turn
from claw_acp.attempts.session_attempts import SessionAttempts
from claw_acp.contracts.checkpoints import Restored
from claw_acp.contracts.command import Said, TakesAttempt
from claw_acp.contracts.tool import WritesPath
from claw_acp.core.clock import Clock
from claw_acp.core.errors import InvalidRequest, ToolError
from claw_acp.core.events import Attempt, AttemptsChanged, MessageStarted, PathChange, PathState, StopReason, TextDelta
from claw_acp.core.ids import new_id
from claw_acp.core.markdown import code_span
from claw_acp.core.messages import ContentPart
from claw_acp.runtime.slash_commands import keep_answer
from claw_acp.security.policy import Policy, PolicyContext
from claw_acp.session.checkpoints.session_checkpoints import RestorePlan, SessionCheckpoints
from claw_acp.session.prompt_message import OnAccepted, publish_prompt
from claw_acp.session.session import Session

_DIRECTORY = PathState(kind="directory", mode=0o755)


async def take_attempt(
    session: Session,
    wish: TakesAttempt,
    typed: Sequence[ContentPart],
    *,
    checkpoints: SessionCheckpoints,
    policy: Policy,
    context: PolicyContext,
    clock: Clock,
    on_accepted: OnAccepted,
) -> Outcome:
    """Make the changes of an attempt in the project, unless somebody else changed the same files meanwhile.

    Args:
        session: The session.
        wish: The attempt.
        typed: The command as it was typed.
        checkpoints: The session's files.
        policy: The rules; files that they forbid to write are left.
        context: The environment of its decisions.
        clock: Makes ids.
        on_accepted: Called with the id of the command's message.
    """
    attempt = SessionAttempts(session, checkpoints=checkpoints).find(wish.number)
    changes = [*_new_directories(attempt.changes), *attempt.changes]
    try:
        _check(changes, policy=policy, context=context, session=session)
        plan = await checkpoints.plan_to_take(changes, edited=wish.edited)
        refused = _refusal(attempt, plan)
    except (InvalidRequest, ToolError) as error:
        refused = f"Nothing was taken: {error.message.rstrip('.')}."
    else:
        if not refused:
            return await _taken(session, attempt, plan, typed, checkpoints, clock=clock, on_accepted=on_accepted)
    await keep_answer(session, typed=typed, answer=Said(text=refused), clock=clock, on_accepted=on_accepted)
    return Outcome(stop="end_turn", usage=None)


def _new_directories(changes: Sequence[PathChange]) -> Sequence[PathChange]:
    """The directories that have to be made, so that an undo removes them again."""
    written = [Path(change.path) for change in changes if change.after is not None and change.after.kind != "absent"]
    known = {change.path for change in changes}
    missing = {str(above) for path in written for above in path.parents if not above.exists()} - known
    return [PathChange(path=path, before=PathState(), after=_DIRECTORY) for path in sorted(missing)]


def _check(changes: Sequence[PathChange], *, policy: Policy, context: PolicyContext, session: Session) -> None:
    """Check that the rules and the mode do not forbid the changes. Where they ask, the command is the answer.

    Raises:
        ToolError: They forbid one.
    """
    for change in changes:
        access = WritesPath(path=Path(change.path))
        decision = policy.decide(tool="write_file", accesses=(access,), mode=session.mode, context=context)
        if decision.verdict == "deny":
            raise ToolError(decision.reason)


def _refusal(attempt: Attempt, plan: RestorePlan) -> str:
    """The reason that nothing can be taken yet; empty if something can."""
    if not attempt.changes:
        return f"Attempt {attempt.number} changed no file, so there is nothing to take."
    if plan.waits:
        names = "\n".join(f"- {code_span(path)}" for path in plan.edited)
        return (
            "Nothing was taken yet, because these files were changed since the attempts began, or have unsaved changes:"
            f"\n\n{names}\n\n`/try take {attempt.number} skip` leaves them as they are, "
            f"`/try take {attempt.number} overwrite` replaces them; `/undo` would return what they hold now."
        )
    return "" if plan.changes else f"Nothing was taken.\n\n{_left(plan.edited, plan.failed)}"


async def _taken(
    session: Session, attempt: Attempt, plan: RestorePlan, typed: Sequence[ContentPart],
    checkpoints: SessionCheckpoints, *, clock: Clock, on_accepted: OnAccepted,
) -> Outcome:  # fmt: skip
    prompt = session.history.attempts.prompt

    async def work() -> StopReason:
        message = MessageStarted(
            item=new_id("msg", clock=clock), role="user", parts=tuple(typed), model_parts=tuple(prompt)
        )
        await publish_prompt(session, message, on_accepted=on_accepted)
        restored = await checkpoints.take(plan, number=attempt.number)
        answer = MessageStarted(item=new_id("msg", clock=clock), role="assistant")
        await session.publish(answer)
        await session.publish(TextDelta(item=answer.item, text=_told(attempt, restored)))
        await session.publish(AttemptsChanged())
        return "end_turn"

    return Outcome(stop=await framed_turn(session, work, usage=lambda: None, clock=clock), usage=None)


def _told(attempt: Attempt, restored: Restored) -> str:
    names = "\n".join(f"- {code_span(file.path)}" for file in restored.files)
    parts = [attempt.words, f"Taken from attempt {attempt.number}:\n\n{names}" if names else ""]
    parts += [_left(restored.edited, restored.failed), "`/undo` takes this back."]
    return "\n\n".join(part for part in parts if part)


def _left(edited: Sequence[str], failed: Sequence[tuple[str, str]]) -> str:
    stayed = [(path, "it was changed since the attempts began") for path in edited] + list(failed)
    lines = "\n".join(f"- {code_span(path)}: {reason}" for path, reason in stayed)
    return f"As they were:\n\n{lines}" if lines else ""
