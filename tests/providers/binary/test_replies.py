"""Which answers are taken, by the rules of the one-shot protocol; and that nothing else comes of any bytes."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.contracts.provider import ChatResponse
from claw_acp.core.messages import ToolCall, Usage
from claw_acp.providers.binary.introduction import Offer, read_models, read_offer
from claw_acp.providers.binary.oneshot import Printed
from claw_acp.providers.binary.replies import Unreadable, read_object, read_reply, read_response, tool_calls
from claw_acp.rpc.framing import Oversized

GOOD: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": {"content": "hi"}}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
members = ["jsonrpc", "id", "result", "error", "content", "tool_calls", "usage", "code", "message", "name", "arguments"]
likely = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(members), inner, max_size=8),
    max_leaves=24,
)


def response(**members: object) -> ChatResponse:
    return read_response({"content": "hi", **members})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"jsonrpc": "1.0"},
        {"jsonrpc": ""},
        {"id": None},
        {"id": 0},
        {"id": 2**64 - 1},
        {"more": [1]},
        {"error": None},
    ],
)
def test_these_responses_are_taken(change: dict[str, Any]) -> None:
    assert read_reply({**GOOD, **change}).result == {"content": "hi"}


def test_an_id_may_be_missing() -> None:
    assert read_reply({"jsonrpc": "2.0", "result": 1}).id is None


@pytest.mark.parametrize(
    "change",
    [
        {"jsonrpc": None}, {"jsonrpc": 2.0}, {"id": "1"}, {"id": -1}, {"id": 1.0}, {"id": True}, {"error": "no"},
        {"error": {"code": "1", "message": ""}}, {"error": {"code": 1}}, {"error": {"code": True, "message": ""}},
    ],
)  # fmt: skip
def test_these_responses_are_not(change: dict[str, Any]) -> None:
    with pytest.raises(Unreadable):
        read_reply({**GOOD, **change})


def test_an_error_wins_over_a_result() -> None:
    reply = read_reply({**GOOD, "error": {"code": 1, "message": "no"}})
    assert reply.error is not None
    assert reply.error.message == "no"


@pytest.mark.parametrize("wish", [-1, "7", True, math.inf, None])
def test_an_impossible_wish_to_wait_is_none(wish: object) -> None:
    reply = read_reply({"jsonrpc": "2", "error": {"code": 1, "message": "", "data": {"retryAfter": wish}}})  # type: ignore[dict-item]
    assert reply.error is not None
    assert reply.error.retry_after is None


@pytest.mark.parametrize(
    "text", ["", "[]", "7", "null", "{", '{"a":NaN}', '{"a":-Infinity}', "{} {}", "[" * 100_000, "9" * 5000]
)
def test_what_is_no_object_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        read_object(text.encode())


@pytest.mark.parametrize(
    "change",
    [
        {"content": None}, {"content": 7}, {"usage": 7}, {"usage": {"input_tokens": -1}},
        {"usage": {"output_tokens": "5"}}, {"usage": {"output_tokens": None}},
    ],
)  # fmt: skip
def test_a_result_needs_text_and_a_sound_usage(change: dict[str, Any]) -> None:
    with pytest.raises(Unreadable):
        response(**change)


def test_a_result_without_text_is_none() -> None:
    nothing: list[Any] = [{}, [], "hi", 7]
    for result in nothing:
        with pytest.raises(Unreadable):
            read_response(result)


def test_the_counters_default_to_nothing() -> None:
    assert response(usage={}).usage == Usage()
    assert response(usage={"output_tokens": 5}).usage == Usage(output_tokens=5)
    assert response(usage=None).usage is None
    assert response().usage is None


def test_tool_calls_are_read_leniently() -> None:
    entries: list[Any] = [
        None, 7, "x", {"id": "a"}, {"name": 7}, {"name": None}, {"name": "n", "id": 7},
        {"name": "one"}, {"name": "two", "id": None, "arguments": {"q": "ü", "n": [1, None]}},
        {"name": "three", "id": "c", "arguments": "verbatim {"}, {"name": "four", "id": "c", "arguments": None},
        {"name": "five", "id": "c-2", "arguments": 7, "more": 1},
    ]  # fmt: skip
    assert tool_calls(entries) == (
        ToolCall(id="call_0", name="one", arguments="{}"),
        ToolCall(id="call_0-2", name="two", arguments='{"q":"ü","n":[1,null]}'),
        ToolCall(id="c", name="three", arguments="verbatim {"),
        ToolCall(id="c-2", name="four", arguments="{}"),
        ToolCall(id="c-2-2", name="five", arguments="7"),
    )
    others: list[Any] = [None, {}, "x", 7, True]
    for other in others:
        assert tool_calls(other) == ()


def test_a_stop_reason_that_is_unknown_is_told_by_the_rest() -> None:
    assert [response(stopReason=stop).stop for stop in ("refusal", "max_tokens", "strange", 7, None)] == [
        "refusal", "max_tokens", "end", "end", "end",
    ]  # fmt: skip
    assert response(stopReason="x", tool_calls=[{"name": "n"}]).stop == "tool_calls"


@settings(max_examples=60)
@given(json_values | likely)
def test_any_json_is_an_answer_or_unreadable(value: Any) -> None:
    """Nothing else is raised, and every call has an id of its own."""
    for message in (value, {**GOOD, "error": value}, {**GOOD, "result": value}, {**GOOD, "result": _with(value)}):
        try:
            reply = read_reply(read_object(json.dumps(message).encode()))
            answer = read_response(reply.result)
        except Unreadable:
            continue
        assert len({call.id for call in answer.tool_calls}) == len(answer.tool_calls)


def _with(value: Any) -> dict[str, Any]:
    return {"content": "hi", "tool_calls": value, "usage": None, "stopReason": value, "reasoning": value}


@settings(max_examples=200)
@given(st.binary(max_size=64))
def test_any_bytes_are_an_object_or_unreadable(data: bytes) -> None:
    try:
        found = read_object(data)
    except Unreadable:
        return
    assert isinstance(found, dict)


bits = st.binary(max_size=12) | st.sampled_from([b"\n", b"\r\n", b" ", b"{}", b"\xff"])


@settings(max_examples=60)
@given(st.lists(bits, max_size=12), st.data())
def test_the_last_line_is_the_same_however_the_output_is_cut(pieces: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(pieces)
    lines = [line.removesuffix(b"\r") for line in whole.split(b"\n")]
    expected = next((line for line in reversed(lines) if line.strip()), None)
    printed = Printed()
    rest = whole
    while rest:
        cut = data.draw(st.integers(min_value=1, max_value=len(rest)))
        printed.add(rest[:cut])
        rest = rest[cut:]
    assert printed.last_line() == expected


def test_a_line_beyond_the_limit_is_not_kept() -> None:
    printed = Printed(limit=10)
    printed.add(b"x" * 11)
    assert isinstance(printed.last_line(), Oversized)


@settings(max_examples=100)
@given(json_values)
def test_any_introduction_is_an_offer_or_none(value: Any) -> None:
    offer = read_offer({"protocolVersion": 1, "capabilities": value, "models": value, "pluginInfo": value})
    assert isinstance(offer, Offer)
    assert read_offer(value) is None or "protocolVersion" in value
    assert isinstance(read_models(value), tuple)


@pytest.mark.parametrize("version", [True, 1.0, "1", None])
def test_only_an_integer_version_makes_a_session_plugin(version: object) -> None:
    assert read_offer({"protocolVersion": version}) is None  # type: ignore[dict-item]
