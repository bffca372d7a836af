"""Bedrock's stream: whole, cut at every byte, and broken.

Shapes: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html
"""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.contracts.provider import ChatResponse, TextChunk, ThoughtChunk
from claw_acp.core.errors import (
    ContextTooLong,
    EmptyAnswer,
    MalformedReply,
    ModelNotAllowed,
    ModelNotFound,
    ProviderAuthFailed,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
    RequestRejected,
    StreamInterrupted,
    ToolsUnsupported,
)
from claw_acp.core.messages import Reasoning, Usage
from claw_acp.providers.bedrock.stream import BedrockStream
from tests.providers.parsing import CALL, OTHER, read, same_wherever_cut
from tests.support.servers.aws_server import event, exception, frames
from tests.support.servers.event_stream import encoded
from tests.support.servers.model_replies import Tokens


def parse(reads: Sequence[bytes]) -> tuple[str, str, ChatResponse]:
    return read(BedrockStream(provider="acme", model="m", secrets=("hunter2hunter2",)), reads)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(frames("Hel", "lo 🦀", "\n"), id="text"),
        pytest.param(frames("Yes.", thinking=("Let me ", "see.")), id="thinking"),
        pytest.param(frames("Both:", calls=(CALL, OTHER)), id="parallel calls"),
        pytest.param(frames("cut", stop="max_tokens"), id="out of tokens"),
    ],
)
def test_an_answer_is_the_same_wherever_its_bytes_are_cut(answer: list[bytes]) -> None:
    same_wherever_cut(b"".join(answer), parse)


def test_text_thinking_calls_and_stop_are_all_there() -> None:
    _, thinking, response = parse(frames("Look", "ing.", thinking=("h", "m"), calls=(CALL, OTHER)))
    assert (response.text, thinking, response.stop) == ("Looking.", "hm", "tool_calls")
    assert [(call.id, call.name, call.arguments) for call in response.tool_calls] == [
        ("call_1", "read_file", CALL.json),
        ("call_2", "list_dir", "{}"),
    ]
    assert response.reasoning == (Reasoning(text="hm", signature="sig", origin="bedrock"),)


def test_thinking_is_closed_by_its_signature_before_the_text() -> None:
    stream = BedrockStream(provider="acme", model="m")
    chunks = [event for read in frames("x", thinking=("a", "b")) for event in stream.feed(read)]
    assert chunks == [
        ThoughtChunk(text="a"),
        ThoughtChunk(text="b"),
        ThoughtChunk(text="", signature="sig", origin="bedrock"),
        TextChunk(text="x"),
    ]


def test_thinking_without_a_signature_and_redacted_thinking_are_kept_apart() -> None:
    assert parse(frames("x", thinking=("a",), signature=""))[2].reasoning == (Reasoning(text="a"),)
    assert parse(frames("x", redacted="zzz="))[2].reasoning == (Reasoning(text="", redacted="zzz=", origin="bedrock"),)


def test_usage_counts_everything_sent_cached_or_not() -> None:
    """https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html: inputTokens are the uncached ones."""
    tokens = Tokens(input=10, output=7, cache_read=100, cache_write=20)
    assert parse(frames("x", usage=tokens))[2].usage == Usage(
        input_tokens=130, output_tokens=7, cached_read_tokens=100, cached_write_tokens=20
    )


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("guardrail_intervened", "refusal"),
        ("content_filtered", "refusal"),
        ("malformed_model_output", "end"),
        ("malformed_tool_use", "end"),
        ("something new", "end"),
    ],
)
def test_stop_reasons_are_translated(word: str, stop: str) -> None:
    assert parse(frames("x", stop=word))[2].stop == stop


@pytest.mark.parametrize("stop", ["end_turn", "malformed_tool_use"])
def test_an_answer_with_nothing_in_it_is_an_error(stop: str) -> None:
    with pytest.raises(EmptyAnswer, match="acme answered with neither text nor tool calls"):
        parse(frames(thinking=("hm",), stop=stop))


def test_nothing_to_say_is_no_error_when_the_model_was_stopped() -> None:
    assert parse(frames(stop="guardrail_intervened"))[2].text == ""


