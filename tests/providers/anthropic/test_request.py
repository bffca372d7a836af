import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from claw_acp.contracts.provider import ChatRequest, OneTool
from claw_acp.core.errors import RequestRejected
from claw_acp.core.messages import AudioPart, Message, Reasoning, ToolCall
from claw_acp.providers.anthropic.request import messages_request
from tests.providers.conversation import FIRST, MESSAGES, asking

BUDGET_MODEL = "claude-sonnet-4-5"
SUMMED_UP = {"type": "adaptive", "display": "summarized"}


def body(request: ChatRequest) -> Any:
    return messages_request(request, provider="anthropic")


def test_a_whole_conversation_with_tools_images_and_thinking() -> None:
    assert body(asking(*MESSAGES, tools=True)) == snapshot(
        {
            "model": "test-model",
            "max_tokens": 16000,
            "stream": True,
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "text",
                            "text": """\
Look at [a.py](file:///p/a.py)
<resource uri="file:///p/b.md">
# B
</resource>
""",
                        },
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "I should read.", "signature": "sig"},
                        {"type": "redacted_thinking", "data": "xyz"},
                        {"type": "text", "text": "Reading."},
                        {"type": "tool_use", "id": "call_1", "name": "read_file", "input": {"path": "a.py"}},
                        {"type": "tool_use", "id": "call_2", "name": "read_file", "input": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "call_1",
                            "content": [
                                {"type": "text", "text": "print(1)"},
                                {
                                    "type": "image",
                                    "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
                                },
                            ],
                        },
                        {
                            "type": "tool_result",
                            "tool_use_id": "call_2",
                            "content": [{"type": "text", "text": "arguments are not JSON"}],
                            "is_error": True,
                        },
                        {"type": "text", "text": "Go on."},
                        {"type": "text", "text": "Please.", "cache_control": {"type": "ephemeral"}},
                    ],
                },
            ],
            "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
            "tools": [
                {
                    "name": "read_file",
                    "description": "Read a file",
                    "input_schema": {
                        "type": "object",
                        "properties": {"path": {"type": "string"}},
                        "required": ["path"],
                    },
                }
            ],
        }
    )


def test_options_are_sent_only_when_given() -> None:
    assert body(asking()) == snapshot(
        {
            "model": "test-model",
            "max_tokens": 16000,
            "stream": True,
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]}
            ],
        }
    )
    assert body(
        asking(
            model=BUDGET_MODEL,
            max_tokens=9,
            temperature=1.5,
            top_p=0.9,
            stop=("END",),
            tool_choice="none",
            tools=True,
        )
    ) == snapshot(
        {
            "model": "claude-sonnet-4-5",
            "max_tokens": 9,
            "stream": True,
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]}
            ],
            "tools": [
                {
                    "name": "read_file",
                    "description": "Read a file",
                    "input_schema": {
                        "type": "object",
                        "properties": {"path": {"type": "string"}},
                        "required": ["path"],
                    },
                    "cache_control": {"type": "ephemeral"},
                }
            ],
            "tool_choice": {"type": "none"},
            "temperature": 1.0,
            "top_p": 0.9,
            "stop_sequences": ["END"],
        }
    )


