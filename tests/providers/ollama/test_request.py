"""What is sent to Ollama: https://docs.ollama.com/api/chat, and https://docs.ollama.com/capabilities/thinking."""

from typing import Any

import pytest
from inline_snapshot import snapshot

from claw_acp.contracts.provider import ChatRequest, OneTool, ToolSpec
from claw_acp.core.errors import RequestRejected
from claw_acp.core.messages import AudioPart, Message, Reasoning
from claw_acp.core.value import replace
from claw_acp.providers.ollama.address import ollama_address
from claw_acp.providers.ollama.request import UNKNOWN_MODEL, OllamaModel, chat_body
from tests.providers.conversation import FIRST, MESSAGES, asking

THINKER = OllamaModel(abilities=frozenset({"completion", "thinking"}))


def body(request: ChatRequest, *, model: OllamaModel = UNKNOWN_MODEL, thinking: bool = True) -> Any:
    return chat_body(request, model=model, thinking=thinking, provider="ollama")


def test_a_whole_conversation_with_tools_images_and_parallel_calls() -> None:
    assert body(asking(*MESSAGES, tools=True)) == snapshot(
        {
            "model": "test-model",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {
                    "role": "user",
                    "content": """\
Look at [a.py](file:///p/a.py)
<resource uri="file:///p/b.md">
# B
</resource>
""",
                    "images": ["aGk="],
                },
                {
                    "role": "assistant",
                    "content": "Reading.",
                    "tool_calls": [
                        {"id": "call_1", "function": {"name": "read_file", "arguments": {"path": "a.py"}}},
                        {"id": "call:2", "function": {"name": "read_file", "arguments": {}}},
                    ],
                },
                {"role": "tool", "content": "print(1)", "tool_name": "read_file", "tool_call_id": "call_1"},
                {
                    "role": "tool",
                    "content": "arguments are not JSON",
                    "tool_name": "read_file",
                    "tool_call_id": "call:2",
                },
                {"role": "user", "content": "The pictures that the tools returned:", "images": ["aGk="]},
                {"role": "user", "content": "Go on."},
                {"role": "user", "content": "Please."},
            ],
            "stream": True,
            "keep_alive": "15m",
            "options": {"num_ctx": 32768},
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
            "keep_alive": "15m",
            "options": {"num_ctx": 32768},
        }
    )
    assert body(asking(max_tokens=9, temperature=0.5, top_p=0.9, stop=("END",)))["options"] == snapshot(
        {"num_ctx": 32768, "num_predict": 9, "temperature": 0.5, "top_p": 0.9, "stop": ["END"]}
    )


@pytest.mark.parametrize(
    ("model", "sent", "window"),
    [
        (UNKNOWN_MODEL, 32_768, 32_768),
        (OllamaModel(context_window=8_192), 8_192, 8_192),
        (OllamaModel(context_window=131_072), 32_768, 32_768),
        (OllamaModel(context_window=131_072, num_ctx=65_536), None, 65_536),
        (OllamaModel(context_window=4_096, num_ctx=65_536), None, 4_096),
        (OllamaModel(context_window=262_144, remote=True), None, 262_144),
    ],
)
def test_the_window_is_the_models_own_word_else_a_sane_one(model: OllamaModel, sent: int | None, window: int) -> None:
    """The server's own may be 4,096 tokens, beyond which it drops the oldest without a word."""
    assert body(asking(), model=model)["options"].get("num_ctx") == sent
    assert model.window == window


@pytest.mark.parametrize(
    ("name", "model", "effort", "sent"),
    [
        ("qwen3:8b", UNKNOWN_MODEL, None, None),
        ("qwen3:8b", UNKNOWN_MODEL, "high", True),
        ("qwen3:8b", THINKER, "off", False),
        ("gemma:2b", OllamaModel(abilities=frozenset({"completion"})), "high", None),
        ("gpt-oss:20b", THINKER, "medium", "medium"),
        ("gpt-oss:20b", UNKNOWN_MODEL, "off", "low"),
        ("x", OllamaModel(thinks=("low", "high")), "high", "high"),
        ("x", OllamaModel(thinks=("low", "high")), "medium", None),
        ("x", OllamaModel(thinks=("low", "high")), "off", "low"),
        ("x", OllamaModel(thinks=(False, True)), "low", True),
        ("x", OllamaModel(thinks=(False,)), "low", None),
    ],
)
def test_effort_is_asked_for_as_the_model_understands_it(
    name: str, model: OllamaModel, effort: str | None, sent: object
) -> None:
    assert body(asking(model=name, effort=effort), model=model).get("think") == sent


def test_nothing_is_said_of_thinking_when_that_was_refused() -> None:
    assert "think" not in body(asking(effort="high"), thinking=False)


@pytest.mark.parametrize(("choice", "offered"), [("auto", 2), ("required", 2), ("none", 0), (OneTool(name="other"), 1)])
def test_a_choice_that_cannot_be_sent_is_made_by_what_is_offered(choice: object, offered: int) -> None:
    request = asking(tools=True, tool_choice=choice)
    other = ToolSpec(name="other", description="", parameters={"type": "object"})
    assert len(body(replace(request, tools=(*request.tools, other))).get("tools", [])) == offered


def test_thinking_goes_back_with_its_calls_and_no_other_vendors_does() -> None:
    own = Message.assistant(tool_calls=(FIRST,), reasoning=(Reasoning(text="hm"),))
    foreign = Message.assistant(tool_calls=(FIRST,), reasoning=(Reasoning(text="secret", origin="bedrock"),))
    said = body(asking(Message.user("q"), own, foreign))["messages"]
    assert said[1]["thinking"] == "hm"
    assert "thinking" not in said[2]


def test_audio_is_refused_with_a_reason() -> None:
    with pytest.raises(RequestRejected, match="cannot listen to audio"):
        body(asking(Message.user(AudioPart(data="", mime_type="audio/wav"))))


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("", "http://127.0.0.1:11434"),
        ("   ", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("http://0.0.0.0:11434", "http://127.0.0.1:11434"),
        (":8080", "http://127.0.0.1:8080"),
        ("box", "http://box:11434"),
        ("box:8080", "http://box:8080"),
        ("box/", "http://box:11434"),
        ("box:8080/ollama", "http://box:8080/ollama"),
        ("http://box", "http://box"),
        ("https://ollama.com", "https://ollama.com"),
        ("https://box:1234/", "https://box:1234"),
        ("http://box:11434/v1", "http://box:11434"),
        ("http://box:11434/api", "http://box:11434"),
        ("::1", "http://[::1]:11434"),
        ("[::1]", "http://[::1]:11434"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("[::]:8080", "http://[::1]:8080"),
        ("http://[::]:8080", "http://[::1]:8080"),
        ("'box:8080'", "http://box:8080"),
        ("192.168.1.5", "http://192.168.1.5:11434"),
        ("box:nope", "box:nope"),
    ],
)
def test_an_address_is_understood_however_it_is_written(written: str, address: str) -> None:
    """The rules for OLLAMA_HOST: https://github.com/ollama/ollama/blob/main/envconfig/config.go"""
    assert ollama_address(written) == address
