"""The order of the parts of an answer, for families that want it back.

A message has one text and then its calls. What a vendor signs, or labels, may stand anywhere between and within them,
so each such thing is kept as a block of `Reasoning` that says where: its opaque part is a JSON object of the place and
of what the vendor wants back. Blocks stand in the order in which their things came.
"""

import json
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import Message, Reasoning, ToolCall
from claw_acp.core.value import Value


class Mark(Value):
    """A thing at its place.

    Attributes:
        start: Characters of the message's text before it.
        end: Characters of the text up to where it ends; `start` for what has no part in the text.
        calls: Tool calls before it.
        kept: What the vendor wants back, in the words of its family.
        thought: The thinking of its block.
    """

    start: int
    end: int
    calls: int
    kept: JsonObject
    thought: str = ""

    def written(self) -> str:
        """The opaque part of a block of reasoning."""
        place = [self.start, self.end, self.calls]
        return json.dumps({"place": place, **self.kept}, ensure_ascii=False, separators=(",", ":"))


class MarkedText(Value):
    """A mark with its part of the text, which may be empty."""

    mark: Mark
    text: str


Piece: TypeAlias = str | ToolCall | MarkedText


def pieces_in_order(message: Message, *, text: str, origin: str) -> Iterator[Piece]:
    """An answer of a model as it came: unmarked text, calls, and what blocks of `origin` mark."""
    at = given = 0
    calls = message.tool_calls
    for mark in _marks(message.reasoning, origin=origin):
        if at < mark.start:
            yield text[at : mark.start]
            at = mark.start
        if given < mark.calls:
            yield from calls[given : mark.calls]
            given = mark.calls
        yield MarkedText(mark=mark, text=text[max(at, mark.start) : mark.end])
        at = max(at, mark.end)
    if at < len(text):
        yield text[at:]
    yield from calls[given:]


def _marks(blocks: Sequence[Reasoning], *, origin: str) -> Iterator[Mark]:
    for block in blocks:
        if block.origin == origin and block.signature is not None:
            mark = _mark(block)
            if mark is not None:
                yield mark


def _mark(block: Reasoning) -> Mark | None:
    try:
        value: JsonValue = json.loads(block.signature or "")
    except (ValueError, RecursionError):
        return None
    match value:
        case {"place": [int(start), int(end), int(calls)], **kept}:
            return Mark(start=max(start, 0), end=max(end, 0), calls=max(calls, 0), kept=kept, thought=block.text)
        case _:
            return None
