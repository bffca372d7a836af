"""The parser of OpenAI's Responses API: whole, cut at every byte, and broken.

Events and items as in https://platform.openai.com/docs/api-reference/responses-streaming; `phase` of a message as in
https://developers.openai.com/api/docs/guides/reasoning.
"""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.contracts.provider import ChatResponse, StreamEvent, TextChunk, ThoughtChunk
from claw_acp.core.errors import (
    ContextTooLong,
    EmptyAnswer,
    MalformedReply,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
    RequestRejected,
    StreamInterrupted,
)
from claw_acp.core.messages import Message, Reasoning, ToolCall, Usage
from claw_acp.providers.responses.request import ORIGIN, responses_request
from claw_acp.providers.responses.stream import ResponsesStream
from claw_acp.providers.transport.part_order import pieces_in_order
from tests.providers.conversation import asking
from tests.providers.parsing import CALL, OTHER, same_wherever_cut
from tests.support.servers.model_replies import Json, Say, Tokens
from tests.support.servers.responses_replies import ended, numbered, responses_events, responses_usage


def parse(reads: Sequence[bytes]) -> tuple[list[StreamEvent], ChatResponse]:
    """Events and the response, after checking that the chunks concatenate to it."""
    stream = ResponsesStream(provider="acme", model="m", secrets=("hunter2hunter2",))
    events = [event for read in reads for event in stream.feed(read)]
    response = stream.response()
    assert "".join(event.text for event in events if isinstance(event, TextChunk)) == response.text
    assert kept(events) == response.reasoning
    return events, response


def kept(events: Sequence[StreamEvent]) -> tuple[Reasoning, ...]:
    """Blocks of reasoning as the journal makes them from the chunks."""
    blocks: list[Reasoning] = []
    thought = ""
    for event in events:
        if isinstance(event, ThoughtChunk):
            thought += event.text
            if event.signature is not None or event.origin:
                blocks.append(Reasoning(text=thought, signature=event.signature, origin=event.origin))
                thought = ""
    return tuple(blocks)


def items(*given: dict[str, Json], usage: Tokens | None = None) -> list[bytes]:
    """An answer of finished items, none of them streamed in pieces."""
    events: list[dict[str, Json]] = []
    for index, item in enumerate(given):
        events.append({"type": "response.output_item.added", "item": {**item, "content": []}, "output_index": index})
        events.append({"type": "response.output_item.done", "item": item, "output_index": index})
    return numbered([*events, ended(usage)])


def said(text: str, **more: Json) -> dict[str, Json]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}], **more}


def called(call_id: str) -> dict[str, Json]:
    return {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}"}


