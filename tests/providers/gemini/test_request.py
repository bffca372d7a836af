"""Requests in the words of Google's Gemini API.

The reference is https://ai.google.dev/api/generate-content (and `/api/caching` for contents, parts and tools).
"""

import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from claw_acp.contracts.provider import ChatRequest, OneTool, ToolSpec
from claw_acp.core.errors import RequestRejected
from claw_acp.core.messages import AudioPart, ImagePart, Message, Reasoning, ToolCall
from claw_acp.core.value import replace
from claw_acp.providers.gemini.request import UNSIGNED, generate_content
from claw_acp.providers.gemini.thinking import thinking_config
from tests.providers.conversation import BROKEN, FIRST, IMAGE, MESSAGES, asking

SIGNED = replace(FIRST, extra={"gemini": {"id": "abc", "thoughtSignature": "S1"}})


def body(request: ChatRequest) -> Any:
    return generate_content(request, provider="gemini")


def marked(text: str = "", *, place: tuple[int, ...] = (0, 0, 0), **vendors: object) -> Reasoning:
    return Reasoning(text=text, signature=json.dumps({"place": place, **vendors}), origin="gemini")


def test_a_whole_conversation_begun_with_another_vendor() -> None:
    """The value in the first call is Google's own: https://ai.google.dev/gemini-api/docs/thought-signatures#faqs."""
    assert body(asking(*MESSAGES, tools=True, model="gemini-3.5-flash")) == snapshot(
        {
            "contents": [
                {
                    "role": "user",
                    "parts": [
                        {
                            "text": """\
Look at [a.py](file:///p/a.py)
<resource uri="file:///p/b.md">
# B
</resource>
"""
                        },
                        {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                    ],
                },
                {
                    "role": "model",
                    "parts": [
                        {"text": "Reading."},
                        {
                            "functionCall": {"id": "call_1", "name": "read_file", "args": {"path": "a.py"}},
                            "thoughtSignature": "skip_thought_signature_validator",
                        },
                        {"functionCall": {"id": "call:2", "name": "read_file", "args": {}}},
                    ],
                },
                {
                    "role": "user",
                    "parts": [
                        {
                            "functionResponse": {
                                "id": "call_1",
                                "name": "read_file",
                                "response": {"output": "print(1)"},
                                "parts": [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}],
                            }
                        },
                        {
                            "functionResponse": {
                                "id": "call:2",
                                "name": "read_file",
                                "response": {"error": "arguments are not JSON"},
                            }
                        },
                    ],
                },
                {"role": "user", "parts": [{"text": "Go on."}, {"text": "Please."}]},
            ],
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "tools": [
                {
                    "functionDeclarations": [
                        {
                            "name": "read_file",
                            "description": "Read a file",
                            "parametersJsonSchema": {
                                "type": "object",
                                "properties": {"path": {"type": "string"}},
                                "required": ["path"],
                            },
                        }
                    ]
                }
            ],
            "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
        }
    )


