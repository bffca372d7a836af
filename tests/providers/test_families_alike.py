"""One conversation through every wire family: whatever the vendor, it is asked the same and its answer reads alike."""

import json
import struct
from collections.abc import Callable, Mapping
from typing import NamedTuple
from zlib import crc32

import pytest

from claw_acp.contracts.provider import ChatRequest, ChatResponse, StreamEvent, TextChunk, ThoughtChunk
from claw_acp.contracts.provider_setup import NO_QUIRKS
from claw_acp.core.errors import EmptyAnswer, StreamInterrupted
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import Message, Reasoning, ToolCall, Usage
from claw_acp.core.value import replace
from claw_acp.providers.anthropic.request import messages_request
from claw_acp.providers.anthropic.stream import AnthropicStream
from claw_acp.providers.bedrock.request import converse_body
from claw_acp.providers.bedrock.stream import BedrockStream
from claw_acp.providers.gemini.request import generate_content
from claw_acp.providers.gemini.stream import GeminiStream
from claw_acp.providers.ollama.stream import OllamaStream
from claw_acp.providers.openai.request import chat_completion
from claw_acp.providers.openai.stream import OpenAIStream
from claw_acp.providers.responses.request import responses_request
from claw_acp.providers.responses.stream import ResponsesStream
from claw_acp.providers.transport.answer_parser import AnswerParser
from tests.providers.conversation import MESSAGES, asking
from tests.support.fixed_clock import FixedClock
from tests.support.servers.gemini_replies import gemini_events
from tests.support.servers.model_replies import Call, Json, Say, Tokens, anthropic_events, openai_events
from tests.support.servers.ollama_server import lines
from tests.support.servers.responses_replies import responses_events

CALLS = (Call(name="read_file", arguments={"path": "żółć.py"}, id="c1"), Call(name="list_dir", arguments={}, id="c2"))
TOKENS = Tokens(input=10, output=7)


class Family(NamedTuple):
    """How a family answers, and its words for an answer that was cut."""

    parser: Callable[[], AnswerParser]
    answer: Callable[[Say], list[bytes]]
    cut: str


def _ollama(say: Say) -> list[bytes]:
    counts = (TOKENS.input, TOKENS.output)
    return lines(*say.text, thinking=say.thinking, calls=say.calls, reason=say.stop or "stop", counts=counts)


def _bedrock(say: Say) -> list[bytes]:
    """Shapes: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html."""
    blocks: list[tuple[Json, list[Json]]] = []
    if say.thinking:
        thoughts: list[Json] = [{"reasoningContent": {"text": piece}} for piece in say.thinking]
        blocks.append((None, [*thoughts, {"reasoningContent": {"signature": say.signature}}]))
    if say.text:
        blocks.append((None, [{"text": piece} for piece in say.text]))
    for call in say.calls:
        start: Json = {"toolUse": {"toolUseId": call.id, "name": call.name}}
        blocks.append((start, [{"toolUse": {"input": piece}} for piece in call.fragments()]))
    events = [_framed("messageStart", role="assistant")]
    for index, (begun, deltas) in enumerate(blocks):
        if begun:
            events.append(_framed("contentBlockStart", contentBlockIndex=index, start=begun))
        events += [_framed("contentBlockDelta", contentBlockIndex=index, delta=delta) for delta in deltas]
        events.append(_framed("contentBlockStop", contentBlockIndex=index))
    events.append(_framed("messageStop", stopReason=say.stop or ("tool_use" if say.calls else "end_turn")))
    usage: Json = {"inputTokens": TOKENS.input, "outputTokens": TOKENS.output}
    return [*events, _framed("metadata", usage=usage)]


def _framed(kind: str, **payload: Json) -> bytes:
    """A message of an `application/vnd.amazon.eventstream`."""
    headers = b"".join(
        bytes((len(name),)) + name + b"\x07" + struct.pack(">H", len(value)) + value
        for name, value in ((b":event-type", kind.encode()), (b":message-type", b"event"))
    )
    body = json.dumps(payload).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    message = prelude + struct.pack(">I", crc32(prelude)) + headers + body
    return message + struct.pack(">I", crc32(message))


FAMILIES: Mapping[str, Family] = {
    "openai": Family(lambda: OpenAIStream(provider="acme", model="m", clock=FixedClock()), openai_events, "length"),
    "anthropic": Family(lambda: AnthropicStream(provider="acme", model="m"), anthropic_events, "max_tokens"),
    "responses": Family(lambda: ResponsesStream(provider="acme", model="m"), responses_events, "max_output_tokens"),
    "gemini": Family(lambda: GeminiStream(provider="acme", model="m", clock=FixedClock()), gemini_events, "MAX_TOKENS"),
    "ollama": Family(lambda: OllamaStream(provider="acme", model="m", clock=FixedClock()), _ollama, "length"),
    "bedrock": Family(lambda: BedrockStream(provider="acme", model="m"), _bedrock, "max_tokens"),
}
family = pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))


