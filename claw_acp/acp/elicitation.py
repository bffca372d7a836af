"""`elicitation/*`: asks a client to have its user fill in a form or visit a web page. Shared by both protocols."""

import logging
from collections.abc import Mapping
from typing import Literal, TypeAlias

from claw_acp.acp.form_fields import Unfitting, filled_in, requested_schema
from claw_acp.acp.handshake import ClientCapabilities
from claw_acp.acp.view import ANSWER_TIMEOUT
from claw_acp.contracts.questions import Form, FormAnswer
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import replace
from claw_acp.rpc.errors import ConnectionClosed, RpcError
from claw_acp.rpc.message import RequestId
from claw_acp.rpc.peer import Peer

log = logging.getLogger(__name__)

METHOD = "elicitation/create"
TRIES = 2  # a form that was filled in wrongly is shown once more, with what is wrong

Action: TypeAlias = Literal["accept", "decline", "cancel"]
_ACTIONS: Mapping[JsonValue, Action] = {"accept": "accept", "decline": "decline", "cancel": "cancel"}


class Forms:
    """Shows forms to the user of one client. Never for secrets (ACP: those must not go through a form).

    A client that did not advertise forms is never asked; one that fails to answer is not asked again through this
    object.
    """

    def __init__(self, peer: Peer, client: ClientCapabilities) -> None:
        self._peer = peer
        self._able = client.forms

    async def ask(self, form: Form, *, request: RequestId = None) -> FormAnswer | None:
        """Have a form filled in. After an invalid answer the form is shown once more, then it counts as cancelled.

        Args:
            form: The questions. One without a session belongs to a request.
            request: The id of the client's request that the form is asked for, when there is no session.

        Returns:
            The answer; None when the client cannot show forms, or gave no valid answer (an error, nonsense, silence).
        """
        asked = form
        for _ in range(TRIES):
            answer = await self._answer(asked, request)
            if answer is None:
                return None
            action, content = answer
            if action != "accept":
                return FormAnswer(action=action)
            try:
                return FormAnswer(action="accept", values=filled_in(form, content))
            except Unfitting as problem:
                log.info("form filled in wrongly", extra={"session": form.session})
                asked = replace(form, message=f"{form.message}\n\nPlease correct: {problem.message}.")
        return FormAnswer(action="cancel")

    async def _answer(self, form: Form, request: RequestId) -> tuple[Action, JsonObject] | None:
        if not self._able:
            return None
        question: JsonObject = {
            "mode": "form",
            "message": form.message,
            "requestedSchema": requested_schema(form),
            **_scope(form.session, form.call_id, request),
        }
        answer = await _asked(self._peer, question)
        self._able = answer is not None
        return answer


async def ask_url(
    peer: Peer, *, session: str | None, request: RequestId, message: str, url: str, elicitation: str = ""
) -> tuple[Action, str]:
    """Ask the user to visit a web page; only for clients that advertised it (`ClientCapabilities.urls`).

    Args:
        peer: The client.
        session: The session of the question; None: it belongs to the client's request `request`.
        request: The id of that request.
        message: Why the page should be visited.
        url: The page.
        elicitation: An id for `complete`, if the caller needs it before the answer comes.

    Returns:
        What the person did (`accept`: the page is being visited; no clear answer is `cancel`), and the id for
        `complete`.
    """
    elicitation = elicitation or new_id("eli")
    question: JsonObject = {
        "mode": "url",
        "message": message,
        "elicitationId": elicitation,
        "url": url,
        **_scope(session, None, request),
    }
    answer = await _asked(peer, question)
    return "cancel" if answer is None else answer[0], elicitation


async def complete(peer: Peer, elicitation_id: str) -> None:
    """Notify a client that the task of its web page is done."""
    await peer.notify("elicitation/complete", {"elicitationId": elicitation_id})


async def _asked(peer: Peer, question: JsonObject) -> tuple[Action, JsonObject] | None:
    """Ask a question and return the answer's action and content; None without a valid answer."""
    try:
        answer = await peer.request(METHOD, question, within=ANSWER_TIMEOUT)
    except (RpcError, ConnectionClosed, TimeoutError) as error:
        log.warning("question not answered", extra={"mode": question["mode"], "reason": str(error)})
        return None
    # Read by hand: content is held against the form, and may have anything in what the form did not ask for.
    action = answer.get("action") if isinstance(answer, Mapping) else None
    if not isinstance(answer, Mapping) or not isinstance(action, str):
        log.warning("question not answered", extra={"mode": question["mode"], "reason": "the answer has no action"})
        return None
    content = answer.get("content")
    return _ACTIONS.get(action, "cancel"), content if isinstance(content, Mapping) else {}  # ACP: unknown is `cancel`


def _scope(session: str | None, call_id: str | None, request: RequestId) -> JsonObject:
    if not session:
        return {"requestId": request}
    return {"sessionId": session} | ({"toolCallId": call_id} if call_id else {})
