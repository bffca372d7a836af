"""Control methods about the questions that wait for a person."""

import logging

from claw_acp.core.clock import iso_time
from claw_acp.core.errors import InvalidRequest
from claw_acp.gateway.control.server import ControlledServer
from claw_acp.gateway.control.wire import Answer, Nothing, Option, Waiting, WaitingList
from claw_acp.runtime.waiting_question import WaitingQuestion

log = logging.getLogger(__name__)


async def list_permissions(server: ControlledServer, _params: Nothing) -> WaitingList:
    """All questions, the oldest first."""
    waiting = sorted(await _waiting(server), key=lambda each: each.asked_at)
    return WaitingList(permissions=[_shown(each) for each in waiting])


async def answer(server: ControlledServer, params: Answer) -> Nothing:
    """Answer one, as one more person who is asked."""
    found = next((each for each in await _waiting(server) if each.id == params.permission_id), None)
    if found is None:
        raise InvalidRequest("this question does not wait any more; it was answered elsewhere, or its turn has ended")
    found.answer(params.option_id)
    facts = {"session": found.question.session, "call": found.question.call_id, "option": params.option_id}
    log.info("permission answered by a control client", extra=facts)
    return Nothing()


async def _waiting(server: ControlledServer) -> list[WaitingQuestion]:
    in_use = (await server.engine.engine()).sessions.in_use()
    return [each for live in in_use for each in live.questions]


def _shown(waiting: WaitingQuestion) -> Waiting:
    question = waiting.question
    return Waiting(
        permission_id=waiting.id,
        session_id=question.session,
        tool_call_id=question.call_id,
        title=question.title,
        reason=question.reason,
        kind=question.kind,
        command=None if question.command is None else question.command.line,
        asked_at=iso_time(waiting.asked_at),
        options=[Option(option_id=each.id, name=each.label, kind=each.kind) for each in question.choices],
    )