def test_the_same_conversation_with_a_model_of_before() -> None:
    """Calls need no signature, and images of tools stand behind all results of the round."""
    assert body(asking(*MESSAGES, tools=True, model="gemini-2.0-flash"))["contents"][1:3] == snapshot(
        [
            {
                "role": "model",
                "parts": [
                    {"text": "Reading."},
                    {"functionCall": {"id": "call_1", "name": "read_file", "args": {"path": "a.py"}}},
                    {"functionCall": {"id": "call:2", "name": "read_file", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "call_1", "name": "read_file", "response": {"output": "print(1)"}}},
                    {
                        "functionResponse": {
                            "id": "call:2",
                            "name": "read_file",
                            "response": {"error": "arguments are not JSON"},
                        }
                    },
                    {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                ],
            },
        ]
    )


def test_signatures_go_back_with_the_calls_they_came_with() -> None:
    said = Message.assistant(tool_calls=(SIGNED, BROKEN))
    contents = body(asking(said, Message.tool(SIGNED, "x"), Message.tool(BROKEN, "y"), model="gemini-3.5-flash"))[
        "contents"
    ]
    assert contents[0] == {"role": "user", "parts": [{"text": "Continue."}]}  # a call cannot be the beginning
    calls, results = contents[1]["parts"], contents[2]["parts"]
    assert [part.get("thoughtSignature") for part in calls] == ["S1", None]
    assert [part["functionCall"]["id"] for part in calls] == ["abc", "call:2"]
    assert [part["functionResponse"]["id"] for part in results] == ["abc", "call:2"]


def test_signatures_of_texts_and_thoughts_go_back_in_their_place() -> None:
    blocks = (
        marked("Hm.", thought=True, thoughtSignature="T"),
        marked(place=(5, 9, 0), thoughtSignature="A"),
        marked(place=(9, 9, 1), thoughtSignature="B"),
    )
    said = Message.assistant("Well, yes", tool_calls=(SIGNED,), reasoning=blocks)
    assert body(asking(said, model="gemini-3.5-flash"))["contents"][1]["parts"] == snapshot(
        [
            {"text": "Hm.", "thought": True, "thoughtSignature": "T"},
            {"text": "Well,"},
            {"text": " yes", "thoughtSignature": "A"},
            {"functionCall": {"id": "abc", "name": "read_file", "args": {"path": "a.py"}}, "thoughtSignature": "S1"},
            {"text": "", "thoughtSignature": "B"},
        ]
    )


@pytest.mark.parametrize(
    "block",
    [
        Reasoning(text="hm"),
        Reasoning(text="hm", signature="sig", origin="anthropic"),
        Reasoning(text="hm", signature='{"place": [0, 0, 0], "encrypted_content": "x"}', origin="responses"),
        Reasoning(text="hm", signature="broken", origin="gemini"),
        Reasoning(text="hm", origin="gemini"),
    ],
)
def test_thinking_that_google_did_not_sign_is_not_sent(block: Reasoning) -> None:
    said = Message.assistant("x", reasoning=(block,))
    assert body(asking(Message.user("hi"), said))["contents"][1] == {"role": "model", "parts": [{"text": "x"}]}


@pytest.mark.parametrize(
    ("model", "signature"),
    [
        ("gemini-3-pro-preview", UNSIGNED),
        ("gemini-flash-latest", UNSIGNED),
        ("gemini-4-pro", UNSIGNED),
        ("gemini-2.5-pro", None),
        ("gemini-2.0-flash", None),
        ("gemini-1.5-pro", None),
        ("gemma-3-27b-it", None),
    ],
)
def test_unsigned_calls_are_marked_for_the_models_that_look(model: str, signature: str | None) -> None:
    (part, *_) = body(asking(Message.user("hi"), Message.assistant(tool_calls=(FIRST,)), model=model))["contents"][1][
        "parts"
    ]
    assert part.get("thoughtSignature") == signature


def test_what_people_say_after_results_is_a_content_of_its_own() -> None:
    """Results must follow their calls, as many as these, with nothing else among them."""
    contents = body(
        asking(Message.user("hi"), Message.assistant(tool_calls=(FIRST,)), Message.tool(FIRST, "x"), Message.user("go"))
    )["contents"]
    assert [(content["role"], next(iter(part))) for content in contents for part in content["parts"]] == [
        ("user", "text"),
        ("model", "functionCall"),
        ("user", "functionResponse"),
        ("user", "text"),
    ]


def test_empty_messages_leave_no_empty_content() -> None:
    said = (Message.user("a"), Message.assistant(""), Message.user("b"), Message.user(""))
    assert body(asking(*said))["contents"] == [{"role": "user", "parts": [{"text": "a"}, {"text": "b"}]}]


def test_a_gif_is_told_of_since_google_takes_none() -> None:
    """The types: https://ai.google.dev/gemini-api/docs/image-understanding#supported-formats."""
    gif = ImagePart(data="R0=", mime_type="image/gif")
    parts = body(asking(Message.user(gif, IMAGE)))["contents"][0]["parts"]
    assert parts == [
        {"text": "(a GIF image, which this model cannot see)"},
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
    ]


@pytest.mark.parametrize(
    ("mime_type", "sent"), [("audio/x-wav", "audio/wav"), ("audio/mpeg", "audio/mp3"), ("audio/mp3", "audio/mp3")]
)
@pytest.mark.parametrize("model", ["gemini-2.5-flash", "gemini-3.5-flash"])
def test_sound_is_sent_and_what_a_tool_recorded_stands_behind_its_result(mime_type: str, sent: str, model: str) -> None:
    """The types: https://ai.google.dev/gemini-api/docs/audio#supported-formats."""
    sound = AudioPart(data="UklG", mime_type=mime_type)
    inline = {"inlineData": {"mimeType": sent, "data": "UklG"}}
    contents = body(replace(asking(Message.user(sound), Message.tool(FIRST, sound)), model=model))["contents"]
    assert [part for content in contents for part in content["parts"] if "functionResponse" not in part] == [
        inline,
        inline,
    ]


def test_sound_that_google_may_not_take_is_refused_before_it_is_sent() -> None:
    with pytest.raises(RequestRejected, match="gemini cannot listen to audio of type audio/amr"):
        body(asking(Message.user(AudioPart(data="", mime_type="audio/amr"))))


def test_schemas_are_passed_on_as_they_are() -> None:
    """`parametersJsonSchema`: https://ai.google.dev/api/caching#FunctionDeclaration. No parameters: none are sent."""
    rich = {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": ["string", "null"]}}}
    tools = (
        ToolSpec(name="a", description="A", parameters=rich),
        ToolSpec(name="b", description="B", parameters={"type": "object", "properties": {}}),
    )
    sent = body(replace(asking(), tools=tools))["tools"]
    assert sent == [
        {
            "functionDeclarations": [
                {"name": "a", "description": "A", "parametersJsonSchema": rich},
                {"name": "b", "description": "B"},
            ]
        }
    ]


@pytest.mark.parametrize(
    ("choice", "config"),
    [
        ("auto", None),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        (OneTool(name="read_file"), {"mode": "ANY", "allowedFunctionNames": ["read_file"]}),
    ],
)
def test_the_choice_of_tools_is_a_mode(choice: object, config: object) -> None:
    sent = body(asking(tools=True, tool_choice=choice)).get("toolConfig")
    assert sent == (config and {"functionCallingConfig": config})
    assert "toolConfig" not in body(asking(tool_choice=choice))


def test_options_are_spelled_as_the_api_does() -> None:
    request = asking(max_tokens=9, temperature=0.0, top_p=0.5, stop=tuple("abcdefg"))
    assert body(request)["generationConfig"] == {
        "maxOutputTokens": 9,
        "temperature": 0.0,
        "topP": 0.5,
        "stopSequences": list("abcde"),
    }
    assert "generationConfig" not in body(asking())


THINKING: list[tuple[str, str | None, dict[str, object]]] = [
    ("gemini-3.5-flash", None, {"includeThoughts": True}),
    ("gemini-3.5-flash", "off", {"thinkingLevel": "minimal"}),
    ("gemini-3.5-flash", "low", {"thinkingLevel": "low", "includeThoughts": True}),
    ("gemini-3.5-flash", "medium", {"thinkingLevel": "medium", "includeThoughts": True}),
    ("gemini-3.1-pro-preview", "off", {"thinkingLevel": "low"}),
    ("gemini-3.1-pro-preview", "medium", {"thinkingLevel": "medium", "includeThoughts": True}),
    ("gemini-3-pro-preview", "medium", {"thinkingLevel": "high", "includeThoughts": True}),
    ("gemini-flash-latest", "high", {"thinkingLevel": "high", "includeThoughts": True}),
    ("gemini-2.5-pro", None, {"includeThoughts": True}),
    ("gemini-2.5-pro", "off", {"thinkingBudget": 128}),
    ("gemini-2.5-flash", "off", {"thinkingBudget": 0}),
    ("gemini-2.5-flash", "low", {"thinkingBudget": 1_024, "includeThoughts": True}),
    ("gemini-2.5-flash", "medium", {"thinkingBudget": 8_192, "includeThoughts": True}),
    ("gemini-2.5-pro", "high", {"thinkingBudget": 24_576, "includeThoughts": True}),
    ("gemini-2.5-flash-lite", None, {}),
    ("gemini-2.5-flash-image", "high", {}),
    ("gemini-2.0-flash", "high", {}),
    ("gemma-3-27b-it", "high", {}),
]


@pytest.mark.parametrize(("model", "effort", "config"), THINKING)
def test_effort_is_a_level_or_a_budget_by_generation(model: str, effort: Any, config: object) -> None:
    assert thinking_config(model, effort) == config


def test_a_call_whose_arguments_are_no_json_has_none() -> None:
    call = ToolCall(id="c", name="f", arguments="{")
    parts = body(asking(Message.user("x"), Message.assistant(tool_calls=(call,))))["contents"][1]["parts"]
    assert parts[0]["functionCall"]["args"] == {}
