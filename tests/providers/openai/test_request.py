from typing import Any

import pytest
from inline_snapshot import snapshot

from claw_acp.contracts.provider import ChatRequest
from claw_acp.contracts.provider_setup import NO_QUIRKS, Quirks
from claw_acp.core.errors import RequestRejected
from claw_acp.core.messages import AudioPart, ImagePart, Message, ResourcePart, ToolCall
from claw_acp.providers.openai.request import chat_completion
from tests.providers.conversation import FIRST, IMAGE, MESSAGES, asking


def body(request: ChatRequest, *, quirks: Quirks = NO_QUIRKS) -> Any:
    return chat_completion(request, quirks=quirks, provider="openai")


def test_a_whole_conversation_with_tools_and_images() -> None:
    assert body(asking(*MESSAGES, tools=True)) == snapshot(
        {
            "model": "test-model",
            "messages": [
                {"role": "system", "content": "Be brief."},
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
                        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                    ],
                },
                {
                    "role": "assistant",
                    "content": "Reading.",
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "read_file", "arguments": '{"path": "a.py"}'},
                        },
                        {"id": "call:2", "type": "function", "function": {"name": "read_file", "arguments": "{}"}},
                    ],
                },
                {"role": "tool", "tool_call_id": "call_1", "content": "print(1)"},
                {"role": "tool", "tool_call_id": "call:2", "content": "arguments are not JSON"},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "Returned by read_file (call_1):"},
                        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                    ],
                },
                {"role": "user", "content": "Go on."},
                {"role": "user", "content": "Please."},
            ],
            "stream": True,
            "stream_options": {"include_usage": True},
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "read_file",
                        "description": "Read a file",
                        "parameters": {
                            "type": "object",
                            "properties": {"path": {"type": "string"}},
                            "required": ["path"],
                        },
                    },
                }
            ],
        }
    )


def test_options_are_sent_only_when_given() -> None:
    assert body(asking()) == snapshot(
        {
            "model": "test-model",
            "messages": [{"role": "user", "content": "hi"}],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    )
    assert body(
        asking(
            max_tokens=9,
            temperature=0.5,
            top_p=0.9,
            stop=("END",),
            effort="high",
            tool_choice="required",
            tools=True,
        )
    ) == snapshot(
        {
            "model": "test-model",
            "messages": [{"role": "user", "content": "hi"}],
            "stream": True,
            "stream_options": {"include_usage": True},
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "read_file",
                        "description": "Read a file",
                        "parameters": {
                            "type": "object",
                            "properties": {"path": {"type": "string"}},
                            "required": ["path"],
                        },
                    },
                }
            ],
            "tool_choice": "required",
            "max_tokens": 9,
            "temperature": 0.5,
            "top_p": 0.9,
            "stop": ["END"],
            "reasoning_effort": "high",
        }
    )


@pytest.mark.parametrize(
    ("model", "effort", "word"),
    [
        ("test-model", "low", "low"),
        ("test-model", "high", "high"),
        ("test-model", None, None),
        ("gpt-5.1", "off", "none"),
        ("gpt-5-mini", "off", "minimal"),
        ("gpt-6.2-sol", "off", "low"),
        ("o3", "off", "low"),
        ("gpt-4o", "off", None),
    ],
)
def test_effort_becomes_reasoning_effort_and_off_the_least_of_it(
    model: str, effort: str | None, word: str | None
) -> None:
    assert body(asking(model=model, effort=effort)).get("reasoning_effort") == word


@pytest.mark.parametrize(
    ("model", "effort", "tools", "word"),
    [
        ("gpt-5.6-sol", None, True, "none"),
        ("gpt-5.6-sol", None, False, None),
        ("gpt-5.6-sol", "high", True, "high"),
        ("gpt-6-luna", None, True, "none"),
        ("gpt-6-astra", None, True, None),
        ("gpt-5.1", None, True, None),
    ],
)
def test_a_model_that_would_refuse_tools_for_thinking_is_asked_not_to_think(
    model: str, effort: str | None, word: str | None, *, tools: bool
) -> None:
    """https://developers.openai.com/api/docs/guides/responses-vs-chat-completions."""
    assert body(asking(model=model, effort=effort, tools=tools)).get("reasoning_effort") == word


def test_what_google_attached_to_a_call_is_sent_back() -> None:
    call = ToolCall(id="c", name="f", arguments="{}", extra={"extra_content": {"google": {"thought_signature": "s"}}})
    sent = body(asking(Message.assistant(tool_calls=(call,))))["messages"][0]["tool_calls"][0]
    assert sent["extra_content"] == {"google": {"thought_signature": "s"}}


@pytest.mark.parametrize("arguments", ['{"a":  1}', "[1]", '"text"'])
def test_arguments_that_parse_stay_as_the_model_wrote_them(arguments: str) -> None:
    call = ToolCall(id="c", name="f", arguments=arguments)
    sent = body(asking(Message.assistant(tool_calls=(call,))))["messages"][0]["tool_calls"][0]
    assert sent["function"]["arguments"] == arguments


def test_a_tool_result_without_text_still_says_something() -> None:
    assert body(asking(Message.tool(FIRST)))["messages"][0]["content"] == "(no output)"
    assert [m["role"] for m in body(asking(Message.tool(FIRST, IMAGE)))["messages"]] == ["tool", "user"]


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (AudioPart(data="", mime_type="audio/amr"), "cannot listen to audio of type audio/amr"),
        (ImagePart(data="", mime_type="image/tiff"), "cannot see images of type image/tiff"),
        (
            ResourcePart(uri="file:///x.bin", blob="AA=="),
            r"cannot read the attached file:///x.bin \(application/octet-stream\)",
        ),
    ],
)
def test_what_cannot_be_sent_is_refused_with_a_reason(part: AudioPart | ImagePart | ResourcePart, words: str) -> None:
    with pytest.raises(RequestRejected, match=words):
        body(asking(Message.user(part)))


@pytest.mark.parametrize(
    ("mime_type", "word"), [("audio/wav", "wav"), ("audio/x-wav", "wav"), ("audio/mpeg", "mp3"), ("audio/mp3", "mp3")]
)
def test_sound_is_sent_with_its_format(mime_type: str, word: str) -> None:
    """As in https://platform.openai.com/docs/guides/audio; what a tool recorded follows its result."""
    sound = AudioPart(data="UklG", mime_type=mime_type)
    sent = {"type": "input_audio", "input_audio": {"data": "UklG", "format": word}}
    assert body(asking(Message.user("Listen:", sound)))["messages"][0]["content"][1] == sent
    result, follows = body(asking(Message.tool(FIRST, sound)))["messages"]
    assert (result["content"], follows["content"][1]) == ("(the audio follows)", sent)


def test_an_embedded_image_is_sent_as_an_image() -> None:
    part = ResourcePart(uri="file:///x.png", mime_type="image/png", blob="aGk=")
    assert body(asking(Message.user(part)))["messages"][0]["content"][0]["type"] == "image_url"


def test_an_embedded_text_cannot_close_its_own_fence_by_its_name() -> None:
    part = ResourcePart(uri='file:///"><x', text="t")
    sent = body(asking(Message.user(part)))["messages"][0]["content"]
    assert sent == '<resource uri="file:///&quot;&gt;&lt;x">\nt\n</resource>\n'
