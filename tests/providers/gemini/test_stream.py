"""The parser of Google's Gemini API: whole, cut at every byte, and broken.

Answers as in https://ai.google.dev/api/generate-content, signatures as in
https://ai.google.dev/gemini-api/docs/thought-signatures.
"""

import json
from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.contracts.provider import ChatResponse, StreamEvent, TextChunk, ThoughtChunk
from claw_acp.core.errors import (
    EmptyAnswer,
    MalformedReply,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
    RequestRejected,
    StreamInterrupted,
)
from claw_acp.core.messages import Message, ToolCall, Usage
from claw_acp.providers.gemini.request import generate_content
from claw_acp.providers.gemini.stream import GeminiStream
from tests.providers.conversation import asking
from tests.providers.parsing import CALL, OTHER, same_wherever_cut
from tests.providers.responses.test_stream import kept
from tests.support.fixed_clock import FixedClock
from tests.support.servers.gemini_replies import event, gemini_events
from tests.support.servers.model_replies import Json, Say, Tokens


def parser() -> GeminiStream:
    return GeminiStream(provider="acme", model="m", clock=FixedClock(), secrets=("hunter2hunter2",))


def parse(reads: Sequence[bytes]) -> tuple[list[StreamEvent], ChatResponse]:
    """Events and the response, after checking that the chunks concatenate to it."""
    stream = parser()
    events = [found for read in reads for found in stream.feed(read)]
    response = stream.response()
    assert "".join(found.text for found in events if isinstance(found, TextChunk)) == response.text
    closed = kept(events)
    assert response.reasoning[: len(closed)] == closed
    thoughts = "".join(found.text for found in events if isinstance(found, ThoughtChunk))
    assert "".join(block.text for block in response.reasoning) == thoughts
    return events, response


def text(said: str, **more: Json) -> Json:
    return {"text": said, **more}


ANSWERS = [
    pytest.param(Say(text=("Hel", "lo 🦀", "\n")), id="text"),
    pytest.param(Say(thinking=("Let me ", "see."), text=("Yes.",)), id="thinking"),
    pytest.param(Say(calls=(CALL,)), id="a call"),
    pytest.param(Say(thinking=("hm",), text=("Both:",), calls=(CALL, OTHER)), id="text and parallel calls"),
    pytest.param(Say(text=("cut",), stop="MAX_TOKENS"), id="out of tokens"),
]


@pytest.mark.parametrize("say", ANSWERS)
def test_an_answer_is_the_same_wherever_its_bytes_are_cut(say: Say) -> None:
    response = same_wherever_cut(b"".join(gemini_events(say)), parse)[1]
    assert response.text == "".join(say.text)
    assert "".join(block.text for block in response.reasoning) == "".join(say.thinking)
    assert [(call.id, call.name, json.loads(call.arguments)) for call in response.tool_calls] == [
        (call.id, call.name, call.arguments) for call in say.calls
    ]
    assert response.stop == ("max_tokens" if say.stop else "tool_calls" if say.calls else "end")


def test_what_a_read_completes_is_yielded_from_that_read() -> None:
    stream = parser()
    assert [stream.feed(read) for read in gemini_events(Say(text=("a", "b")))] == [
        [TextChunk(text="a")],
        [TextChunk(text="b")],
    ]


def test_usage_has_thoughts_and_what_was_cached() -> None:
    tokens = Tokens(input=10, output=7, cache_read=100, thought=3)
    assert parse(gemini_events(Say(text=("x",), usage=tokens)))[1].usage == Usage(
        input_tokens=110, output_tokens=7, cached_read_tokens=100, thought_tokens=3
    )


def test_the_last_usage_counts() -> None:
    reads = [event(text("x"), usage=Tokens(output=1)), event(text("y"), finish="STOP", usage=Tokens(output=9))]
    assert parse(reads)[1].usage == Usage(input_tokens=10, output_tokens=9)


STOPS = [
    ("STOP", "end"),
    ("MAX_TOKENS", "max_tokens"),
    ("SAFETY", "refusal"),
    ("RECITATION", "refusal"),
    ("LANGUAGE", "refusal"),
    ("BLOCKLIST", "refusal"),
    ("PROHIBITED_CONTENT", "refusal"),
    ("SPII", "refusal"),
    ("IMAGE_SAFETY", "refusal"),
    ("IMAGE_PROHIBITED_CONTENT", "refusal"),
    ("IMAGE_RECITATION", "refusal"),
    ("OTHER", "end"),
    ("TOO_MANY_TOOL_CALLS", "end"),
    ("FINISH_REASON_UNSPECIFIED", "end"),
    ("SOMETHING_NEW", "end"),
]


@pytest.mark.parametrize(("word", "stop"), STOPS)
def test_ends_are_translated(word: str, stop: str) -> None:
    assert parse(gemini_events(Say(text=("x",), stop=word)))[1].stop == stop
    assert parse(gemini_events(Say(calls=(CALL,), stop=word)))[1].stop == ("tool_calls" if stop == "end" else stop)


@pytest.mark.parametrize(("word", "stop"), STOPS)
def test_nothing_to_say_is_an_error_unless_the_model_was_stopped(word: str, stop: str) -> None:
    stream = parser()
    for read in gemini_events(Say(thinking=("hm",), stop=word, usage=Tokens(input=3, output=2))):
        stream.feed(read)
    if stop == "end":
        with pytest.raises(EmptyAnswer, match="acme answered with neither text nor tool calls"):
            stream.response()
    else:
        assert stream.response().stop == stop
    assert stream.usage == Usage(input_tokens=3, output_tokens=2)