@pytest.mark.parametrize("missing", [2, 3, 4])
def test_a_stream_that_ends_before_the_answer_is_interrupted(missing: int) -> None:
    with pytest.raises(StreamInterrupted, match="acme ended the stream in the middle of its answer"):
        parse(frames("x")[:-missing])


def test_an_answer_is_complete_without_its_count_but_not_with_half_of_it() -> None:
    *answer, count = frames("x")
    assert parse(answer)[2].usage is None
    with pytest.raises(StreamInterrupted):
        parse([*answer, count[:-1]])


@pytest.mark.parametrize(
    ("kind", "words", "error"),
    [
        ("throttlingException", "Too many requests, please wait before trying again.", RateLimited),
        ("ThrottlingException", "Too many tokens, please wait before trying again.", RateLimited),
        ("modelStreamErrorException", "The system encountered an unexpected error.", ProviderUnavailable),
        ("internalServerException", "Sorry", ProviderUnavailable),
        ("serviceUnavailableException", "Bedrock is unable to process your request.", ProviderUnavailable),
        ("modelTimeoutException", "Sorry", ProviderUnavailable),
        ("validationException", "The model returned the following errors: bad", RequestRejected),
        ("validationException", "Input is too long for requested model.", ContextTooLong),
        ("validationException", "This model doesn't support tool use in streaming mode.", ToolsUnsupported),
        ("accessDeniedException", "You don't have access to the model with the specified ID.", ModelNotAllowed),
        ("resourceNotFoundException", "The model does not exist", ModelNotFound),
        ("brandNewException", "Sorry", ProviderUnavailable),
    ],
)
def test_an_exception_in_the_stream_is_the_error_it_means(kind: str, words: str, error: type[ProviderError]) -> None:
    with pytest.raises(error) as raised:
        parse([*frames("x")[:2], exception(kind, words)])
    assert words in raised.value.message


def test_an_error_message_and_an_exception_without_json_are_errors_too() -> None:
    headers = {":message-type": "error", ":error-code": "internalServerException", ":error-message": "broken"}
    with pytest.raises(ProviderUnavailable, match="broken"):
        parse([encoded(b"", headers)])
    with pytest.raises(RateLimited, match="slow down"):
        parse([encoded(b"slow down", {":message-type": "exception", ":exception-type": "throttlingException"})])


def test_an_error_never_shows_a_key() -> None:
    words = "should have been 'POST x-amz-security-token:IQoJb3JpZ2luX2VjEJr and hunter2hunter2'"
    with pytest.raises(ProviderAuthFailed) as raised:
        parse([exception("accessDeniedException", words)])
    assert "IQoJ" not in str(raised.value)
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("payload", [b"{nope", b"[1]", b"", b"\xff"])
def test_events_that_are_no_json_objects_are_malformed(payload: bytes) -> None:
    with pytest.raises(MalformedReply, match="acme sent an event that is not"):
        parse([encoded(payload, {":event-type": "messageStop", ":message-type": "event"})])


@pytest.mark.parametrize(
    ("piece", "words"),
    [
        (event("contentBlockStart", contentBlockIndex=0, start={"toolUse": {"name": "f"}}), "without a name or id"),
        (event("contentBlockDelta", contentBlockIndex=0, delta={"toolUse": {"input": "{"}}), "never began"),
    ],
)
def test_blocks_that_make_no_sense_are_malformed(piece: bytes, words: str) -> None:
    with pytest.raises(MalformedReply, match=words):
        parse([piece])


def test_events_of_later_versions_are_read_over() -> None:
    new = event("contentBlockDelta", contentBlockIndex=0, delta={"citation": {"title": "x"}})
    assert parse([event("brandNew", x=1), new, *frames("x")])[0] == "x"


def test_a_damaged_frame_gives_the_answer_up() -> None:
    body = b"".join(frames("hello"))
    at = body.index(b"hello")
    with pytest.raises(MalformedReply, match="acme sent a damaged message"):
        parse([body[:at] + b"j" + body[at + 1 :]])


@given(st.binary(max_size=200))
def test_noise_is_an_error_for_people_and_nothing_else(noise: bytes) -> None:
    with pytest.raises(ProviderError) as raised:
        parse([noise])
    assert raised.value.provider == "acme"
