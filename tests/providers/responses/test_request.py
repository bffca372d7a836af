"""Requests in the words of OpenAI's Responses API (https://platform.openai.com/docs/api-reference/responses/create)."""

import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from claw_acp.contracts.provider import ChatRequest, OneTool
from claw_acp.core.errors import RequestRejected
from claw_acp.core.messages import AudioPart, Message, Reasoning, ToolCall
from claw_acp.core.value import replace
from claw_acp.providers.responses.request import responses_request
from tests.providers.conversation import FIRST, IMAGE, MESSAGES, asking


def body(request: ChatRequest, *, summaries: bool = True) -> Any:
    return responses_request(request, provider="openai", summaries=summaries)


def kept(text: str = "", *, origin: str = "responses", place: tuple[int, ...] = (0, 0, 0), **vendors: str) -> Reasoning:
    return Reasoning(text=text, signature=json.dumps({"place": place, **vendors}), origin=origin)


def test_a_whole_conversation_with_tools_and_images() -> None:
    assert body(asking(*MESSAGES, tools=True)) == snapshot(
        {
            "model": "test-model",
            "input": [
                {
                    "type": "message",
                    "role": "user",
                    "content": [
                        {
                            "type": "input_text",
                            "text": """\
Look at [a.py](file:///p/a.py)
<resource uri="file:///p/b.md">
# B
</resource>
""",
                        },
                        {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "auto"},
                    ],
                },
                {"type": "message", "role": "assistant", "content": "Reading."},
                {"type": "function_call", "call_id": "call_1", "name": "read_file", "arguments": '{"path": "a.py"}'},
                {"type": "function_call", "call_id": "call:2", "name": "read_file", "arguments": "{}"},
                {
                    "type": "function_call_output",
                    "call_id": "call_1",
                    "output": [
                        {"type": "input_text", "text": "print(1)"},
                        {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "auto"},
                    ],
                },
                {"type": "function_call_output", "call_id": "call:2", "output": "arguments are not JSON"},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go on."}]},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Please."}]},
            ],
            "stream": True,
            "store": False,
            "prompt_cache_key": "eeea23a86d4503396f13cdb517747639",
            "instructions": "Be brief.",
            "tools": [
                {
                    "type": "function",
                    "name": "read_file",
                    "description": "Read a file",
                    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
                    "strict": False,
                }
            ],
        }
    )


def test_a_short_conversation_with_a_model_that_thinks() -> None:
    assert body(asking(model="gpt-5.1", effort="high", max_tokens=500, top_p=0.5, temperature=1.0)) == snapshot(
        {
            "model": "gpt-5.1",
            "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
            "stream": True,
            "store": False,
            "prompt_cache_key": "e6908025cd50ce380feecfeaedb70ba2",
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "high", "summary": "auto"},
            "max_output_tokens": 500,
        }
    )


def test_reasoning_goes_back_encrypted_before_the_calls_it_belongs_to() -> None:
    """https://developers.openai.com/api/docs/guides/reasoning: kept in context with function calls, encrypted."""
    blocks = (
        kept("Look first.", id="rs_1", encrypted_content="gAAA"),
        kept(id="rs_2", encrypted_content="gBBB", place=(8, 8, 1)),
    )
    second = ToolCall(id="call_2", name="read_file", arguments="{}")
    said = Message.assistant("Reading.", tool_calls=(FIRST, second), reasoning=blocks)
    assert body(asking(said, model="gpt-5"))["input"] == snapshot(
        [
            {
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "Look first."}],
                "id": "rs_1",
                "encrypted_content": "gAAA",
            },
            {"type": "message", "role": "assistant", "content": "Reading."},
            {"type": "function_call", "call_id": "call_1", "name": "read_file", "arguments": '{"path": "a.py"}'},
            {"type": "reasoning", "summary": [], "id": "rs_2", "encrypted_content": "gBBB"},
            {"type": "function_call", "call_id": "call_2", "name": "read_file", "arguments": "{}"},
        ]
    )


@pytest.mark.parametrize(
    "block",
    [
        Reasoning(text="hm"),
        Reasoning(text="hm", signature="sig", origin="anthropic"),
        Reasoning(text="hm", signature="sig"),
        Reasoning(text="hm", redacted="xyz", origin="responses"),
        Reasoning(text="hm", signature="no JSON", origin="responses"),
        Reasoning(text="hm", signature='{"place": [1]}', origin="responses"),
        Reasoning(text="hm", signature='{"place": ["a", 0, 0]}', origin="responses"),
        kept("hm", origin="gemini", thoughtSignature="s"),
    ],
)
def test_reasoning_that_this_vendor_does_not_understand_is_not_sent(block: Reasoning) -> None:
    said = Message.assistant("Reading.", tool_calls=(FIRST,), reasoning=(block,))
    assert [item["type"] for item in body(asking(said))["input"]] == ["message", "function_call"]


