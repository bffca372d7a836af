"""Small servers and gateways: a stream that only says that it is over, one JSON document in the place of a stream."""

import json
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple

import pytest

from claw_acp.contracts.provider import Finished, Provider, TextChunk, ThoughtChunk
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.errors import MalformedReply, ProviderError, RateLimited, StreamInterrupted
from claw_acp.core.messages import Usage
from claw_acp.providers.anthropic.provider import AnthropicProvider
from claw_acp.providers.anthropic.stream import AnthropicStream
from claw_acp.providers.gemini.provider import GeminiProvider
from claw_acp.providers.gemini.stream import GeminiStream
from claw_acp.providers.ollama.stream import OllamaStream
from claw_acp.providers.openai.provider import OpenAIChatProvider
from claw_acp.providers.openai.stream import OpenAIStream
from claw_acp.providers.responses.provider import ResponsesProvider
from claw_acp.providers.responses.stream import ResponsesStream
from claw_acp.providers.transport.answer_parser import AnswerParser
from tests.providers.attempts import heard
from tests.providers.conversation import asking
from tests.support.fixed_clock import FixedClock
from tests.support.servers.loopback import Answered, Loopback, serving

CLOCK = FixedClock()


class _Way(NamedTuple):
    """A family: its provider, and its answer "Hello" with the call `f` and 7 tokens sent, 5 received."""

    make: Callable[[ProviderSetup], Provider]
    document: dict[str, Any]


WAYS: dict[str, _Way] = {
    "openai": _Way(
        OpenAIChatProvider,
        {
            "object": "chat.completion",
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": "<think>hm</think>Hello",
                        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                    },
                    "finish_reason": "tool_calls",
                }
            ],
            "usage": {"prompt_tokens": 7, "completion_tokens": 5},
        },
    ),
    "anthropic": _Way(
        AnthropicProvider,
        {
            "type": "message",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "Hello"},
                {"type": "tool_use", "id": "c1", "name": "f", "input": {}},
            ],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 7, "output_tokens": 5},
        },
    ),
    "responses": _Way(
        ResponsesProvider,
        {
            "object": "response",
            "status": "completed",
            "output": [
                {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]},
                {"type": "message", "content": [{"type": "output_text", "text": "Hello"}]},
                {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
            ],
            "usage": {"input_tokens": 7, "output_tokens": 5},
        },
    ),
    "gemini": _Way(
        GeminiProvider,
        {
            "candidates": [
                {
                    "content": {
                        "parts": [
                            {"text": "hm", "thought": True},
                            {"text": "Hello"},
                            {"functionCall": {"id": "c1", "name": "f", "args": {}}},
                        ]
                    },
                    "finishReason": "STOP",
                }
            ],
            "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 5},
        },
    ),
}


async def _answered(family: str, *bodies: bytes, kind: str) -> tuple[list[Any], ProviderError | None]:
    """What a provider of the family makes of an answer."""
    server = Loopback(lambda _: Answered(bodies, kind=kind))
    with serving(server):
        setup = ProviderSetup(name="acme", kind=family, base_url=f"http://127.0.0.1:{server.server_port}")
        async with aclosing(WAYS[family].make(setup)) as provider:
            return await heard(provider, asking())


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream", "text/plain; charset=utf-8", ""])
@pytest.mark.parametrize("family", WAYS)
@pytest.mark.parametrize("shape", ["compact", "pretty", "listed", "after blank lines"])
async def test_one_document_is_read_as_the_answer(family: str, kind: str, shape: str) -> None:
    document = WAYS[family].document
    body = {
        "compact": json.dumps(document).encode(),
        "pretty": b"\xef\xbb\xbf" + json.dumps(document, indent=2).encode() + b"\n\n",
        "listed": json.dumps([document]).encode(),
        "after blank lines": b"\n\n  \r\n" + json.dumps(document).encode(),
    }[shape]
    events, failure = await _answered(family, body, kind=kind)
    assert failure is None
    assert isinstance(events[-1], Finished)
    response = events[-1].response
    assert (response.text, response.stop) == ("Hello", "tool_calls")
    assert "".join(event.text for event in events if isinstance(event, TextChunk)) == "Hello"
    assert "".join(event.text for event in events if isinstance(event, ThoughtChunk)) == "hm"
    assert [(call.name, call.arguments) for call in response.tool_calls] == [("f", "{}")]
    assert response.usage == Usage(input_tokens=7, output_tokens=5)


