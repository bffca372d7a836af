"""`<think>…</think>` at the beginning of an answer is thinking; anywhere else it is what the model says."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from claw_acp.contracts.provider import StreamEvent, TextChunk, ThoughtChunk
from claw_acp.core.errors import EmptyAnswer
from claw_acp.core.messages import Reasoning
from claw_acp.providers.openai.stream import OpenAIStream
from claw_acp.providers.openai.think_tags import ThinkTags
from tests.support.fixed_clock import FixedClock
from tests.support.servers.model_replies import Json


def apart(pieces: Sequence[str]) -> tuple[str, str]:
    tags = ThinkTags()
    told = [tags.feed(piece) if not tags.done else ("", piece) for piece in pieces]
    if not tags.done:
        told.append(tags.finish())
    return "".join(thought for thought, _ in told), "".join(text for _, text in told)


ANSWERS = [
    ("<think>hm</think>x", "hm", "x"),
    ("\n<think>\nhm\n</think>\n\nx\n", "\nhm\n", "x\n"),
    ("<think></think>x", "", "x"),
    ("<think>hm, never closed </thin", "hm, never closed </thin", ""),
    ("<think>a</think>b<think>c</think>", "a", "b<think>c</think>"),
    ("<think>a <think> b</think>c", "a <think> b", "c"),
    ("<think>a</think></think>", "a", "</think>"),
    ("say <think>x</think>", "", "say <think>x</think>"),
    ("<thin", "", "<thin"),
    ("<thinking>x", "", "<thinking>x"),
    (" \n x", "", " \n x"),
    (" \n", "", " \n"),
    ("", "", ""),
]


@pytest.mark.parametrize(("answer", "thought", "text"), ANSWERS)
def test_thinking_and_text_are_told_apart_wherever_the_answer_is_cut(answer: str, thought: str, text: str) -> None:
    assert apart([answer]) == (thought, text)
    assert apart(list(answer)) == (thought, text)
    for cut in range(len(answer)):
        assert apart([answer[:cut], answer[cut:]]) == (thought, text)


PIECES = st.sampled_from(["<think>", "</think>", "<", "think>", "</thi", "nk>", " ", "\n", "a", "ż"])


@given(st.lists(PIECES, max_size=20))
@example(["<think>", "a", "</thi", "nk>", "a"])
def test_how_an_answer_is_cut_never_matters_and_text_is_never_lost(pieces: list[str]) -> None:
    whole = "".join(pieces)
    thought, text = apart([whole])
    assert apart(pieces) == (thought, text)
    assert apart(list(whole)) == (thought, text)
    if whole.lstrip().startswith("<think>"):
        inside, _, after = whole.lstrip().removeprefix("<think>").partition("</think>")
        assert (thought, text) == (inside, after.lstrip())
    else:
        assert (thought, text) == ("", whole)


def stream() -> OpenAIStream:
    return OpenAIStream(provider="acme", model="m", clock=FixedClock())


def read(parser: OpenAIStream, *deltas: Json, finish: str = "stop") -> list[StreamEvent]:
    chunks: list[Json] = [{"choices": [{"delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({"choices": [{"delta": {}, "finish_reason": finish}]})
    return [event for chunk in chunks for event in parser.feed(f"data: {json.dumps(chunk)}\n\n".encode())]


def test_a_stream_shows_thinking_as_it_comes_and_the_text_after_it() -> None:
    parser = stream()
    events = read(parser, {"content": "<thi"}, {"content": "nk>h"}, {"content": "m</think>\n"}, {"content": "\nx"})
    assert events == [ThoughtChunk(text="h"), ThoughtChunk(text="m"), TextChunk(text="x")]
    response = parser.response()
    assert (response.text, response.reasoning) == ("x", (Reasoning(text="hm"),))


def test_what_was_held_back_comes_at_the_end() -> None:
    parser = stream()
    assert read(parser, {"content": "\n<thin"}) == [TextChunk(text="\n<thin")]
    assert parser.response().text == "\n<thin"


def test_thinking_that_was_never_closed_is_no_answer() -> None:
    parser = stream()
    assert read(parser, {"content": "<think>hm"}, {"content": " hm<"})[-1] == ThoughtChunk(text="<")
    with pytest.raises(EmptyAnswer):
        parser.response()


def test_a_service_that_takes_thinking_apart_leaves_no_tags() -> None:
    parser = stream()
    events = read(parser, {"reasoning_content": "hm"}, {"content": "<think> is a tag"})
    assert events == [ThoughtChunk(text="hm"), TextChunk(text="<think> is a tag")]


def test_blanks_before_thinking_are_not_lost() -> None:
    parser = stream()
    read(parser, {"content": "\n"}, {"reasoning_content": "hm"}, {"content": "x"})
    assert parser.response().text == "\nx"


def test_after_the_first_visible_character_nothing_is_looked_for() -> None:
    parser = stream()
    read(parser, {"content": "x"}, {"content": "<think>y</think>"})
    assert parser.response().text == "x<think>y</think>"
    assert vars(parser)["_tags"] is None
