"""`session/prompt` and `session/cancel`."""

import anyio

from claw_acp.acp.connection import Connection
from claw_acp.acp.content import prompt_parts, wants_to_steer
from claw_acp.acp.named_prompt import named_prompt
from claw_acp.acp.permission import METHOD, ClientAsker, SharedAsker, tool_call
from claw_acp.acp.updates import token_counts
from claw_acp.acp.v1.updates import tool_content
from claw_acp.acp.v1.view import SessionViewV1
from claw_acp.agent.client_ports import ClientPorts
from claw_acp.agent.loop import Outcome
from claw_acp.contracts.questions import PermissionQuestion
from claw_acp.core.events import PartContent
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import TextPart
from claw_acp.rpc.peer import IncomingCall
from claw_acp.runtime.running_turn import JoinedPrompt
from claw_acp.schema.invalid import parse
from claw_acp.schema.permission import RequestPermissionResponse, SelectedPermissionOutcome
from claw_acp.schema.prompt import CancelNotification, PromptRequest
from claw_acp.telemetry.context import log_context
from claw_acp.telemetry.trace_context import trace_from


async def prompt(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Run a turn. However it is cancelled, the answer is one result with `cancelled`."""
    request = parse(PromptRequest, params, method=call.method)
    view = connection.view(request.session_id)
    assert isinstance(view, SessionViewV1)
    parts = tuple(prompt_parts(request.prompt))
    view.can_ask = True
    view.live.enter(view)
    ports = ClientPorts(
        workspace=view.workspace,
        asker=SharedAsker(view.live),
        client=view.name,
        on_accepted=named_prompt(request.meta),
    )
    outcome = Outcome(stop="cancelled", usage=None)
    try:
        with log_context(session=request.session_id), trace_from(request.meta), anyio.CancelScope() as scope:
            call.on_cancel = scope.cancel
            engine = await connection.engine()
            steer = wants_to_steer(request.meta)
            turn = engine.turns.start(view.live, parts, ports=ports, steer=steer, place=view)
            view.sent.append(parts)
            if isinstance(turn, JoinedPrompt) and not steer:  # `/steer`: the turn has another request that waits
                return {"stopReason": "end_turn"}
            call.on_gone = lambda: scope.cancel() if turn.goes_on_without(view) else turn.cancel()
            call.on_cancel = turn.cancel
            outcome = await turn.outcome()
    finally:
        view.forget_prompt(parts)
        await view.shown()  # updates that a replay holds back come before the answer, too
    result: dict[str, JsonValue] = {"stopReason": outcome.stop}
    return result | ({"usage": token_counts(outcome.usage)} if outcome.usage else {})


async def cancel(connection: Connection, params: JsonObject) -> None:
    """Cancel the session's running turn and those that wait, if any."""
    request = parse(CancelNotification, params, method="session/cancel")
    connection.view(request.session_id).live.session.cancel()


class EditorAsker(ClientAsker):
    """Shows the tool call, and the reason for the question in it."""

    def request(self, question: PermissionQuestion) -> JsonObject:
        """See `ClientAsker`."""
        texts = [PartContent(part=TextPart(text=text)) for text in (question.reason, question.stored) if text]
        return {"toolCall": tool_call(question, [tool_content(item) for item in (*question.content, *texts)])}

    def chosen(self, answer: JsonValue) -> str | None:
        """See `ClientAsker`."""
        outcome = parse(RequestPermissionResponse, answer, method=METHOD).outcome
        return outcome.option_id if isinstance(outcome, SelectedPermissionOutcome) else None
