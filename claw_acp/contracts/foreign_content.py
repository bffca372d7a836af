"""Calls of tools that are not ours: arguments as people see them, and answers marked for models as untrusted text."""

import hashlib
import json
from collections.abc import Sequence
from typing import Final

from claw_acp.contracts.tool import ToolResult
from claw_acp.core.clock import Clock
from claw_acp.core.errors import NoAnswer, ToolError
from claw_acp.core.events import PartContent, ToolContent
from claw_acp.core.json_value import JsonObject
from claw_acp.core.markdown import code_block
from claw_acp.core.messages import ContentPart, LinkPart, ResourcePart, TextPart
from claw_acp.core.printable import plain_lines
from claw_acp.core.untrusted import untrusted
from claw_acp.core.value import replace

MAX_SHOWN: Final = 32_768  # characters of the arguments of a call that is asked about


def shown_arguments(arguments: JsonObject) -> tuple[ToolContent, ...]:
    """The arguments of a call, for the person who is asked about it: its effect elsewhere cannot be shown.

    Raises:
        ToolError: They are too long to be looked at.
    """
    if not arguments:
        return ()
    text = json.dumps(arguments, indent=2, ensure_ascii=False)
    if len(text) > MAX_SHOWN:
        raise ToolError(
            f"The arguments have {len(text):,} characters. A person must agree to them, and is shown at most "
            f"{MAX_SHOWN:,}. Send less at once."
        )
    return (PartContent(part=TextPart(text=code_block(plain_lines(text), language="json"))),)


def digest_of(*, title: str | None, description: str, schema: JsonObject, reads_only: bool, destroys: bool) -> str:
    """The digest of all that a foreign tool says of itself."""
    said = json.dumps([title, description, schema, reads_only, destroys], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


def marked(result: ToolResult, *, source: str, clock: Clock) -> ToolResult:
    """The result with its texts marked for the model."""
    shown = tuple(PartContent(part=part) for part in result.parts) if result.content is None else result.content
    parts = marked_parts(result.parts, source=source, clock=clock)
    return replace(result, parts=parts, content=shown, source=source)


def marked_failure(error: ToolError, *, source: str, clock: Clock) -> ToolResult:
    """A failure as a result: the server's text about it is untrusted, too."""
    failed = ToolResult(parts=(TextPart(text=error.message),), failed=True)
    if isinstance(error, NoAnswer):
        return replace(failed, unanswered=True)
    return marked(failed, source=source, clock=clock)


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
