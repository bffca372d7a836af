import json
from pathlib import Path

import anyio
import pytest

from claw_acp.contracts.provider import ChatRequest, ChatResponse, Finished, TextChunk, ThoughtChunk
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.errors import ConfigError, RateLimited, RequestRejected
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import Message, ToolCall, Usage
from claw_acp.providers.scripted.provider import ScriptedProvider


def provider_of(path: Path | None) -> ScriptedProvider:
    return ScriptedProvider(ProviderSetup(name="scripted", kind="scripted", script=path))


def script(tmp_path: Path, content: JsonValue) -> ScriptedProvider:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return provider_of(path)


def says(*texts: str) -> list[JsonValue]:
    return [{"steps": [{"text": text}]} for text in texts]


def request(*messages: Message) -> ChatRequest:
    return ChatRequest(model="play", messages=messages)


async def answer(provider: ScriptedProvider, *messages: Message) -> ChatResponse:
    return await provider.chat(request(*messages))


async def test_a_turn_streams_its_steps_in_order_and_finishes_with_the_whole_answer(tmp_path: Path) -> None:
    steps: list[JsonValue] = [
        {"thought": "hm"},
        {"text": ["Hel", "lo"]},
        {"call": {"name": "read_file", "arguments": {"path": "ä.txt"}}},
        {"call": {"name": "shell", "arguments": '{"broken'}},
        {"usage": {"inputTokens": 3, "outputTokens": 2}},
    ]
    provider = script(tmp_path, {"turns": [{"steps": steps}]})

    events = [event async for event in provider.stream(request(Message.user("hi")))]

    assert events[:3] == [ThoughtChunk(text="hm"), TextChunk(text="Hel"), TextChunk(text="lo")]
    assert isinstance(events[3], Finished)
    response = events[3].response
    assert (response.text, [block.text for block in response.reasoning]) == ("Hello", ["hm"])
    assert [(call.name, call.arguments) for call in response.tool_calls] == [
        ("read_file", '{"path": "ä.txt"}'),
        ("shell", '{"broken'),
    ]
    assert len({call.id for call in response.tool_calls}) == 2
    assert (response.stop, response.usage) == ("tool_calls", Usage(input_tokens=3, output_tokens=2))


async def test_turns_follow_the_conversation_so_a_new_provider_goes_on_where_the_old_one_was(tmp_path: Path) -> None:
    content: JsonValue = {"turns": says("one", "two", "three")}
    history = [Message.user("a"), Message.assistant("one")]

    assert (await answer(script(tmp_path, content), Message.user("a"))).text == "one"
    assert (await answer(script(tmp_path, content), *history, Message.user("b"))).text == "two"


async def test_conditional_turns_start_at_the_user_message_they_match(tmp_path: Path) -> None:
    provider = script(
        tmp_path,
        {
            "turns": [
                *says("plain"),
                {"when": "go", "steps": [{"text": "g1"}]},
                {"when": "go", "steps": [{"text": "g2"}]},
            ]
        },
    )
    call = ToolCall(id="x", name="think", arguments="{}")
    first = [Message.user("go"), Message.assistant(tool_calls=(call,)), Message.tool(call, "done")]

    assert (await answer(provider, *first)).text == "g2"
    assert (await answer(provider, *first, Message.assistant("g2"), Message.user("go again"))).text == "g1"
    assert (await answer(provider, *first, Message.assistant("g2"), Message.user("other"))).text == "plain"


async def test_after_the_last_turn_the_request_fails_and_says_so(tmp_path: Path) -> None:
    provider = script(tmp_path, {"turns": says("one")})

    with pytest.raises(RequestRejected, match=r"script is over.*'b'"):
        await answer(provider, Message.user("a"), Message.assistant("one"), Message.user("b"))


async def test_a_looping_script_starts_again(tmp_path: Path) -> None:
    provider = script(tmp_path, {"turns": says("one"), "loop": True})

    assert (await answer(provider, Message.user("a"), Message.assistant("one"), Message.user("b"))).text == "one"


