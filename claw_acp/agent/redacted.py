"""Tool results without credentials: what the model, the client and the journal see."""

from collections.abc import Mapping, Sequence

from claw_acp.core.events import CommandContent, PartContent, ToolContent
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import ContentPart, TextPart
from claw_acp.core.redaction import Redactor
from claw_acp.core.value import replace


def redacted_parts(parts: Sequence[ContentPart], *, redactor: Redactor) -> tuple[ContentPart, ...]:
    """Content parts with their text cleaned."""
    return tuple(replace(part, text=redactor(part.text)) if isinstance(part, TextPart) else part for part in parts)


def redacted_content(content: Sequence[ToolContent], *, redactor: Redactor) -> tuple[ToolContent, ...]:
    """What a tool call shows, cleaned. A diff stays as it is: the person must see exactly what will be written."""
    return tuple(_redacted(item, redactor=redactor) for item in content)


def _redacted(item: ToolContent, *, redactor: Redactor) -> ToolContent:
    match item:
        case PartContent(part=part):
            return PartContent(part=redacted_parts((part,), redactor=redactor)[0])
        case CommandContent():
            return redacted_command(item, redactor=redactor)
        case _:
            return item


def redacted_command(picture: CommandContent, *, redactor: Redactor) -> CommandContent:
    """A picture of a program, cleaned."""
    return replace(picture, line=redactor(picture.line), text=redactor(picture.text))


def redacted_json(value: JsonValue, *, redactor: Redactor) -> JsonValue:
    """A JSON value with all its texts cleaned; keys stay."""
    if isinstance(value, str):
        return redactor(value)
    if isinstance(value, Mapping):
        return {key: redacted_json(item, redactor=redactor) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [redacted_json(item, redactor=redactor) for item in value]
    return value