@pytest.mark.parametrize(
    ("model", "effort", "sent"),
    [
        (BUDGET_MODEL, "low", {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
        (BUDGET_MODEL, "high", {"thinking": {"type": "enabled", "budget_tokens": 12000}}),
        ("claude-sonnet-4-20250514", "medium", {"thinking": {"type": "enabled", "budget_tokens": 6000}}),
        ("claude-opus-4-8", "high", {"thinking": SUMMED_UP, "output_config": {"effort": "high"}}),
        ("claude-sonnet-5", "low", {"thinking": SUMMED_UP, "output_config": {"effort": "low"}}),
        ("claude-fable-5-1", "low", {"thinking": SUMMED_UP, "output_config": {"effort": "low"}}),
        ("claude-3-5-haiku-latest", "high", {}),
        (BUDGET_MODEL, "off", {}),
        (BUDGET_MODEL, None, {}),
    ],
)
def test_effort_is_asked_for_as_the_model_understands_it(model: str, effort: str | None, sent: object) -> None:
    request = body(asking(model=model, effort=effort))
    assert {key: value for key, value in request.items() if key in ("thinking", "output_config")} == sent


def test_a_thinking_budget_leaves_room_to_answer() -> None:
    assert body(asking(model=BUDGET_MODEL, effort="high", max_tokens=4096))["thinking"]["budget_tokens"] == 3072
    assert "thinking" not in body(asking(model=BUDGET_MODEL, effort="high", max_tokens=2000))


def test_thinking_and_sampling_are_left_out_where_the_api_refuses_them() -> None:
    thinks = body(asking(model=BUDGET_MODEL, effort="low", temperature=0.5, top_p=0.5))
    assert not {"temperature", "top_p"} & thinks.keys()
    for model in ("claude-opus-4-8", "claude-opus-5-5", "claude-fable-5", "claude-mythos-5"):
        assert not {"temperature", "top_p"} & body(asking(model=model, temperature=0.5, top_p=0.5)).keys()
    assert "thinking" not in body(asking(model=BUDGET_MODEL, effort="low", tools=True, tool_choice="required"))


def test_one_tool_can_be_demanded_and_then_there_is_no_thinking() -> None:
    """https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools#forcing-tool-use."""
    sent = body(asking(model=BUDGET_MODEL, effort="low", tools=True, tool_choice=OneTool(name="read_file")))
    assert sent["tool_choice"] == {"type": "tool", "name": "read_file"}
    assert "thinking" not in sent


def test_a_round_of_tools_begun_without_thinking_ends_without_it() -> None:
    result = Message.tool(FIRST, "x")
    plain = Message.assistant(tool_calls=(FIRST,))
    thought = Message.assistant(tool_calls=(FIRST,), reasoning=(Reasoning(text="t", signature="s"),))
    user = Message.user("hi")
    assert "thinking" not in body(asking(user, plain, result, model=BUDGET_MODEL, effort="low"))
    assert "thinking" in body(asking(user, thought, result, model=BUDGET_MODEL, effort="low"))


def test_a_conversation_starts_with_the_user_and_roles_alternate() -> None:
    said = body(asking(Message.assistant("a"), Message.assistant("b"), Message.user("c"), Message.user("d")))[
        "messages"
    ]
    assert [message["role"] for message in said] == ["user", "assistant", "user"]
    assert [block["text"] for block in said[1]["content"]] == ["a", "b"]


def test_results_come_before_what_the_user_said_in_the_same_turn() -> None:
    said = body(
        asking(Message.user("q"), Message.assistant(tool_calls=(FIRST,)), Message.user("b"), Message.tool(FIRST, "r"))
    )
    assert [block["type"] for block in said["messages"][2]["content"]] == ["tool_result", "text"]


def test_thinking_of_another_vendor_and_blank_text_are_not_sent() -> None:
    said = body(
        asking(Message.user("q"), Message.assistant(" \n", reasoning=(Reasoning(text="t"),)), Message.user("r"))
    )
    assert [message["role"] for message in said["messages"]] == ["user"]


@pytest.mark.parametrize("arguments", ["", "{", "[1]", '"x"', "null"])
def test_arguments_that_are_no_object_are_sent_as_an_empty_one(arguments: str) -> None:
    call = ToolCall(id="c", name="f", arguments=arguments)
    assert (
        body(asking(Message.user("q"), Message.assistant(tool_calls=(call,))))["messages"][1]["content"][0]["input"]
        == {}
    )


def test_never_more_than_four_cache_marks() -> None:
    assert json.dumps(body(asking(*MESSAGES, *MESSAGES, tools=True))).count("cache_control") == 2
    assert json.dumps(body(asking(tools=True))).count("cache_control") == 2


def test_audio_is_refused_with_a_reason() -> None:
    with pytest.raises(RequestRejected, match="cannot listen to audio"):
        body(asking(Message.user(AudioPart(data="", mime_type="audio/wav"))))