async def test_a_wait_holds_the_stream_until_the_file_exists(tmp_path: Path) -> None:
    provider = script(tmp_path, {"turns": [{"steps": [{"text": "a"}, {"wait_for": "gate"}, {"text": "b"}]}]})
    seen: list[str] = []
    started = anyio.Event()

    async def watch() -> None:
        async for event in provider.stream(request(Message.user("hi"))):
            if isinstance(event, TextChunk):
                seen.append(event.text)
                started.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        await started.wait()
        assert seen == ["a"]
        (tmp_path / "gate").touch()
    assert seen == ["a", "b"]


async def test_an_error_step_raises_its_class_with_its_facts(tmp_path: Path) -> None:
    failure: JsonValue = {"error": {"kind": "RateLimited", "message": "slow down", "retryAfter": 1.5}}
    provider = script(tmp_path, {"turns": [{"steps": [{"text": "a"}, failure]}]})

    with pytest.raises(RateLimited, match="slow down") as caught:
        await answer(provider, Message.user("hi"))
    assert (caught.value.retry_after, caught.value.provider) == (1.5, "scripted")


async def test_an_error_with_times_passes_afterwards(tmp_path: Path) -> None:
    failure: JsonValue = {"error": {"kind": "ProviderUnavailable", "times": 1}}
    provider = script(tmp_path, {"turns": [{"steps": [failure, {"text": "ok"}]}]})

    with pytest.raises(Exception, match="asked for this failure"):
        await answer(provider, Message.user("hi"))
    assert (await answer(provider, Message.user("hi"))).text == "ok"


async def test_an_unmet_expectation_says_what_was_seen(tmp_path: Path) -> None:
    provider = script(tmp_path, {"turns": [{"steps": [{"expect": {"contains": "cat"}}, {"text": "ok"}]}]})

    with pytest.raises(RequestRejected, match="'cat', but saw 'dog'"):
        await answer(provider, Message.user("dog"))
    assert (await answer(provider, Message.user("a cat"))).text == "ok"


async def test_a_stop_reason_can_be_given(tmp_path: Path) -> None:
    provider = script(tmp_path, {"turns": [{"steps": [{"text": "no"}, {"stop": "refusal"}]}]})

    assert (await answer(provider, Message.user("hi"))).stop == "refusal"


async def test_capabilities_and_models_come_from_the_script(tmp_path: Path) -> None:
    provider = script(tmp_path, {"turns": [], "capabilities": {"images": False, "contextWindow": 9}, "models": ["m"]})

    capabilities = provider.capabilities("m")
    assert (capabilities.images, capabilities.context_window) == (False, 9)
    assert [model.id for model in await provider.models()] == ["m"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not JSON: line 1"),
        ("[]", "the top"),
        ("{}", "turns: Field required"),
        ('{"turns": [{"steps": [{}]}]}', r"turns\[0\]\.steps\[0\]: a step does exactly one of: text, "),
        ('{"turns": [{"steps": [{"text": "a", "thought": "b"}]}]}', "exactly one"),
        ('{"turns": [{"steps": [{"say": "a"}]}]}', r"steps\[0\]\.say"),
        ('{"turns": [{"steps": [{"error": {"kind": "Nope"}}]}]}', "unknown error kind 'Nope'; known are .*RateLimited"),
        ('{"turns": [{"when": "(", "steps": []}]}', r"turns\[0\]\.when"),
    ],
)
async def test_a_wrong_script_names_the_file_and_the_place(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError, match=rf"bad\.json.*{problem}"):
        provider_of(path)


async def test_a_missing_script_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.json cannot be read: No such file"):
        provider_of(tmp_path / "none.json")


async def test_a_provider_without_a_script_says_how_to_name_one() -> None:
    with pytest.raises(ConfigError, match=r"\[providers\.scripted\] plays a script"):
        provider_of(None)
