"""The order of the parts of an answer, for families that need it back.

A message has one text and then its calls. Signed or labelled parts may be anywhere between and within them, so each is
stored as a block of `Reasoning` whose opaque part is a JSON object of its place and of the vendor's data. Blocks are in
the order of arrival.
"""

import json
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import Message, Reasoning, ToolCall
from claw_acp.core.value import Value


class Mark(Value):
    """A part with its place.

    Attributes:
        start: Characters of the message's text before it.
        end: Characters of the text up to its end; `start` if it has no text.
        calls: Tool calls before it.
        kept: The data for the vendor, in the form of its family.
        thought: The thinking of its block.
    """

    start: int
    end: int
    calls: int
    kept: JsonObject
    thought: str = ""

    def written(self) -> str:
        """The opaque part of its block of reasoning."""
        place = [self.start, self.end, self.calls]
        return json.dumps({"place": place, **self.kept}, ensure_ascii=False, separators=(",", ":"))


class MarkedText(Value):
    """A mark with its part of the text, which may be empty."""

    mark: Mark
    text: str


Piece: TypeAlias = str | ToolCall | MarkedText


def pieces_in_order(message: Message, *, text: str, origin: str) -> Iterator[Piece]:
    """A model's answer in its original order: unmarked text, calls, and the parts that blocks of `origin` mark."""
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
