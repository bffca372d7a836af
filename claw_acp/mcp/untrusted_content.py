"""Answers of servers, marked for models as untrusted text; people see them unmarked."""

from collections.abc import Sequence

from claw_acp.contracts.tool import ToolResult
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ToolError
from claw_acp.core.events import PartContent
from claw_acp.core.messages import ContentPart, LinkPart, ResourcePart, TextPart
from claw_acp.core.untrusted import untrusted
from claw_acp.core.value import replace


def marked(result: ToolResult, *, source: str, clock: Clock) -> ToolResult:
    """The result with its texts marked for the model."""
    shown = tuple(PartContent(part=part) for part in result.parts) if result.content is None else result.content
    return replace(result, parts=marked_parts(result.parts, source=source, clock=clock), content=shown)


def marked_failure(error: ToolError, *, source: str, clock: Clock) -> ToolResult:
    """A failure as a result: the server's text about it is untrusted, too."""
    return marked(ToolResult(parts=(TextPart(text=error.message),), failed=True), source=source, clock=clock)


def marked_parts(parts: Sequence[ContentPart], *, source: str, clock: Clock) -> tuple[ContentPart, ...]:
    """Parts with their texts between marks that only we can have made."""
    token = clock.random_bytes(8).hex()
    return tuple(_marked(part, source=source, token=token) for part in parts)


def _marked(part: ContentPart, *, source: str, token: str) -> ContentPart:
    match part:
        case TextPart(text=text):
            return TextPart(text=untrusted(text, source=source, token=token))
        case ResourcePart(text=str(text)):
            return replace(part, text=untrusted(text, source=source, token=token))
        case LinkPart():
            about = f": {part.description}" if part.description else ""
            text = f"Link to {part.title or part.name} <{part.uri}>{about}"
            return TextPart(text=untrusted(text, source=source, token=token))
        case _:
            return part
