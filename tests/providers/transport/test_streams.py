"""The parsers of both families against recorded shapes: whole, cut at every byte, and broken."""

import json
from collections.abc import Callable, Sequence
from functools import partial

import pytest

from claw_acp.contracts.provider import ChatResponse, TextChunk, ThoughtChunk
from claw_acp.core.errors import (
    ContextTooLong,
    EmptyAnswer,
    MalformedReply,
    ProviderAuthFailed,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
    RequestRejected,
    StreamInterrupted,
)
from claw_acp.core.messages import Reasoning, ToolCall, Usage
from claw_acp.providers.anthropic.stream import AnthropicStream
from claw_acp.providers.openai.stream import OpenAIStream
from claw_acp.providers.transport.answer_parser import AnswerParser
from tests.providers.parsing import CALL, OTHER, read, same_wherever_cut
from tests.support.fixed_clock import FixedClock
from tests.support.servers.model_replies import Family, Json, Say, Tokens, anthropic_events, openai_events

RENDER: dict[Family, Callable[[Say], list[bytes]]] = {"openai": openai_events, "anthropic": anthropic_events}
FAMILIES = pytest.mark.parametrize("family", ["openai", "anthropic"])
DEEP = b"data: " + b"[" * 100_000 + b"\n\n"


def parser(family: Family) -> AnswerParser:
    if family == "anthropic":
        return AnthropicStream(provider="acme", model="m", secrets=("hunter2hunter2",))
    return OpenAIStream(provider="acme", model="m", clock=FixedClock(), secrets=("hunter2hunter2",))


def parse(family: Family, reads: Sequence[bytes]) -> tuple[str, str, ChatResponse]:
    """See `read`."""
    return read(parser(family), reads)


ANSWERS = [
    pytest.param(Say(text=("Hel", "lo 🦀", "\n")), id="text"),
    pytest.param(Say(thinking=("Let me ", "see."), text=("Yes.",)), id="thinking"),
    pytest.param(Say(calls=(CALL,)), id="a call"),
    pytest.param(Say(text=("Both:",), calls=(CALL, OTHER)), id="text and parallel calls"),
    pytest.param(Say(text=("cut",), stop="length"), id="out of tokens"),
]


@FAMILIES
@pytest.mark.parametrize("say", ANSWERS)
def test_an_answer_is_the_same_wherever_its_bytes_are_cut(family: Family, say: Say) -> None:
    if say.stop == "length" and family == "anthropic":
        say = Say(text=say.text, stop="max_tokens")
    body = b"".join(RENDER[family](say))
    text, thinking, response = same_wherever_cut(body, partial(parse, family))
    assert (text, thinking) == ("".join(say.text), "".join(say.thinking))
    assert [(call.id, call.name, call.arguments) for call in response.tool_calls] == [
        (call.id, call.name, call.json) for call in say.calls
    ]
    assert response.stop == ("max_tokens" if say.stop else "tool_calls" if say.calls else "end")


@FAMILIES
def test_what_a_read_completes_is_yielded_from_that_read(family: Family) -> None:
    stream = parser(family)
    pieces = ("a", "b", "c")
    seen: list[str] = []
    for event in RENDER[family](Say(text=pieces)):
        before = len(seen)
        seen += [out.text for out in stream.feed(event) if isinstance(out, TextChunk)]
        assert len(seen) - before == (1 if any(f'"{piece}"'.encode() in event for piece in pieces) else 0)
    assert seen == ["a", "b", "c"]


@FAMILIES
def test_usage_counts_everything_sent_cached_or_not(family: Family) -> None:
    say = Say(text=("x",), usage=Tokens(input=10, output=7, cache_read=100, cache_write=20, thought=3))
    usage = parse(family, RENDER[family](say))[2].usage
    expected = Usage(input_tokens=130, output_tokens=7, cached_read_tokens=100)
    if family == "openai":
        assert usage == expected + Usage(thought_tokens=3)
    else:
        assert usage == expected + Usage(cached_write_tokens=20)


