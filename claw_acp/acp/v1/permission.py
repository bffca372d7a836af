"""Permission requests of protocol 1."""

from claw_acp.acp.permission import METHOD, ClientAsker
from claw_acp.acp.updates import location
from claw_acp.acp.v1.updates import tool_content
from claw_acp.contracts.questions import PermissionQuestion
from claw_acp.core.events import PartContent
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import TextPart
from claw_acp.schema.invalid import parse
from claw_acp.schema.permission import RequestPermissionResponse, SelectedPermissionOutcome


class EditorAsker(ClientAsker):
    """Shows the tool call, and the reason for the question in it."""

    def request(self, question: PermissionQuestion) -> JsonObject:
        """See `ClientAsker`."""
        texts = [PartContent(part=TextPart(text=text)) for text in (question.reason, question.stored) if text]
        call: JsonObject = {
            "toolCallId": question.call_id,
            "title": question.title,
            "kind": question.kind,
            "status": "pending",
            "content": [tool_content(item) for item in (*question.content, *texts)],
            "locations": [location(place) for place in question.locations],
        } | ({} if question.raw_input is None else {"rawInput": question.raw_input})
        return {"toolCall": call}

    def chosen(self, answer: JsonValue) -> str | None:
        """See `ClientAsker`."""
        outcome = parse(RequestPermissionResponse, answer, method=METHOD).outcome
        return outcome.option_id if isinstance(outcome, SelectedPermissionOutcome) else None
