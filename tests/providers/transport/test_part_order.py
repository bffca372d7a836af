"""Marks of an answer: whatever they say, nothing of it is lost or told twice."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.core.messages import Message, Reasoning, ToolCall
from claw_acp.providers.transport.part_order import Mark, MarkedText, pieces_in_order

numbers = st.integers(min_value=-3, max_value=12)
blocks = st.lists(st.tuples(numbers, numbers, numbers), max_size=5)


def marked(*place: int) -> Reasoning:
    return Reasoning(text="", signature=json.dumps({"place": place, "a": 1}), origin="x")


@settings(max_examples=150)
@given(st.text(max_size=9), st.integers(min_value=0, max_value=4), blocks)
def test_text_and_calls_are_told_once_wherever_the_marks_are(
    text: str, count: int, places: list[tuple[int, ...]]
) -> None:
    calls = tuple(ToolCall(id=str(number), name="f", arguments="{}") for number in range(count))
    message = Message.assistant(text, tool_calls=calls, reasoning=tuple(marked(*place) for place in places))
    pieces = list(pieces_in_order(message, text=text, origin="x"))
    said = [
        piece.text if isinstance(piece, MarkedText) else piece for piece in pieces if not isinstance(piece, ToolCall)
    ]
    assert "".join(said) == text
    assert tuple(piece for piece in pieces if isinstance(piece, ToolCall)) == calls
    assert sum(isinstance(piece, MarkedText) for piece in pieces) == len(places)


def test_a_mark_is_read_as_it_was_written() -> None:
    mark = Mark(start=0, end=2, calls=1, kept={"phase": "ż"}, thought="hm")
    block = Reasoning(text="hm", signature=mark.written(), origin="x")
    call = ToolCall(id="c", name="f", arguments="{}")
    message = Message.assistant("abc", tool_calls=(call,), reasoning=(block,))
    assert list(pieces_in_order(message, text="abc", origin="x")) == [call, MarkedText(mark=mark, text="ab"), "c"]
    assert list(pieces_in_order(message, text="abc", origin="y")) == ["abc", call]