@pytest.mark.parametrize(
    ("family", "word", "stop"),
    [
        ("openai", "stop", "end"),
        ("openai", "length", "max_tokens"),
        ("openai", "content_filter", "refusal"),
        ("openai", "something new", "end"),
        ("anthropic", "end_turn", "end"),
        ("anthropic", "stop_sequence", "end"),
        ("anthropic", "pause_turn", "end"),
        ("anthropic", "max_tokens", "max_tokens"),
        ("anthropic", "model_context_window_exceeded", "max_tokens"),
        ("anthropic", "refusal", "refusal"),
        ("anthropic", "something new", "end"),
    ],
)
def test_stop_reasons_are_translated(family: Family, word: str, stop: str) -> None:
    assert parse(family, RENDER[family](Say(text=("x",), stop=word)))[2].stop == stop


@FAMILIES
@pytest.mark.parametrize("text", [(), ("\n",)])
def test_an_answer_with_nothing_in_it_is_an_error(family: Family, text: tuple[str, ...]) -> None:
    with pytest.raises(EmptyAnswer, match="acme answered with neither text nor tool calls"):
        parse(family, RENDER[family](Say(text=text, thinking=("hm",))))


@pytest.mark.parametrize(
    ("family", "stop"),
    [("openai", "length"), ("openai", "content_filter"), ("anthropic", "max_tokens"), ("anthropic", "refusal")],
)
def test_nothing_to_say_is_no_error_when_the_model_was_stopped(family: Family, stop: str) -> None:
    assert parse(family, RENDER[family](Say(stop=stop)))[2].text == ""


@FAMILIES
@pytest.mark.parametrize("missing", [2, 3, 4])  # the last event says nothing about how the answer ended
def test_a_stream_that_ends_before_the_answer_is_interrupted(family: Family, missing: int) -> None:
    events = RENDER[family](Say(text=("x",), usage=None if family == "openai" else Tokens()))
    with pytest.raises(StreamInterrupted, match=r"acme \(m\) ended the stream in the middle of its answer"):
        parse(family, events[:-missing])


@FAMILIES
@pytest.mark.parametrize("garbage", [b"data: {nope\n\n", b"data: [1]\n\n", b"data: \n\n", b"data: {}}\n\n", DEEP])
def test_events_that_are_no_json_objects_are_malformed(family: Family, garbage: bytes) -> None:
    with pytest.raises(MalformedReply, match="acme sent an event that is not"):
        parse(family, [*RENDER[family](Say(text=("x",)))[:2], garbage])


@FAMILIES
def test_white_space_around_an_event_is_no_matter(family: Family) -> None:
    events = [
        event.replace(b"data: {", b"data:   {").replace(b"}\n\n", b"} \n\n")
        for event in RENDER[family](Say(text=("x",)))
    ]
    assert parse(family, events)[0] == "x"


@FAMILIES
def test_what_follows_the_end_is_not_looked_at(family: Family) -> None:
    body = b"".join(RENDER[family](Say(text=("x",))))
    assert parse(family, [body + b"data: garbage\n\n"])[0] == "x"


# ------------------------------------------------------------------ OpenAI and its imitators


def openai(*deltas: Json, finish: str | None = "stop") -> list[bytes]:
    chunks: list[Json] = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    if finish:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return [*(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks), b"data: [DONE]\n\n"]


def fragment(name: str = "", arguments: str = "", **fields: Json) -> Json:
    return {"tool_calls": [{**fields, "function": {"name": name, "arguments": arguments}}]}


def test_a_refusal_is_shown_and_stops_as_one() -> None:
    text, _, response = parse("openai", openai({"refusal": "I "}, {"refusal": "cannot."}))
    assert (text, response.stop) == ("I cannot.", "refusal")


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thinking_is_read_from_either_field(name: str) -> None:
    _, thinking, response = parse("openai", openai({name: "hm"}, {"content": "x"}))
    assert (thinking, response.reasoning) == ("hm", (Reasoning(text="hm"),))


