"""Tool results before they are stored: within limits and, from foreign code, with valid types.

A value of the wrong type would surface later, in the model's provider, a client or the next process that reads the
journal. So foreign values pass through the journal's encoding once: the result is what that can hold.
"""

import json
from collections.abc import Sequence
from typing import Final, TypeVar

from claw_acp.contracts.bounded import MOST_PARTS, MOST_TEXT, bounded_parts
from claw_acp.contracts.tool import ToolResult
from claw_acp.core.events import Event, PartContent, ToolCallChanged, ToolContent
from claw_acp.core.messages import TextPart
from claw_acp.core.value import replace
from claw_acp.session.codec import decode, encode

MOST_RAW: Final = 256 * 1024  # characters of a stranger's structured output, as JSON

_E = TypeVar("_E", bound=Event)


def bounded_result(result: ToolResult, *, most_text: int = MOST_TEXT) -> ToolResult:
    """The result, cut to the limits; omissions are marked. `most_text` bounds the text for the model."""
    content = None if result.content is None else bounded_content(result.content)
    return replace(result, parts=bounded_parts(result.parts, most_text=most_text), content=content)


def bounded_content(content: Sequence[ToolContent]) -> tuple[ToolContent, ...]:
    """The content of a call, cut to the limits. Diffs stay whole: people must see exactly what is written."""
    texts = iter(bounded_parts(item.part for item in content if isinstance(item, PartContent)))
    shown: list[ToolContent] = []
    for item in content[:MOST_PARTS]:
        if not isinstance(item, PartContent):
            shown.append(item)
        elif (part := next(texts, None)) is not None:
            shown.append(PartContent(part=part))
    return (*shown, *(PartContent(part=part) for part in texts))


def failed_result(reason: str, *, shown: str = "") -> ToolResult:
    """A failed result for the model; people are shown the same unless `shown` is given."""
    content = (PartContent(part=TextPart(text=shown)),) if shown else None
    return ToolResult(parts=bounded_parts((TextPart(text=reason),)), content=content, failed=True)


def broken_off(reason: str, known: ToolResult | None) -> ToolResult:
    """The result of an interrupted call: the reason, and what it did until then."""
    if known is None:
        return failed_result(reason)
    content = (*(known.content or ()), PartContent(part=TextPart(text=reason)))
    return replace(known, parts=(TextPart(text=f"{reason} Until then:\n\n"), *known.parts), content=content)


def sound_result(result: ToolResult) -> ToolResult:
    """A foreign result with every field of its type.

    Raises:
        TypeError, ValueError: It is no valid result; the text says why.
    """
    if not isinstance(result, ToolResult):  # pyright: ignore[reportUnnecessaryIsInstance] - nobody checks strangers
        raise TypeError(f"a tool returns a ToolResult, not {type(result).__name__}")
    near = bounded_result(result)
    known = sound(ToolCallChanged(output=tuple(near.parts), content=near.content, raw_output=near.raw))
    raw = known.raw_output if len(json.dumps(known.raw_output)) <= MOST_RAW else None
    return ToolResult(parts=known.output or (), content=known.content, raw=raw, failed=bool(result.failed))


def sound(event: _E) -> _E:
    """An event with foreign values, with every field of its type.

    Raises:
        TypeError, ValueError: It is not valid.
    """
    try:
        kind, body = encode(event)
    except (KeyError, AttributeError) as error:  # a content part, say, that is something else
        raise TypeError(f"a value of the wrong type: {error}") from error
    known = decode(kind, body, session=event.session, seq=event.seq, item=event.item)
    if not isinstance(known, type(event)):
        raise TypeError("a field holds a value of the wrong type")
    return known
