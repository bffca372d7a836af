"""Asking the person at the editor for permission."""

import logging

from claw_acp.acp.elicitation import Forms
from claw_acp.acp.v1.updates import tool_content
from claw_acp.acp.view import PATIENCE, SessionView
from claw_acp.contracts.asking import Choice, Form, FormAnswer, PermissionQuestion
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.json_value import JsonObject
from claw_acp.rpc.errors import RpcError
from claw_acp.schema.invalid import parse
from claw_acp.schema.permission import RequestPermissionResponse, SelectedPermissionOutcome

log = logging.getLogger(__name__)

METHOD = "session/request_permission"


class EditorAsker:
    """Asks one client. Anything but one of the offered answers counts as no answer.

    A client that cannot answer (an error, or silence) is not asked again before the next prompt.
    """

    def __init__(self, view: SessionView) -> None:
        self._view = view
        self._forms = Forms(view.peer, view.client)

    async def form(self, form: Form) -> FormAnswer | None:
        """See `Asker`."""
        return await self._forms.ask(form)

    async def permission(self, question: PermissionQuestion) -> Choice | None:
        """See `Asker`."""
        if not self._view.can_ask:
            return None
        try:
            answer = await self._view.peer.request(METHOD, _request(question), within=PATIENCE)
            outcome = parse(RequestPermissionResponse, answer, method=METHOD).outcome
        except (RpcError, InvalidRequest, TimeoutError) as error:
            log.warning("permission not answered", extra={"session": question.session, "reason": str(error)})
            self._view.can_ask = False
            return None
        if not isinstance(outcome, SelectedPermissionOutcome):
            return None
        return next((choice for choice in question.choices if choice.id == outcome.option_id), None)


def _request(question: PermissionQuestion) -> JsonObject:
    reason: JsonObject = {"type": "content", "content": {"type": "text", "text": question.reason}}
    return {
        "sessionId": question.session,
        "toolCall": {
            "toolCallId": question.call_id,
            "title": question.title,
            "content": [*(tool_content(item) for item in question.content), reason],
        },
        "options": [{"optionId": choice.id, "name": choice.label, "kind": choice.kind} for choice in question.choices],
    }