def test_thinking_given_in_both_fields_is_taken_once() -> None:
    assert parse("openai", openai({"reasoning_content": "hm", "reasoning": "hm"}, {"content": "x"}))[1] == "hm"


def test_content_given_as_parts_is_text_and_thinking() -> None:
    parts: Json = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "x"}]
    assert parse("openai", openai({"content": parts}))[:2] == ("x", "hm")


def test_interleaved_fragments_find_their_calls_by_index() -> None:
    deltas = (
        fragment("f", index=0, id="a"),
        fragment("g", index=1, id="b"),
        fragment(arguments='{"x"', index=0),
        fragment(arguments="{}", index=1),
        fragment(arguments=":1}", index=0),
    )
    calls = parse("openai", openai(*deltas, finish="tool_calls"))[2].tool_calls
    assert calls == (ToolCall(id="a", name="f", arguments='{"x":1}'), ToolCall(id="b", name="g", arguments="{}"))


def test_calls_all_numbered_zero_are_told_apart_by_id() -> None:
    deltas = (fragment("f", "{}", index=0, id="a"), fragment("f", "{}", index=0, id="b"))
    assert [call.id for call in parse("openai", openai(*deltas))[2].tool_calls] == ["a", "b"]


def test_calls_without_an_index_follow_each_other() -> None:
    deltas = (fragment("f", '{"a"', id="a"), fragment(arguments=":1}"), fragment("g", "{}", id="b"))
    calls = parse("openai", openai(*deltas))[2].tool_calls
    assert [(call.id, call.arguments) for call in calls] == [("a", '{"a":1}'), ("b", "{}")]


def test_a_call_without_an_id_is_given_one() -> None:
    (call,) = parse("openai", openai(fragment("f", "{}", index=0)))[2].tool_calls
    assert call.id.startswith("call_")


def test_calls_that_ended_with_stop_still_ask_for_tools() -> None:
    assert parse("openai", openai(fragment("f", "", index=0, id="a"), finish="stop"))[2].stop == "tool_calls"


def test_a_call_without_arguments_has_an_empty_object() -> None:
    assert parse("openai", openai(fragment("f", "", index=0, id="a")))[2].tool_calls[0].arguments == "{}"


def test_what_google_attaches_to_a_call_is_kept() -> None:
    delta = fragment("f", "{}", index=0, id="a", extra_content={"google": {"thought_signature": "s"}})
    (call,) = parse("openai", openai(delta))[2].tool_calls
    assert call.extra == {"extra_content": {"google": {"thought_signature": "s"}}}


@pytest.mark.parametrize(
    ("deltas", "words"),
    [
        ([fragment("", "{}", index=0, id="a")], "a tool call without a name"),
        ([fragment("", "{}", index=3)], r"a tool call that never began \(index 3\)"),
        ([fragment("", "{}")], "a tool call that never began"),
    ],
)
def test_calls_that_cannot_be_run_are_malformed(deltas: list[Json], words: str) -> None:
    with pytest.raises(MalformedReply, match=words):
        parse("openai", openai(*deltas))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "hunter2hunter2 is over its limit", "code": 429}, RateLimited),
        ({"message": "upstream died", "code": "server_error"}, ProviderUnavailable),
        ({"message": "it is too long", "code": "context_length_exceeded"}, ContextTooLong),
        ({"message": "bad", "type": "invalid_request_error", "code": None}, RequestRejected),
        ("just words", ProviderUnavailable),
    ],
)
def test_an_error_inside_an_openai_stream_is_the_error_it_means(error: Json, kind: type[ProviderError]) -> None:
    with pytest.raises(kind) as caught:
        parse("openai", [f"data: {json.dumps({'error': error})}\n\n".encode()])
    assert "hunter2" not in str(caught.value)


def test_deepseeks_name_for_cache_hits_is_understood() -> None:
    usage = b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1,"prompt_cache_hit_tokens":8}}\n\n'
    events = openai({"content": "x"})
    assert parse("openai", [*events[:-1], usage, events[-1]])[2].usage == Usage(
        input_tokens=9, output_tokens=1, cached_read_tokens=8
    )