@pytest.mark.parametrize("family", WAYS)
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_an_error_in_a_document_is_that_error(family: str, kind: str) -> None:
    error = {"error": {"message": "Rate limit reached", "type": "rate_limit_error", "code": 429}}
    _, failure = await _answered(family, json.dumps(error).encode(), kind=kind)
    assert isinstance(failure, RateLimited)


@pytest.mark.parametrize("family", WAYS)
@pytest.mark.parametrize("body", [b"{}", b'{"status": "ok"}', b"[1, 2]", b'{"choices": [', b"[[]]", b"{nope"])
async def test_a_document_without_an_answer_is_said_to_be_none(family: str, body: bytes) -> None:
    _, failure = await _answered(family, body, kind="application/json")
    assert isinstance(failure, MalformedReply)


async def test_documents_one_a_line_are_chunks() -> None:
    lines = [{"choices": [{"delta": {"content": word}}]} for word in ("Hel", "lo")]
    events, failure = await _answered("openai", *(json.dumps(line).encode() + b"\n" for line in lines), kind="")
    assert failure is None
    assert events[-1].response.text == "Hello"


def _chunks(*events: Any, done: bool = True) -> list[bytes]:
    return [*(f"data: {json.dumps(event)}\n\n".encode() for event in events), *([b"data: [DONE]\n\n"] if done else [])]


def _openai(*deltas: Any) -> list[Any]:
    return [{"choices": [{"delta": delta, "finish_reason": None}]} for delta in deltas]


_CALL = {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{}"}}]}
_BLOCK = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hi"}}
_ITEM = {"type": "response.output_text.delta", "output_index": 0, "delta": "Hi"}
_PIECE = {"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}
UNFINISHED: Sequence[tuple[Callable[[], AnswerParser], list[Any], str, str]] = [
    (lambda: OpenAIStream(provider="p", model="m", clock=CLOCK), _openai({"content": "Hi"}), "Hi", "end"),
    (lambda: OpenAIStream(provider="p", model="m", clock=CLOCK), _openai({"content": "Hi <thi"}), "Hi <thi", "end"),
    (lambda: OpenAIStream(provider="p", model="m", clock=CLOCK), _openai(_CALL), "", "tool_calls"),
    (lambda: AnthropicStream(provider="p", model="m"), [_BLOCK], "Hi", "end"),
    (lambda: ResponsesStream(provider="p", model="m"), [_ITEM], "Hi", "end"),
    (lambda: GeminiStream(provider="p", model="m", clock=CLOCK), [_PIECE], "Hi", "end"),
]


@pytest.mark.parametrize(("make", "events", "text", "stop"), UNFINISHED)
def test_a_stream_that_says_it_is_over_is_a_whole_answer(
    make: Callable[[], AnswerParser], events: list[Any], text: str, stop: str
) -> None:
    parser = make()
    shown = [event for chunk in _chunks(*events) for event in parser.feed(chunk)]
    response = parser.response()
    assert (response.text, response.stop) == (text, stop)
    assert "".join(event.text for event in shown if isinstance(event, TextChunk)) == text


@pytest.mark.parametrize(("make", "events", "text", "stop"), UNFINISHED)
def test_a_stream_that_just_ends_is_interrupted(
    make: Callable[[], AnswerParser], events: list[Any], text: str, stop: str
) -> None:
    del text, stop
    parser = make()
    for chunk in _chunks(*events, done=False):
        parser.feed(chunk)
    with pytest.raises(StreamInterrupted):
        parser.response()


def test_a_message_whose_reason_to_stop_was_told_is_whole_without_its_last_event() -> None:
    parser = AnthropicStream(provider="p", model="m")
    stop = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    for chunk in _chunks(_BLOCK, stop, done=False):
        parser.feed(chunk)
    assert parser.response().text == "Hi"


def test_a_last_line_of_ollama_without_an_end_is_shown() -> None:
    parser = OllamaStream(provider="p", model="m", clock=CLOCK)
    shown = [*parser.feed(b'{"message": {"content": "Hi"}, "done": true}'), *parser.ended()]
    assert shown == [TextChunk(text="Hi")]
    assert parser.response().text == "Hi"


def test_ollama_without_its_last_word_is_interrupted() -> None:
    parser = OllamaStream(provider="p", model="m", clock=CLOCK)
    parser.feed(b'{"message": {"content": "Hi"}, "done": false}\n')
    with pytest.raises(StreamInterrupted):
        parser.response()
