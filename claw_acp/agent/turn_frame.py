"""The beginning and the end of a turn in the journal, whatever is done between them."""

import logging
from collections.abc import Awaitable, Callable

import anyio

from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError, StoreError
from claw_acp.core.events import Notice, StateChanged, StopReason
from claw_acp.core.ids import new_id
from claw_acp.core.messages import Usage
from claw_acp.core.redaction import redact
from claw_acp.core.value import replace
from claw_acp.session.session import Session

log = logging.getLogger(__name__)


async def framed_turn(
    session: Session, work: Callable[[], Awaitable[StopReason]], *, usage: Callable[[], Usage | None], clock: Clock
) -> StopReason:
    """Run `work` as a turn; returns its stop reason. The journal has the end of the turn, however it ends.

    Args:
        session: The session.
        work: The turn.
        usage: Returns the tokens of its model requests so far.
        clock: Makes ids.
    """
    turn_id = new_id("turn", clock=clock)
    await session.publish(StateChanged(item=turn_id, state="running"))
    try:
        stop = await work()
    except BaseException as error:
        with session.cleanup_scope():
            await _end_badly(session, StateChanged(item=turn_id, state="idle", usage=usage()), error, clock=clock)
        raise  # also when the journal could not take the end: what happened first is what is told
    await session.publish(StateChanged(item=turn_id, state="idle", stop=stop, usage=usage()))
    return stop


async def _end_badly(session: Session, idle: StateChanged, error: BaseException, *, clock: Clock) -> None:
    try:
        if isinstance(error, anyio.get_cancelled_exc_class()):
            await session.publish(replace(idle, stop="cancelled"))
            return
        known = isinstance(error, ClawError)
        text = redact(error.message) if known else "an unexpected error; the log has it"
        notice_id = new_id("ntc", clock=clock)
        await session.publish(Notice(item=notice_id, severity="error", title="The turn failed", description=text))
        await session.publish(replace(idle, error=text, code=error.code if known else None))
    except StoreError as trouble:
        log.warning("the end of a turn was not kept", extra={"turn": idle.item, "reason": trouble.message})