def answered(family: Family, say: Say) -> tuple[str, str, ChatResponse]:
    """The visible text, the visible thinking and the response."""
    parser = family.parser()
    events: list[StreamEvent] = [*parser.feed(b"".join(family.answer(say)))]
    text = "".join(event.text for event in events if isinstance(event, TextChunk))
    thinking = "".join(event.text for event in events if isinstance(event, ThoughtChunk))
    return text, thinking, parser.response()


def written(arguments: str) -> str:
    """Arguments in one spelling."""
    return json.dumps(json.loads(arguments))


def plain(response: ChatResponse) -> ChatResponse:
    """The response without what only its vendor understands, and arguments in one spelling."""
    calls = tuple(replace(call, extra=None, arguments=written(call.arguments)) for call in response.tool_calls)
    reasoning = tuple(Reasoning(text=block.text) for block in response.reasoning)
    return replace(response, tool_calls=calls, reasoning=reasoning)


@family
@pytest.mark.parametrize("calls", [(), CALLS[:1], CALLS], ids=["no calls", "a call", "calls at once"])
@pytest.mark.parametrize("thinking", [(), ("Let me ", "see.")], ids=["", "thinking"])
def test_text_thinking_calls_usage_and_stop_come_out_alike(
    family: Family, calls: tuple[Call, ...], thinking: tuple[str, ...]
) -> None:
    text, thought, response = answered(family, Say(thinking=thinking, text=("Hel", "lo 🦀"), calls=calls, usage=TOKENS))
    assert (text, thought) == ("Hello 🦀", "".join(thinking))
    assert plain(response) == ChatResponse(
        text="Hello 🦀",
        tool_calls=tuple(ToolCall(id=call.id, name=call.name, arguments=written(call.json)) for call in calls),
        reasoning=(Reasoning(text="Let me see."),) if thinking else (),
        usage=Usage(input_tokens=10, output_tokens=7),
        stop="tool_calls" if calls else "end",
    )


@family
def test_an_answer_that_ran_out_of_tokens_says_so(family: Family) -> None:
    assert answered(family, Say(text=("cut",), stop=family.cut, usage=TOKENS))[2].stop == "max_tokens"


@family
def test_an_answer_with_nothing_in_it_is_an_error(family: Family) -> None:
    with pytest.raises(EmptyAnswer):
        answered(family, Say(thinking=("hm",), usage=TOKENS))


@family
def test_an_answer_without_its_end_is_an_error(family: Family) -> None:
    events = family.answer(Say(text=("x", "y"), usage=TOKENS))
    parser = family.parser()
    for read in events[: len(events) // 2]:
        parser.feed(read)
    with pytest.raises(StreamInterrupted, match="in the middle of its answer"):
        parser.response()


# ------------------------------------------------------------------ requests

REQUESTS: Mapping[str, Callable[[ChatRequest], JsonObject]] = {
    "openai": lambda request: chat_completion(request, quirks=NO_QUIRKS, provider="acme"),
    "anthropic": lambda request: messages_request(request, provider="acme"),
    "responses": lambda request: responses_request(request, provider="acme"),
    "gemini": lambda request: generate_content(request, provider="acme"),
    "bedrock": lambda request: converse_body(request, provider="acme"),
}


@pytest.mark.parametrize("body", REQUESTS.values(), ids=list(REQUESTS))
def test_everything_that_was_said_is_asked_once(body: Callable[[ChatRequest], JsonObject]) -> None:
    sent = json.dumps(body(asking(*MESSAGES, tools=True)))
    for words in ("Be brief.", "Look at [a.py]", "# B", "Reading.", "print(1)", "not JSON", "Go on.", "Please."):
        assert sent.count(words) == 1, words
    assert sent.count("aGk=") == 2  # a person's image, and a tool's
    assert sent.count("Read a file") == 1


@pytest.mark.parametrize("body", REQUESTS.values(), ids=list(REQUESTS))
def test_what_another_vendor_signed_stays_at_home(body: Callable[[ChatRequest], JsonObject]) -> None:
    strange = tuple(Reasoning(text="hm", signature="SECRET", origin=f"other-{number}") for number in range(2))
    said = Message.assistant("Well.", reasoning=(*strange, Reasoning(text="", redacted="SECRET", origin="other")))
    assert "SECRET" not in json.dumps(body(asking(Message.user("x"), said, Message.user("y"))))
