"""The thinking of the OpenAI family: as it is read, kept, and sent back, also after a change of provider."""

import json
from typing import Any, Literal

import pytest

from claw_acp.contracts.provider import ChatResponse, StreamEvent, TextChunk, ThoughtChunk
from claw_acp.contracts.provider_setup import Quirks
from claw_acp.core.messages import Message, Reasoning
from claw_acp.providers.anthropic.request import messages_request
from claw_acp.providers.anthropic.stream import AnthropicStream
from claw_acp.providers.openai.request import chat_completion
from claw_acp.providers.openai.stream import OpenAIStream
from tests.providers.conversation import FIRST, asking
from tests.support.fixed_clock import FixedClock
from tests.support.servers.model_replies import Json, Say, anthropic_events, openai_events

Member = Literal["reasoning_content", "reasoning", "none"]


def read(*deltas: Json) -> tuple[list[StreamEvent], ChatResponse]:
    parser = OpenAIStream(provider="acme", model="m", clock=FixedClock())
    chunks: list[Json] = [{"choices": [{"delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    events = [event for chunk in chunks for event in parser.feed(f"data: {json.dumps(chunk)}\n\n".encode())]
    return events, parser.response()


def sent(message: Message, member: Member | None) -> dict[str, Any]:
    """What of the thinking of a message is sent back to a service of this family."""
    request = asking(Message.user("q"), message)
    body: Any = chat_completion(request, quirks=Quirks(reasoning=member), provider="acme")
    return {name: value for name, value in body["messages"][1].items() if "reasoning" in name}


def to_anthropic(message: Message) -> list[str]:
    body: Any = messages_request(asking(Message.user("q"), message, Message.user("r")), provider="acme")
    return [block["type"] for block in body["messages"][1]["content"]]


def test_plain_thinking_belongs_to_nobody_and_is_sent_back_where_it_is_wanted() -> None:
    """https://api-docs.deepseek.com/guides/thinking_mode; https://docs.z.ai/guides/capabilities/thinking-mode."""
    _, response = read({"reasoning_content": "h"}, {"reasoning_content": "m"}, {"content": "x"})
    assert response.reasoning == (Reasoning(text="hm"),)
    message = Message.assistant("x", reasoning=response.reasoning)
    assert sent(message, "reasoning_content") == {"reasoning_content": "hm"}
    assert sent(message, "reasoning") == {"reasoning": "hm"}
    assert sent(message, "none") == {}
    assert sent(message, None) == {}


def test_a_call_without_thinking_is_given_a_blank_where_services_refuse_it_otherwise() -> None:
    """DeepSeek and Kimi want a member with every call: https://github.com/charmbracelet/crush/issues/2696."""
    call = Message.assistant(tool_calls=(FIRST,))
    assert sent(call, "reasoning_content") == {"reasoning_content": " "}
    assert sent(Message.assistant("x"), "reasoning_content") == {}
    assert sent(call, "reasoning") == {}
    assert sent(call, None) == {}


# ------------------------------------------------------------------ OpenRouter's details


DETAILED: tuple[Json, ...] = (
    {"reasoning": "I ", "reasoning_details": [{"type": "reasoning.text", "text": "I ", "index": 0, "format": "f"}]},
    {"reasoning": "see", "reasoning_details": [{"type": "reasoning.text", "text": "see", "index": 0}]},
    {"reasoning_details": [{"type": "reasoning.text", "text": "", "signature": "sig", "index": 0}]},
    {"reasoning_details": [{"type": "reasoning.encrypted", "data": "AB", "id": "r1", "index": 1, "signature": None}]},
    {"reasoning_details": [{"type": "reasoning.encrypted", "data": "CD", "index": 1}]},
    {"content": "x"},
)
TOGETHER = [
    {"type": "reasoning.text", "text": "I see", "index": 0, "format": "f", "signature": "sig"},
    {"type": "reasoning.encrypted", "data": "ABCD", "id": "r1", "index": 1},
]


def test_details_are_put_together_and_sent_back_as_they_came() -> None:
    """https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks."""
    events, response = read(*DETAILED)
    (block,) = response.reasoning
    assert (block.text, block.origin) == ("I see", "openai")
    assert json.loads(block.signature or "") == TOGETHER
    assert events == [
        ThoughtChunk(text="I "),
        ThoughtChunk(text="see"),
        TextChunk(text="x"),
        ThoughtChunk(text="", signature=block.signature, origin="openai"),
    ]
    message = Message.assistant("x", reasoning=response.reasoning)
    assert sent(message, "reasoning") == {"reasoning_details": TOGETHER}
    assert sent(message, "reasoning_content") == {"reasoning_content": "I see"}
    assert sent(message, None) == {}


def test_details_that_say_no_more_than_the_text_are_not_kept() -> None:
    detail: Json = {"type": "reasoning.text", "text": "hm", "index": 0, "format": "unknown", "id": None}
    _, response = read({"reasoning": "hm", "reasoning_details": [detail]}, {"content": "x"})
    assert response.reasoning == (Reasoning(text="hm"),)


def test_details_alone_are_thinking_too() -> None:
    events, response = read(
        {"reasoning_details": [{"type": "reasoning.summary", "summary": "In short", "index": 0}, "nonsense"]},
        {"content": "x"},
    )
    assert events[0] == ThoughtChunk(text="In short")
    assert sent(Message.assistant("x", reasoning=response.reasoning), "reasoning") == {
        "reasoning_details": [{"type": "reasoning.summary", "summary": "In short", "index": 0}]
    }


@pytest.mark.parametrize("signature", ["{", '"text"', "null"])
def test_details_that_cannot_be_read_any_more_are_sent_as_text(signature: str) -> None:
    block = Reasoning(text="hm", signature=signature, origin="openai")
    assert sent(Message.assistant("x", reasoning=(block,)), "reasoning") == {"reasoning": "hm"}


# ------------------------------------------------------------------ after a change of provider


def test_what_anthropics_model_thought_is_not_sent_as_this_familys() -> None:
    parser = AnthropicStream(provider="acme", model="m")
    for event in anthropic_events(Say(thinking=("hm",), signature="s", text=("x",))):
        parser.feed(event)
    message = Message.assistant("x", tool_calls=(FIRST,), reasoning=parser.response().reasoning)
    assert sent(message, "reasoning_content") == {"reasoning_content": " "}
    assert sent(message, "reasoning") == {}
    assert to_anthropic(message) == ["thinking", "text", "tool_use"]


@pytest.mark.parametrize(
    "block",
    [
        Reasoning(text="", redacted="zzz"),
        Reasoning(text="hm", signature="s"),
        Reasoning(text="hm", signature="s", origin="gemini"),
        Reasoning(text="hm", origin="gemini"),
    ],
)
def test_thinking_of_other_families_is_theirs(block: Reasoning) -> None:
    message = Message.assistant("x", reasoning=(block,))
    assert sent(message, "reasoning") == {}
    assert sent(message, "reasoning_content") == {}


def test_what_this_familys_model_thought_is_not_sent_to_anthropic() -> None:
    for reasoning in (read(*DETAILED)[1].reasoning, (Reasoning(text="hm"),)):
        assert to_anthropic(Message.assistant("x", reasoning=reasoning)) == ["text"]


def test_own_and_foreign_thinking_of_one_message_are_told_apart() -> None:
    mixed = (Reasoning(text="a"), Reasoning(text="b", signature="s", origin="anthropic"), Reasoning(text="c"))
    assert sent(Message.assistant("x", reasoning=mixed), "reasoning") == {"reasoning": "ac"}


def test_a_stream_with_details_is_the_same_wherever_its_bytes_are_cut() -> None:
    chunks: list[Json] = [{"choices": [{"delta": delta}]} for delta in DETAILED]
    chunks.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    body = b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks) + openai_events(Say())[-1]

    def whole(*reads: bytes) -> ChatResponse:
        parser = OpenAIStream(provider="acme", model="m", clock=FixedClock())
        for data in reads:
            parser.feed(data)
        return parser.response()

    expected = whole(body)
    assert expected.reasoning[0].text == "I see"
    for cut in range(1, len(body)):
        assert whole(body[:cut], body[cut:]) == expected, cut
