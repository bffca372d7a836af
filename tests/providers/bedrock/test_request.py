"""What is sent to Bedrock.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from claw_acp.contracts.provider import ChatRequest, OneTool
from claw_acp.core.errors import RequestRejected
from claw_acp.core.messages import AudioPart, Message, Reasoning, ToolCall
from claw_acp.providers.bedrock.models import cache_places
from claw_acp.providers.bedrock.request import converse_body, converse_path
from tests.providers.conversation import FIRST, IMAGE, MESSAGES, asking

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
NOVA = "amazon.nova-pro-v1:0"
LLAMA = "meta.llama3-3-70b-instruct-v1:0"


def body(request: ChatRequest) -> Any:
    return converse_body(request, provider="bedrock")


def points(request: ChatRequest) -> list[str]:
    """Where cache points stand."""
    sent = body(request)
    places = [("system", sent.get("system", [])), ("tools", sent.get("toolConfig", {}).get("tools", []))]
    places += [(f"message {index}", message["content"]) for index, message in enumerate(sent["messages"])]
    return [name for name, blocks in places for block in blocks if "cachePoint" in block]


def test_a_whole_conversation_with_tools_images_and_thinking() -> None:
    thought = Message.assistant(
        "Done.",
        reasoning=(
            Reasoning(text="So.", signature="sig2", origin="bedrock"),
            Reasoning(text="", redacted="eA==", origin="bedrock"),
        ),
    )
    assert body(asking(*MESSAGES, thought, Message.user("More."), model=CLAUDE, tools=True)) == snapshot(
        {
            "system": [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}],
            "toolConfig": {
                "tools": [
                    {
                        "toolSpec": {
                            "name": "read_file",
                            "description": "Read a file",
                            "inputSchema": {
                                "json": {
                                    "type": "object",
                                    "properties": {"path": {"type": "string"}},
                                    "required": ["path"],
                                }
                            },
                        }
                    }
                ]
            },
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {
                            "text": """\