# ------------------------------------------------------------------ Anthropic


def anthropic(*events: Json) -> list[bytes]:
    done: list[Json] = [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]
    return [f"data: {json.dumps(event)}\n\n".encode() for event in [*events, *done]]


def start(index: int, **block: Json) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": block}


def test_a_thinking_block_is_closed_in_the_stream_before_anything_follows_it() -> None:
    say = Say(thinking=("a", "b"), signature="s1", text=("x",))
    reader = parser("anthropic")
    chunks = [event for read in anthropic_events(say) for event in reader.feed(read)]
    assert chunks[:4] == [
        ThoughtChunk(text="a"),
        ThoughtChunk(text="b"),
        ThoughtChunk(text="", signature="s1", origin="anthropic"),
        TextChunk(text="x"),
    ]


def test_thinking_keeps_its_signature_and_redacted_thinking_its_data() -> None:
    say = Say(thinking=("a", "b"), signature="s1", text=("x",))
    assert parse("anthropic", anthropic_events(say))[2].reasoning == (
        Reasoning(text="ab", signature="s1", origin="anthropic"),
    )
    events = anthropic(start(0, type="redacted_thinking", data="zzz"), start(1, type="text", text="x"))
    assert parse("anthropic", events)[2].reasoning == (Reasoning(text="", redacted="zzz", origin="anthropic"),)


def test_events_and_blocks_of_later_versions_are_read_over() -> None:
    delta: Json = {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {}}}
    events = anthropic({"type": "brand_new"}, start(0, type="text", text="x"), delta, start(1, type="brand_new"))
    assert parse("anthropic", events)[0] == "x"


def test_a_call_whose_input_came_at_once_keeps_it() -> None:
    events = anthropic(start(0, type="tool_use", id="t", name="f", input={"a": 1}))
    assert parse("anthropic", events)[2].tool_calls == (ToolCall(id="t", name="f", arguments='{"a": 1}'),)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (start(0, type="tool_use", id="t"), "a tool call without a name"),
        ({"type": "content_block_delta", "index": 4, "delta": {"type": "text_delta", "text": "x"}}, "never began"),
    ],
)
def test_blocks_that_make_no_sense_are_malformed(event: Json, words: str) -> None:
    with pytest.raises(MalformedReply, match=words):
        parse("anthropic", anthropic(event))


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("overloaded_error", ProviderUnavailable),
        ("rate_limit_error", RateLimited),
        ("authentication_error", ProviderAuthFailed),
        ("brand_new_error", ProviderUnavailable),
    ],
)
def test_an_error_event_is_the_error_it_means(kind: str, error: type[ProviderError]) -> None:
    with pytest.raises(error, match="Sorry"):
        parse("anthropic", anthropic({"type": "error", "error": {"type": kind, "message": "Sorry"}}))


def test_a_refusal_without_a_word_gives_the_reason_that_came_with_it() -> None:
    """https://platform.claude.com/docs/en/test-and-evaluate/strengthen-guardrails/handle-streaming-refusals."""
    why: Json = {"type": "refusal", "category": "cyber", "explanation": "It could do harm."}
    stopped: Json = {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": why}}
    end: Json = {"type": "message_stop"}
    begun = start(0, type="text", text="")
    for events, text in (
        ([], "It could do harm."),
        ([begun], "It could do harm."),
        ([start(0, type="text", text="Hel")], "Hel"),
    ):
        reads = [f"data: {json.dumps(event)}\n\n".encode() for event in [*events, stopped, end]]
        said, _, response = parse("anthropic", reads)
        assert (said, response.stop) == (text, "refusal")


def test_an_error_in_the_middle_of_an_answer_names_the_model() -> None:
    begun = anthropic_events(Say(text=("Hel", "lo")))[:-3]
    error: Json = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    with pytest.raises(ProviderUnavailable, match=r"acme failed on its side \(m, HTTP 529\): Overloaded"):
        parse("anthropic", [*begun, f"event: error\ndata: {json.dumps(error)}\n\n".encode()])