def thought(text: str, secret: str | None = "enc") -> dict[str, Json]:
    summary: Json = [{"type": "summary_text", "text": text}] if text else []
    return {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": secret}


def secret(text: str) -> dict[str, Json]:
    return thought(text, text)


ANSWERS = [
    pytest.param(Say(text=("Hel", "lo 🦀", "\n")), id="text"),
    pytest.param(Say(thinking=("Let me ", "see."), text=("Yes.",)), id="thinking"),
    pytest.param(Say(calls=(CALL,)), id="a call"),
    pytest.param(Say(thinking=("hm",), text=("Both:",), calls=(CALL, OTHER)), id="text and parallel calls"),
    pytest.param(Say(text=("cut",), stop="max_output_tokens"), id="out of tokens"),
]


@pytest.mark.parametrize("say", ANSWERS)
def test_an_answer_is_the_same_wherever_its_bytes_are_cut(say: Say) -> None:
    response = same_wherever_cut(b"".join(responses_events(say)), parse)[1]
    assert response.text == "".join(say.text)
    assert "".join(block.text for block in response.reasoning) == "".join(say.thinking)
    assert response.tool_calls == tuple(ToolCall(id=call.id, name=call.name, arguments=call.json) for call in say.calls)
    assert response.stop == ("max_tokens" if say.stop else "tool_calls" if say.calls else "end")


def test_what_a_read_completes_is_yielded_from_that_read() -> None:
    stream = ResponsesStream(provider="acme", model="m")
    seen = [
        [out.text for out in stream.feed(event) if isinstance(out, TextChunk)]
        for event in responses_events(Say(text=("a", "b")))
    ]
    assert [texts for texts in seen if texts] == [["a"], ["b"]]


def test_usage_has_cached_and_reasoning_tokens() -> None:
    tokens = Tokens(input=10, output=7, cache_read=100, thought=3)
    assert parse(responses_events(Say(text=("x",), usage=tokens)))[1].usage == Usage(
        input_tokens=110, output_tokens=7, cached_read_tokens=100, thought_tokens=3
    )


@pytest.mark.parametrize(
    ("reason", "stop"), [("max_output_tokens", "max_tokens"), ("content_filter", "refusal"), ("something new", "end")]
)
def test_incomplete_answers_say_why(reason: str, stop: str) -> None:
    assert parse(responses_events(Say(text=("x",), stop=reason)))[1].stop == stop


@pytest.mark.parametrize("reason", ["max_output_tokens", "content_filter"])
def test_nothing_to_say_is_no_error_when_the_model_was_stopped(reason: str) -> None:
    assert parse(responses_events(Say(thinking=("hm",), stop=reason)))[1].text == ""


def test_a_refusal_is_shown_and_stops_as_one() -> None:
    response = parse(responses_events(Say(refusal="I cannot.")))[1]
    assert (response.text, response.stop) == ("I cannot.", "refusal")
    part: Json = {"type": "refusal", "refusal": "No."}
    response = parse(items({"type": "message", "content": [part]}))[1]
    assert (response.text, response.stop) == ("No.", "refusal")


@pytest.mark.parametrize("text", [(), ("\n",)])
def test_an_answer_with_nothing_in_it_is_an_error_and_its_usage_is_known(text: tuple[str, ...]) -> None:
    stream = ResponsesStream(provider="acme", model="m")
    for read in responses_events(Say(text=text, thinking=("hm",), usage=Tokens(input=3, output=2))):
        stream.feed(read)
    with pytest.raises(EmptyAnswer, match="acme answered with neither text nor tool calls"):
        stream.response()
    assert stream.usage == Usage(input_tokens=3, output_tokens=2)


# ------------------------------------------------------------------ reasoning, and the order of an answer


def test_reasoning_is_kept_with_what_the_vendor_wants_back() -> None:
    events, response = parse(responses_events(Say(thinking=("hm",), signature="gAAA", text=("x",))))
    (block,) = response.reasoning
    assert (block.text, block.origin) == ("hm", "responses")
    assert json.loads(block.signature or "") == {"place": [0, 0, 0], "id": "rs_1", "encrypted_content": "gAAA"}
    assert [type(event) for event in events] == [ThoughtChunk, ThoughtChunk, TextChunk]


def test_reasoning_without_a_summary_is_kept_too() -> None:
    assert parse(items(thought(""), said("x")))[1].reasoning[0].text == ""


def test_reasoning_that_cannot_be_sent_back_is_only_shown() -> None:
    reasoning = parse(items(thought("hm", None), thought("ha"), said("x")))[1].reasoning
    assert [(block.text, block.signature is None) for block in reasoning] == [("hm", True), ("ha", False)]


def test_parts_of_a_summary_stand_apart() -> None:
    part: dict[str, Json] = {"type": "response.reasoning_summary_part.added", "output_index": 0}
    delta: dict[str, Json] = {"type": "response.reasoning_summary_text.delta", "output_index": 0}
    done: dict[str, Json] = {"type": "response.output_item.done", "output_index": 0, "item": thought("a")}
    events = numbered([part, {**delta, "delta": "one"}, part, {**delta, "delta": "two"}, done, ended(output=[])])
    with pytest.raises(EmptyAnswer):
        parse(events)
    assert parse([*events[:-1], *items({}, said("x"))])[1].reasoning[0].text == "one\n\ntwo"


def in_order(response: ChatResponse) -> list[str]:
    message = Message.assistant(response.text, tool_calls=response.tool_calls, reasoning=response.reasoning)
    names: list[str] = []
    for piece in pieces_in_order(message, text=response.text, origin=ORIGIN):
        if isinstance(piece, str):
            names += [piece.strip()] if piece.strip() else []
        elif isinstance(piece, ToolCall):
            names.append(piece.id)
        else:
            names.append(piece.text or piece.mark.thought)
    return names


ORDERS = [
    [thought("r1"), said("m1"), called("c1"), called("c2")],
    [thought("r1"), said("m1"), thought("r2"), called("c1")],
    [called("c1"), said("m1")],
    [said("m1"), called("c1"), said("m2"), thought("r1"), called("c2")],
    [thought("r1"), called("c1"), thought("r2"), called("c2"), said("m1"), said("m2")],
    [said("m1", phase="commentary"), said("m2", phase="final_answer")],
]


@pytest.mark.parametrize("order", ORDERS)
def test_an_answer_of_any_order_can_be_told_in_that_order_again(order: list[dict[str, Json]]) -> None:
    names = [str(item.get("call_id") or json.dumps(item)[-6:]) for item in order]
    told = in_order(parse(items(*order))[1])
    assert len(told) == len(names)
    for item, name in zip(order, told, strict=True):
        assert f'"{name}"' in json.dumps(item)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["reasoning", "message", "function_call"]), min_size=1, max_size=7))
def test_whatever_came_goes_back_in_its_order(kinds: list[str]) -> None:
    names = [f"{kind[0]}{number}" for number, kind in enumerate(kinds)]
    makers = {"reasoning": secret, "message": said, "function_call": called}
    given = [makers[kind](name) for kind, name in zip(kinds, names, strict=True)]
    try:
        response = parse(items(*given))[1]
    except EmptyAnswer:
        assert set(kinds) == {"reasoning"}
        return
    answer = Message.assistant(response.text, tool_calls=response.tool_calls, reasoning=response.reasoning)
    sent: Any = responses_request(asking(answer), provider="acme")["input"]
    back = [item.get("encrypted_content") or item.get("content") or item["call_id"] for item in sent]
    assert back == names


