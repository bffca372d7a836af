"""Ollama's stream: whole, cut at every byte, and broken. Shapes: https://docs.ollama.com/api/chat."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.contracts.provider import ChatResponse
from claw_acp.core.errors import (
    EmptyAnswer,
    MalformedReply,
    ModelNotFound,
    ProviderError,
    ProviderUnavailable,
    RequestRejected,
    StreamInterrupted,
    ToolsUnsupported,
)
from claw_acp.core.ids import may_be_id
from claw_acp.core.messages import Reasoning, Usage
from claw_acp.providers.ollama.stream import OllamaStream
from tests.providers.parsing import CALL, OTHER, read, same_wherever_cut
from tests.support.fixed_clock import FixedClock
from tests.support.servers.model_replies import Call
from tests.support.servers.ollama_server import line, lines


class ManyChances(FixedClock):
    """Chance that never repeats itself."""

    def random_bytes(self, count: int) -> bytes:
        self.seconds += 1
        return super().random_bytes(count)


def parse(reads: Sequence[bytes]) -> tuple[str, str, ChatResponse]:
    return read(OllamaStream(provider="acme", model="m", clock=ManyChances(), secrets=("hunter2hunter2",)), reads)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lines("Hel", "lo 🦀", "\n"), id="text"),
        pytest.param(lines("Yes.", thinking=("Let me ", "see.")), id="thinking"),
        pytest.param(lines("Both:", calls=(CALL, OTHER)), id="parallel calls"),
        pytest.param(lines("cut", reason="length"), id="out of tokens"),
    ],
)
def test_an_answer_is_the_same_wherever_its_bytes_are_cut(answer: list[bytes]) -> None:
    body = b"".join(answer)
    whole = same_wherever_cut(body, parse)
    assert parse([body.replace(b"\n", b"\r\n")]) == whole
    assert parse([body.removesuffix(b"\n")]) == whole


def test_text_thinking_calls_usage_and_stop_are_all_there() -> None:
    _, thinking, response = parse(lines("Look", "ing.", thinking=("h", "m"), calls=(CALL, OTHER), counts=(26, 298)))
    assert (response.text, thinking, response.stop) == ("Looking.", "hm", "tool_calls")
    assert [(call.id, call.name, json.loads(call.arguments)) for call in response.tool_calls] == [
        ("call_1", "read_file", {"path": "żółć.py"}),
        ("call_2", "list_dir", {}),
    ]
    assert response.reasoning == (Reasoning(text="hm"),)
    assert response.usage == Usage(input_tokens=26, output_tokens=298)


def test_calls_without_ids_and_with_the_same_get_ids_of_their_own() -> None:
    again = Call(name="f", id="call_1")
    calls = parse(lines(calls=(Call(name="f"), Call(name="f"), CALL, again)))[2].tool_calls
    ids = [call.id for call in calls]
    assert len(set(ids)) == 4
    assert ids[2] == "call_1"
    assert all(may_be_id(call_id, "call") for call_id in (ids[0], ids[1], ids[3]))


def test_calls_of_several_lines_are_all_kept() -> None:
    first, *_ = lines(calls=(CALL,))
    assert [call.name for call in parse([first, *lines(calls=(OTHER,))])[2].tool_calls] == ["read_file", "list_dir"]


def test_arguments_that_came_as_text_stay_as_they_are() -> None:
    assert parse(lines(calls=(Call(name="f", arguments='{"a": 1'),)))[2].tool_calls[0].arguments == '{"a": 1'


@pytest.mark.parametrize(
    ("reason", "stop"), [("stop", "end"), ("length", "max_tokens"), ("load", "end"), ("new", "end"), ("", "end")]
)
def test_stop_reasons_are_translated(reason: str, stop: str) -> None:
    assert parse(lines("x", reason=reason))[2].stop == stop


@pytest.mark.parametrize("reason", ["stop", "load", "unload"])
def test_an_answer_with_nothing_in_it_is_an_error(reason: str) -> None:
    with pytest.raises(EmptyAnswer, match="acme answered with neither text nor tool calls"):
        parse(lines("\n", thinking=("hm",), reason=reason))


def test_nothing_to_say_is_no_error_when_there_were_no_tokens_left() -> None:
    assert parse(lines(thinking=("hm",), reason="length"))[2].stop == "max_tokens"


def test_a_server_that_counts_nothing_leaves_the_usage_unknown() -> None:
    assert parse(lines("x", counts=(0, 0)))[2].usage is None


def test_a_stream_that_ends_before_the_answer_is_interrupted() -> None:
    with pytest.raises(StreamInterrupted, match="acme ended the stream in the middle"):
        parse(lines("a", "b")[:-1])
    with pytest.raises(StreamInterrupted, match="ended the stream in the middle"):
        parse([b"".join(lines("a"))[:-5]])


@pytest.mark.parametrize("garbage", [b"{nope\n", b"[1]\n", b"{}}\n", b"[" * 100_000 + b"\n", b"<html>\n"])
def test_lines_that_are_no_json_objects_are_malformed(garbage: bytes) -> None:
    with pytest.raises(MalformedReply, match="acme sent an event that is not"):
        parse([*lines("a")[:1], garbage])


def test_a_call_without_a_name_is_malformed() -> None:
    with pytest.raises(MalformedReply, match="a tool call without a name"):
        parse(lines(calls=(Call(name=""),)))


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("an error was encountered while running the model: CUDA out of memory", ProviderUnavailable),
        ("llama runner process has terminated", ProviderUnavailable),
        ("registry.ollama.ai/library/gemma:2b does not support tools", ToolsUnsupported),
        ('"gemma:2b" does not support thinking', RequestRejected),
        ("model 'nope' not found", ModelNotFound),
    ],
)
def test_an_error_in_mid_stream_is_the_error_it_means(words: str, error: type[ProviderError]) -> None:
    """https://docs.ollama.com/api/errors: an object with `error` among the lines, under a status of success."""
    with pytest.raises(error) as raised:
        parse([*lines("a")[:1], line(error=words)])
    assert words in raised.value.message


def test_an_error_never_shows_a_key() -> None:
    with pytest.raises(ProviderUnavailable) as raised:
        parse([line(error="bad key hunter2hunter2")])
    assert "hunter2" not in str(raised.value)


@given(st.binary(max_size=200))
def test_noise_is_an_error_for_people_and_nothing_else(noise: bytes) -> None:
    with pytest.raises(ProviderError) as raised:
        parse([noise])
    assert raised.value.provider == "acme"