def test_messages_keep_their_phase_and_their_place_after_calls() -> None:
    blocks = (kept(phase="commentary"), kept(phase="final_answer", place=(4, 6, 1)))
    blocks = (replace(blocks[0], signature='{"place": [0, 2, 0], "phase": "commentary"}'), blocks[1])
    said = Message.assistant("m1\n\nm2", tool_calls=(FIRST,), reasoning=blocks)
    given = body(asking(said))["input"]
    assert [(item["type"], item.get("content"), item.get("phase")) for item in given] == [
        ("message", "m1", "commentary"),
        ("function_call", None, None),
        ("message", "m2", "final_answer"),
    ]


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("none", "none"),
        ("required", "required"),
        (OneTool(name="read_file"), {"type": "function", "name": "read_file"}),
    ],
)
def test_the_choice_of_tools_is_passed_on(choice: object, sent: object) -> None:
    assert body(asking(tools=True, tool_choice=choice))["tool_choice"] == sent
    assert "tool_choice" not in body(asking(tool_choice=choice))
    assert "tool_choice" not in body(asking(tools=True))


@pytest.mark.parametrize(
    ("model", "effort", "reasoning"),
    [
        ("gpt-5.1", None, {"summary": "auto"}),
        ("gpt-5.1", "low", {"effort": "low", "summary": "auto"}),
        ("gpt-5.1", "off", {"effort": "none"}),
        ("gpt-5-mini", "off", {"effort": "minimal"}),
        ("o3", "off", {"effort": "low"}),
        ("gpt-4.1", "high", None),
        ("gpt-4.1", "off", None),
        ("my-own-model", None, None),
        ("my-own-model", "high", {"effort": "high", "summary": "auto"}),
        ("my-own-model", "off", None),
    ],
)
def test_effort_is_asked_of_models_that_think(model: str, effort: str | None, reasoning: object) -> None:
    sent = body(asking(model=model, effort=effort))
    assert sent.get("reasoning") == reasoning
    assert sent.get("include") == (["reasoning.encrypted_content"] if reasoning else None)


@pytest.mark.parametrize(
    ("model", "effort", "taken"),
    [
        ("gpt-5.1", None, True),
        ("gpt-5.1", "off", True),
        ("gpt-5.1", "low", False),
        ("gpt-5.6", None, False),
        ("gpt-5", None, False),
        ("gpt-5-mini", "off", False),
        ("o3", None, False),
        ("gpt-4.1", None, True),
        ("gpt-5-chat-latest", None, True),
        ("gpt-oss-120b", "low", True),
        ("my-own-model", "low", True),
    ],
)
def test_sampling_is_left_to_models_that_think(model: str, effort: str | None, *, taken: bool) -> None:
    sent = body(asking(model=model, effort=effort, temperature=0.2, top_p=0.5))
    assert [name for name in ("temperature", "top_p") if name in sent] == (["temperature", "top_p"] if taken else [])


def test_summaries_can_be_left_out() -> None:
    assert "reasoning" not in body(asking(model="gpt-5"), summaries=False)
    assert body(asking(model="gpt-5", effort="low"), summaries=False)["reasoning"] == {"effort": "low"}


def test_the_least_the_api_takes_is_asked_for() -> None:
    assert body(asking(max_tokens=1))["max_output_tokens"] == 16


def test_a_conversation_has_one_name_for_its_cache_and_another_has_another() -> None:
    first = body(asking(*MESSAGES[:2]))["prompt_cache_key"]
    assert body(asking(*MESSAGES))["prompt_cache_key"] == first
    assert body(asking(MESSAGES[0], Message.user("else")))["prompt_cache_key"] != first


def test_images_of_tools_stand_in_their_outputs() -> None:
    given = body(asking(Message.tool(FIRST, "seen", IMAGE), Message.tool(FIRST)))["input"]
    assert [item["output"] for item in given] == [
        [
            {"type": "input_text", "text": "seen"},
            {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "auto"},
        ],
        "(no output)",
    ]


def test_ids_longer_than_the_api_takes_are_shortened_alike_on_both_sides() -> None:
    call = replace(FIRST, id="toolu_" + "x" * 80)
    asked, answered = body(asking(Message.assistant(tool_calls=(call,)), Message.tool(call, "x")))["input"]
    assert asked["call_id"] == answered["call_id"]
    assert len(asked["call_id"]) <= 64


def test_sound_is_refused_before_it_is_sent() -> None:
    with pytest.raises(RequestRejected, match="openai cannot listen to audio"):
        body(asking(Message.user(AudioPart(data="", mime_type="audio/wav"))))