def test_messages_stand_apart_and_keep_their_phase() -> None:
    response = parse(items(said("m1", phase="commentary"), said("m2", phase="final_answer")))[1]
    assert response.text == "m1\n\nm2"
    assert [json.loads(block.signature or "") for block in response.reasoning] == [
        {"place": [0, 2, 0], "phase": "commentary"},
        {"place": [4, 6, 0], "phase": "final_answer"},
    ]


# ------------------------------------------------------------------ servers that stream less


def test_an_answer_that_came_only_with_its_end_is_read() -> None:
    response = parse(numbered([ended(output=[thought("r1"), said("x"), called("c1")])]))[1]
    assert (response.text, response.reasoning[0].text, response.tool_calls[0].id) == ("x", "r1", "c1")


def test_items_nobody_announced_are_read_from_their_pieces() -> None:
    delta: dict[str, Json] = {"type": "response.output_text.delta", "output_index": 0, "delta": "x"}
    assert parse([*numbered([delta, ended()]), b"data: [DONE]\n\n"])[1].text == "x"


def test_what_later_versions_add_is_read_over() -> None:
    assert parse([b'data: {"type": "brand_new"}\n\n', *items({"type": "web_search_call"}, said("x"))])[1].text == "x"


# ------------------------------------------------------------------ what goes wrong


@pytest.mark.parametrize("missing", [1, 2, 3])
def test_a_stream_that_ends_before_the_answer_is_interrupted(missing: int) -> None:
    with pytest.raises(StreamInterrupted, match="acme ended the stream in the middle of its answer"):
        parse(responses_events(Say(text=("x",)))[:-missing])


@pytest.mark.parametrize("garbage", [b"data: {nope\n\n", b"data: [1]\n\n", b"data: \n\n", b"data: {}}\n\n"])
def test_events_that_are_no_json_objects_are_malformed(garbage: bytes) -> None:
    with pytest.raises(MalformedReply, match="acme sent an event that is not"):
        parse([*responses_events(Say(text=("x",)))[:2], garbage])


def test_what_follows_the_end_is_not_looked_at() -> None:
    assert parse([b"".join(responses_events(Say(text=("x",)))) + b"data: garbage\n\n"])[1].text == "x"


def test_a_call_without_a_name_is_malformed() -> None:
    with pytest.raises(MalformedReply, match="a tool call without a name"):
        parse(items({"type": "function_call", "call_id": "c1", "arguments": "{}"}))


ERRORS: list[tuple[Json, type[ProviderError]]] = [
    ({"code": "server_error", "message": "Sorry"}, ProviderUnavailable),
    ({"code": "rate_limit_exceeded", "message": "Sorry, hunter2hunter2"}, RateLimited),
    ({"code": "invalid_prompt", "message": "Sorry"}, RequestRejected),
    ({"code": "image_too_large", "message": "Sorry"}, RequestRejected),
    ({"code": "context_length_exceeded", "message": "Sorry"}, ContextTooLong),
    ({"code": "brand_new", "message": "Sorry"}, ProviderUnavailable),
    ({"message": "Sorry"}, ProviderUnavailable),
]


@pytest.mark.parametrize(("error", "kind"), ERRORS)
def test_an_error_is_the_same_wherever_it_is_told(error: dict[str, Json], kind: type[ProviderError]) -> None:
    failed: Json = {"status": "failed", "error": error, "usage": responses_usage(Tokens(input=1, output=2))}
    events: list[dict[str, Json]] = [
        {"type": "response.failed", "response": failed},
        {"type": "error", "error": error},
        {"type": "error", **error},
    ]
    for event in events:
        stream = ResponsesStream(provider="acme", model="m", secrets=("hunter2hunter2",))
        with pytest.raises(kind, match="Sorry") as caught:
            stream.feed(numbered([event])[0])
        assert "hunter2" not in str(caught.value)
        assert stream.usage == (Usage(input_tokens=1, output_tokens=2) if "response" in event else None)


def test_an_error_without_any_words_is_still_one() -> None:
    with pytest.raises(ProviderUnavailable):
        parse(numbered([{"type": "response.failed", "response": None}]))


WORDS = ["item", "response", "delta", "type", "output", "content", "summary", "arguments", "usage", "output_index"]
KINDS = [
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "response.reasoning_summary_text.delta",
    "response.function_call_arguments.delta",
    "response.completed",
    "response.incomplete",
    "error",
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(WORDS), json_values)), max_size=5))
def test_events_of_wrong_types_leave_as_our_own_errors(told: list[tuple[str, dict[str, Json]]]) -> None:
    stream = ResponsesStream(provider="acme", model="m")
    try:
        for kind, event in told:
            stream.feed(numbered([{**event, "type": kind}])[0])
        stream.response()
    except ProviderError:
        pass