@pytest.mark.parametrize("word", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"])
def test_calls_nobody_can_read_are_asked_for_again(word: str) -> None:
    for said in ((), (text("I will"),)):
        with pytest.raises(StreamInterrupted, match=f"the model wrote an unreadable tool call .{word}") as caught:
            parse([event(*said, finish=word)])
        assert caught.value.retryable
    assert parse([event({"functionCall": {"name": "f"}}), event(finish=word)])[1].stop == "tool_calls"


def test_a_conversation_without_its_signatures_is_not_asked_for_again() -> None:
    with pytest.raises(RequestRejected, match="Start a new session"):
        parse([event(finish="MISSING_THOUGHT_SIGNATURE")])


@pytest.mark.parametrize("reason", ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SOMETHING_NEW"])
def test_a_prompt_that_is_blocked_is_a_refusal(reason: str) -> None:
    feedback: Json = {"promptFeedback": {"blockReason": reason}, "usageMetadata": {"promptTokenCount": 4}}
    response = parse([f"data: {json.dumps(feedback)}\n\n".encode()])[1]
    assert (response.text, response.stop, response.usage) == ("", "refusal", Usage(input_tokens=4))


# ------------------------------------------------------------------ signatures


def test_the_signature_of_a_call_is_kept_with_it() -> None:
    parts: list[Json] = [
        {"functionCall": {"name": "f", "args": {"a": 1}, "id": "v1"}, "thoughtSignature": "S"},
        {"functionCall": {"name": "g"}},
    ]
    first, second = parse([event(*parts, finish="STOP")])[1].tool_calls
    assert first == ToolCall(
        id="v1", name="f", arguments='{"a": 1}', extra={"gemini": {"id": "v1", "thoughtSignature": "S"}}
    )
    assert (second.arguments, second.extra) == ("{}", None)
    assert second.id.startswith("call_")


SIGNED: list[list[Json]] = [
    [text("Hi "), text("there", thoughtSignature="A")],
    [text("Hi there"), text("", thoughtSignature="A")],
    [text("Hm.", thought=True, thoughtSignature="T"), text("Hi there")],
    [text("x", thoughtSignature="A"), {"functionCall": {"id": "v", "name": "f", "args": {}}, "thoughtSignature": "S"}],
    [text("a", thoughtSignature="A"), text("b", thoughtSignature="B"), text("c")],
]


@pytest.mark.parametrize("parts", SIGNED)
def test_signed_parts_come_back_as_they_were(parts: list[Json]) -> None:
    response = parse([*(event(part) for part in parts), event(finish="STOP")])[1]
    said = Message.assistant(response.text, tool_calls=response.tool_calls, reasoning=response.reasoning)
    contents = generate_content(asking(Message.user("x"), said), provider="gemini")["contents"]
    assert json.loads(json.dumps(contents))[1] == {"role": "model", "parts": parts}


def test_what_was_signed_is_not_mixed_with_what_was_not() -> None:
    reads = [event(text("a", thought=True)), event(text("b", thought=True, thoughtSignature="T"))]
    blocks = parse([*reads, event(text("x"), finish="STOP")])[1].reasoning
    assert [(block.text, block.signature is None) for block in blocks] == [("a", True), ("b", False)]


# ------------------------------------------------------------------ what goes wrong


def test_a_stream_that_ends_before_the_answer_is_interrupted() -> None:
    for reads in ([], gemini_events(Say(text=("x", "y")))[:-1], [event(text("x"))], [event(text("x"))[:-4]]):
        with pytest.raises(StreamInterrupted, match="acme ended the stream in the middle of its answer"):
            parse(reads)


@pytest.mark.parametrize("garbage", [b"data: {nope\n\n", b"data: [1]\n\n", b"data: \n\n", b"data: {}}\n\n"])
def test_events_that_are_no_json_objects_are_malformed(garbage: bytes) -> None:
    with pytest.raises(MalformedReply, match="acme sent an event that is not"):
        parse([garbage])


def test_a_call_without_a_name_is_malformed() -> None:
    with pytest.raises(MalformedReply, match="a tool call without a name"):
        parse([event({"functionCall": {"args": {}}}, finish="STOP")])


def test_parts_of_the_vendors_own_tools_are_read_over() -> None:
    parts: list[Json] = [{"executableCode": {"code": "1"}}, {"inlineData": {"data": "x"}}, text("x")]
    assert parse([event(*parts, finish="STOP")])[1].text == "x"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 503, "message": "Sorry", "status": "UNAVAILABLE"}, ProviderUnavailable),
        ({"code": 429, "message": "Sorry, hunter2hunter2", "status": "RESOURCE_EXHAUSTED"}, RateLimited),
        ({"code": 400, "message": "Sorry", "status": "INVALID_ARGUMENT"}, RequestRejected),
        ({"code": 500, "message": "Sorry", "status": "INTERNAL"}, ProviderUnavailable),
        ({"message": "Sorry"}, ProviderUnavailable),
    ],
)
def test_an_error_inside_the_stream_is_the_error_it_means(error: Json, kind: type[ProviderError]) -> None:
    with pytest.raises(kind, match="Sorry") as caught:
        parse([event(text("x")), f"data: {json.dumps({'error': error})}\n\n".encode()])
    assert "hunter2" not in str(caught.value)


WORDS = ["candidates", "content", "parts", "text", "thought", "functionCall", "name", "args", "usageMetadata"]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(WORDS), json_values, max_size=4), max_size=4))
def test_events_of_wrong_types_leave_as_our_own_errors(told: list[dict[str, Json]]) -> None:
    with suppress(ProviderError):
        parse([*(f"data: {json.dumps(piece)}\n\n".encode() for piece in told), event(finish="STOP")])