Look at [a.py](file:///p/a.py)
<resource uri="file:///p/b.md">
# B
</resource>
"""
                        },
                        {"image": {"format": "png", "source": {"bytes": "aGk="}}},
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {"text": "Reading."},
                        {"toolUse": {"toolUseId": "call_1", "name": "read_file", "input": {"path": "a.py"}}},
                        {"toolUse": {"toolUseId": "call:2", "name": "read_file", "input": {}}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "toolResult": {
                                "toolUseId": "call_1",
                                "content": [
                                    {"text": "print(1)"},
                                    {"image": {"format": "png", "source": {"bytes": "aGk="}}},
                                ],
                                "status": "success",
                            }
                        },
                        {
                            "toolResult": {
                                "toolUseId": "call:2",
                                "content": [{"text": "arguments are not JSON"}],
                                "status": "error",
                            }
                        },
                        {"text": "Go on."},
                        {"text": "Please."},
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {"reasoningContent": {"reasoningText": {"text": "So.", "signature": "sig2"}}},
                        {"reasoningContent": {"redactedContent": "eA=="}},
                        {"text": "Done."},
                    ],
                },
                {"role": "user", "content": [{"text": "More."}, {"cachePoint": {"type": "default"}}]},
            ],
            "inferenceConfig": {"maxTokens": 16000},
        }
    )


def test_options_are_sent_only_when_given() -> None:
    assert body(asking(model=LLAMA)) == snapshot({"messages": [{"role": "user", "content": [{"text": "hi"}]}]})
    assert body(asking(model=LLAMA, max_tokens=9, temperature=1.5, top_p=0.9, stop=("END",), tools=True)) == snapshot(
        {
            "toolConfig": {
                "tools": [
                    {
                        "toolSpec": {
                            "name": "read_file",
                            "description": "Read a file",
                            "inputSchema": {
                                "json": {
                                    "type": "object",
                                    "properties": {"path": {"type": "string"}},
                                    "required": ["path"],
                                }
                            },
                        }
                    }
                ]
            },
            "messages": [{"role": "user", "content": [{"text": "hi"}]}],
            "inferenceConfig": {"maxTokens": 9, "temperature": 1.0, "topP": 0.9, "stopSequences": ["END"]},
        }
    )


@pytest.mark.parametrize(
    ("choice", "sent"),
    [("auto", None), ("required", {"any": {}}), (OneTool(name="read_file"), {"tool": {"name": "read_file"}})],
)
def test_a_choice_of_tools_is_sent_in_the_words_of_the_api(choice: object, sent: object) -> None:
    assert body(asking(model=CLAUDE, tools=True, tool_choice=choice))["toolConfig"].get("toolChoice") == sent


def test_tools_that_may_not_be_called_are_left_out_unless_the_conversation_holds_calls() -> None:
    """Without toolConfig the API refuses a conversation with toolUse blocks."""
    assert "toolConfig" not in body(asking(model=CLAUDE, tools=True, tool_choice="none"))
    history = (Message.user("q"), Message.assistant(tool_calls=(FIRST,)), Message.tool(FIRST, "r"))
    assert [tool["toolSpec"]["name"] for tool in body(asking(*history, model=NOVA))["toolConfig"]["tools"]] == [
        "read_file"
    ]
    assert "toolConfig" in body(asking(*history, model=NOVA, tools=True, tool_choice="none"))


@pytest.mark.parametrize(
    ("model", "effort", "fields", "most"),
    [
        (CLAUDE, "low", {"thinking": {"type": "enabled", "budget_tokens": 2048}}, 16_000),
        (CLAUDE, "off", None, 16_000),
        (CLAUDE, None, None, 16_000),
        ("anthropic.claude-3-haiku-20240307-v1:0", "high", None, 4_096),
        ("openai.gpt-oss-120b-1:0", "medium", {"reasoning_effort": "medium"}, None),
        ("openai.gpt-oss-120b-1:0", "off", {"reasoning_effort": "low"}, None),
        (
            "us.amazon.nova-2-lite-v1:0",
            "high",
            {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "medium"}},
            None,
        ),
        (NOVA, "high", None, None),
        (LLAMA, "high", None, None),
    ],
)
def test_effort_is_asked_for_in_the_words_of_the_models_maker(
    model: str, effort: str | None, fields: object, most: int | None
) -> None:
    sent = body(asking(model=model, effort=effort))
    assert sent.get("additionalModelRequestFields") == fields
    assert sent.get("inferenceConfig", {}).get("maxTokens") == most


def test_a_model_that_spends_its_effort_itself_is_told_the_effort() -> None:
    fields = body(asking(model="global.anthropic.claude-opus-4-8", effort="high"))["additionalModelRequestFields"]
    assert (fields["thinking"]["type"], fields["output_config"]) == ("adaptive", {"effort": "high"})


def test_thinking_and_sampling_are_left_out_where_the_models_refuse_them() -> None:
    thinks = body(asking(model=CLAUDE, effort="low", temperature=0.5, top_p=0.5))
    assert thinks["inferenceConfig"] == {"maxTokens": 16_000}
    assert "temperature" not in body(asking(model="anthropic.claude-opus-4-8", temperature=0.5))["inferenceConfig"]
    forced = body(asking(model=CLAUDE, effort="low", tools=True, tool_choice="required"))
    assert "additionalModelRequestFields" not in forced


def test_a_round_of_tools_begun_without_thinking_ends_without_it() -> None:
    plain = Message.assistant(tool_calls=(FIRST,))
    thought = Message.assistant(tool_calls=(FIRST,), reasoning=(Reasoning(text="t", signature="s", origin="bedrock"),))
    for message, thinks in ((plain, False), (thought, True)):
        sent = body(asking(Message.user("q"), message, Message.tool(FIRST, "x"), model=CLAUDE, effort="low"))
        assert ("additionalModelRequestFields" in sent) is thinks


def test_thinking_signed_elsewhere_is_not_sent() -> None:
    foreign = (Reasoning(text="a", signature="s"), Reasoning(text="b", origin="gemini"), Reasoning(text="c"))
    said = body(asking(Message.user("q"), Message.assistant("x", reasoning=foreign), Message.user("r"), model=CLAUDE))
    assert said["messages"][1]["content"] == [{"text": "x"}]


@pytest.mark.parametrize(
    ("model", "places"),
    [
        (CLAUDE, "everywhere"),
        ("anthropic.claude-3-7-sonnet-20250219-v1:0", "everywhere"),
        ("anthropic.claude-3-5-haiku-20241022-v1:0", "everywhere"),
        ("arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-1-20250805-v1:0", "everywhere"),
        ("anthropic.claude-3-5-sonnet-20240620-v1:0", "nowhere"),
        ("anthropic.claude-3-haiku-20240307-v1:0", "nowhere"),
        ("anthropic.claude-v2:1", "nowhere"),
        ("anthropic.claude-instant-v1", "nowhere"),
        (NOVA, "text"),
        ("us.amazon.nova-premier-v1:0", "text"),
        ("us.amazon.nova-2-lite-v1:0", "nowhere"),
        (LLAMA, "nowhere"),
        ("arn:aws:bedrock:us-west-2:1:application-inference-profile/abc", "nowhere"),
    ],
)
def test_cache_points_are_for_models_that_take_them(model: str, places: str) -> None:
    """https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html"""
    assert cache_places(model) == places


def test_cache_points_stand_behind_what_repeats_and_where_the_model_lets_them() -> None:
    asked = (Message.system("Be brief."), Message.user("q"))
    round_ = (*asked, Message.assistant(tool_calls=(FIRST,)), Message.tool(FIRST, "r"))
    assert points(asking(*asked, model=CLAUDE, tools=True)) == ["system", "message 0"]
    assert points(asking(Message.user("q"), model=CLAUDE, tools=True)) == ["tools", "message 0"]
    assert points(asking(*round_, model=CLAUDE, tools=True)) == ["system", "message 2"]
    assert points(asking(*asked, model=NOVA, tools=True)) == ["system", "message 0"]
    assert points(asking(*round_, model=NOVA, tools=True)) == ["system"]
    assert points(asking(Message.user("q", IMAGE), model=NOVA, tools=True)) == []
    assert points(asking(*round_, model=LLAMA, tools=True)) == []


def test_the_beginning_stays_the_same_from_round_to_round() -> None:
    first = (Message.system("Be brief."), Message.user("q"))
    then = (*first, Message.assistant("a"), Message.user("r"))
    one, two = body(asking(*first, model=CLAUDE, tools=True)), body(asking(*then, model=CLAUDE, tools=True))
    assert json.dumps([one["system"], one["toolConfig"]]) == json.dumps([two["system"], two["toolConfig"]])


def test_pictures_of_tools_stand_behind_the_result_where_the_model_sees_none_in_it() -> None:
    history = (Message.user("q"), Message.assistant(tool_calls=(FIRST,)), Message.tool(FIRST, IMAGE, failed=True))
    picture = {"image": {"format": "png", "source": {"bytes": "aGk="}}}
    nova = body(asking(*history, model=NOVA))["messages"][2]["content"]
    assert nova == [{"toolResult": {"toolUseId": "call_1", "content": [picture], "status": "error"}}]
    llama = body(asking(*history, model=LLAMA))["messages"][2]["content"]
    assert llama == [{"toolResult": {"toolUseId": "call_1", "content": [{"text": "(no output)"}]}}, picture]


def test_a_conversation_starts_with_the_user_and_roles_alternate() -> None:
    said = body(asking(Message.assistant("a"), Message.assistant("b"), Message.user("c"), Message.user(" ")))
    assert [(message["role"], len(message["content"])) for message in said["messages"]] == [
        ("user", 1),
        ("assistant", 2),
        ("user", 1),
    ]


@pytest.mark.parametrize(
    ("call_id", "sent"),
    [("tooluse_a.b:c-1", "tooluse_a.b:c-1"), ("a|b c", "a_b_c"), ("", "_"), ("x" * 64, "x" * 64)],
)
def test_ids_are_sent_in_the_characters_and_the_length_the_api_takes(call_id: str, sent: str) -> None:
    call = ToolCall(id=call_id, name="f", arguments="{")
    said = body(asking(Message.user("q"), Message.assistant(tool_calls=(call,)), model=LLAMA))
    assert said["messages"][1]["content"] == [{"toolUse": {"toolUseId": sent, "name": "f", "input": {}}}]


def test_ids_that_are_too_long_stay_apart() -> None:
    calls = tuple(ToolCall(id="x" * 70 + end, name="f", arguments="{}") for end in "ab")
    blocks = body(asking(Message.user("q"), Message.assistant(tool_calls=calls), model=LLAMA))["messages"][1]["content"]
    ids = [block["toolUse"]["toolUseId"] for block in blocks]
    assert len(set(ids)) == 2
    assert all(len(call_id) <= 64 for call_id in ids)


def test_the_path_holds_the_model_as_one_segment() -> None:
    assert converse_path(CLAUDE) == "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream"
    assert converse_path("arn:aws:bedrock:r:1:x/y") == "/model/arn%3Aaws%3Abedrock%3Ar%3A1%3Ax%2Fy/converse-stream"


def test_audio_is_refused_with_a_reason() -> None:
    with pytest.raises(RequestRejected, match="cannot listen to audio"):
        body(asking(Message.user(AudioPart(data="", mime_type="audio/wav"))))
