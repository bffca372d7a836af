"""`session/prompt` and `session/cancel`. A prompt is answered once it is part of the conversation; its turn goes on."""

from collections.abc import Callable

import anyio

from claw_acp.acp.connection import Connection
from claw_acp.acp.content import prompt_parts, wants_to_steer
from claw_acp.acp.named_prompt import named_prompt
from claw_acp.acp.permission import METHOD, ClientAsker, SharedAsker, tool_call
from claw_acp.acp.v2.sessions import session_view
from claw_acp.acp.v2.tool_calls import tool_content
from claw_acp.agent.client_ports import ClientPorts
from claw_acp.contracts.questions import PermissionQuestion
from claw_acp.core.errors import ClawError
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.errors import RpcError
from claw_acp.rpc.message import REQUEST_CANCELLED
from claw_acp.rpc.peer import IncomingCall
from claw_acp.schema.invalid import parse
from claw_acp.schema.v2.permission import RequestPermissionResponse, SelectedPermissionOutcome
from claw_acp.schema.v2.prompt import CancelSessionNotification, PromptRequest
from claw_acp.telemetry.context import log_context
from claw_acp.telemetry.trace_context import trace_from


async def prompt(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Run a turn. The answer is sent in the middle of it; its end is sent as a state.

    Raises:
        RpcError: -32800, it was cancelled, or the session closed, before it became part of the conversation.
        ClawError: It was refused.
    """
    request = parse(PromptRequest, params, method=call.method)
    view = session_view(connection, request.session_id)
    parts = prompt_parts(request.prompt)
    view.can_ask = True
    view.live.enter(view)
    ports = ClientPorts(
        workspace=view.live.workspace,
        asker=SharedAsker(view.live),
        client=view.name,
        on_accepted=named_prompt(request.meta, _answered(call)),
    )
    with log_context(session=request.session_id), trace_from(request.meta), anyio.CancelScope() as scope:
        call.on_cancel = scope.cancel
        engine = await connection.engine()
        try:
            turn = engine.turns.start(view.live, parts, ports=ports, steer=wants_to_steer(request.meta), place=view)
            call.on_gone = lambda: scope.cancel() if turn.goes_on_without(view) else turn.cancel()
            call.on_cancel = turn.cancel
            await turn.outcome()
        except ClawError as error:
            await view.settle(error.message, code=error.code)
            raise
        except Exception:
            await view.settle("an unexpected error; the log has it")
            raise
    await view.settle()
    if not call.answered:
        raise RpcError(REQUEST_CANCELLED, f"{call.method} was cancelled before it became part of the conversation")
    return None


async def cancel(connection: Connection, params: JsonObject) -> None:
    """Cancel the session's running turn and those that wait, if any."""
    request = parse(CancelSessionNotification, params, method="session/cancel")
    connection.view(request.session_id).live.session.cancel()


def _answered(call: IncomingCall) -> Callable[[str], None]:
    def on_accepted(message_id: str) -> None:
        call.answer({"messageId": message_id})

    return on_accepted


class AskerV2(ClientAsker):
    """States the action and the reason, and shows all of it."""

    def request(self, question: PermissionQuestion) -> JsonObject:
        """See `ClientAsker`."""
        command = question.command
        why = "\n\n".join(text for text in (question.reason, question.stored) if text)
        if command is None:
            call = tool_call(question, [tool_content(item) for item in question.content])
            subject: JsonObject = {"type": "tool_call", "toolCall": call}
            return {"title": question.title, "description": why, "subject": subject}
        subject = {"type": "command", "command": command.line, "cwd": command.cwd, "toolCallId": question.call_id}
        return {"title": f"Run: {question.title}", "description": why, "subject": subject}

    def chosen(self, answer: JsonValue) -> str | None:
        """See `ClientAsker`."""
        outcome = parse(RequestPermissionResponse, answer, method=METHOD).outcome
        return outcome.option_id if isinstance(outcome, SelectedPermissionOutcome) else None
