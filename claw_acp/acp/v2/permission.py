"""Permission requests of protocol 2."""

from claw_acp.acp.permission import METHOD, ClientAsker
from claw_acp.acp.updates import location
from claw_acp.acp.v2.tool_calls import tool_content
from claw_acp.contracts.questions import PermissionQuestion
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.schema.invalid import parse
from claw_acp.schema.v2.permission import RequestPermissionResponse, SelectedPermissionOutcome


class AskerV2(ClientAsker):
    """States the action and the reason, and shows all of it."""

    def request(self, question: PermissionQuestion) -> JsonObject:
        """See `ClientAsker`."""
        command = question.command
        why = "\n\n".join(text for text in (question.reason, question.stored) if text)
        if command is None:
            call: JsonObject = {
                "toolCallId": question.call_id,
                "title": question.title,
                "kind": question.kind,
                "status": "pending",
                "content": [tool_content(item) for item in question.content],
                "locations": [location(place) for place in question.locations],
            } | ({} if question.raw_input is None else {"rawInput": question.raw_input})
            subject: JsonObject = {"type": "tool_call", "toolCall": call}
            return {"title": question.title, "description": why, "subject": subject}
        subject = {"type": "command", "command": command.line, "cwd": command.cwd, "toolCallId": question.call_id}
        return {"title": f"Run: {question.title}", "description": why, "subject": subject}

    def chosen(self, answer: JsonValue) -> str | None:
        """See `ClientAsker`."""
        outcome = parse(RequestPermissionResponse, answer, method=METHOD).outcome
        return outcome.option_id if isinstance(outcome, SelectedPermissionOutcome) else None
