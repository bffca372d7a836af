"""Where services of the OpenAI family differ: each quirk, seen in what is sent."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from claw_acp.contracts.provider import ChatRequest, OneTool
from claw_acp.contracts.provider_setup import NO_QUIRKS, ProviderSetup, Quirks
from claw_acp.core.messages import Message, ToolCall
from claw_acp.providers.openai.provider import OpenAIChatProvider
from claw_acp.providers.openai.request import chat_completion
from claw_acp.providers.registry.services import SERVICES, quirks_at
from tests.providers.conversation import FIRST, IMAGE, asking
from tests.support.servers.model_replies import Json, Say, failure
from tests.support.servers.model_server import ModelServer


def body(request: ChatRequest, **quirks: object) -> Any:
    return chat_completion(request, quirks=Quirks(**quirks), provider="acme")  # pyright: ignore[reportArgumentType]


def said(*messages: Message, **quirks: object) -> list[tuple[str, object]]:
    return [(message["role"], message.get("content")) for message in body(asking(*messages), **quirks)["messages"]]


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        server.always(Say(text=("x",)))
        yield server


def provider(server: ModelServer, *, address: str = "", **quirks: object) -> OpenAIChatProvider:
    asked = Quirks(**quirks)  # pyright: ignore[reportArgumentType]
    return OpenAIChatProvider(
        ProviderSetup(name="acme", kind="openai", base_url=address or server.openai_url, quirks=asked)
    )


# ------------------------------------------------------------------ addresses


@pytest.mark.parametrize(
    ("end", "path", "asked"),
    [
        ("", None, "/v1/chat/completions"),
        ("/", None, "/v1/chat/completions"),
        ("", "/text/chatcompletion_v2", "/v1/text/chatcompletion_v2"),
        ("", "chat", "/v1/chat"),
        ("/chat/completions", None, "/v1/chat/completions"),
        ("/chat/completions/", None, "/v1/chat/completions"),
        ("/chat/completions", "/other", "/v1/chat/completions"),
        ("/chat/completions?tenant=7", None, "/v1/chat/completions?tenant=7"),
        ("?tenant=7", None, "/v1/chat/completions?tenant=7"),
    ],
)
async def test_requests_go_where_the_address_and_the_path_say(
    server: ModelServer, end: str, path: str | None, asked: str
) -> None:
    async with aclosing(provider(server, address=server.openai_url + end, path=path)) as acme:
        await acme.chat(asking())
    assert server.requests[-1].path == asked


@pytest.mark.parametrize(
    ("models_path", "asked"), [(None, ["/v1/models"]), ("/list/models", ["/v1/list/models"]), ("", [])]
)
async def test_models_are_listed_where_the_service_has_a_list(
    server: ModelServer, models_path: str | None, asked: Sequence[str]
) -> None:
    async with aclosing(provider(server, models_path=models_path)) as acme:
        models = await acme.models()
    assert [request.path for request in server.requests] == asked
    assert bool(models) == bool(asked)


async def test_what_a_list_says_of_its_models_is_passed_on(server: ModelServer) -> None:
    """OpenRouter's rows, and vLLM's: https://openrouter.ai/docs/api-reference/list-available-models."""
    rows = [
        {
            "id": "a/b",
            "name": "A: B",
            "context_length": 1000,
            "supported_parameters": ["tools", "reasoning"],
            "architecture": {"input_modalities": ["text", "image"]},
        },
        {"id": "c", "max_model_len": 2000, "supported_parameters": ["stop"]},
        {"id": "d"},
    ]
    server.always_lists(failure(200, {"data": rows}))
    async with aclosing(provider(server)) as acme:
        known = [(m.id, m.name, m.context_window, m.tools, m.images, m.thinking) for m in await acme.models()]
    assert known == [
        ("a/b", "A: B", 1000, True, True, True),
        ("c", None, 2000, False, None, False),
        ("d", None, 0, None, None, None),
    ]


# ------------------------------------------------------------------ messages


def test_instructions_go_into_the_first_message_where_there_is_no_role_for_them() -> None:
    rules, more, hi = Message.system("Be brief."), Message.system("Be kind."), Message.user("hi")
    assert said(rules, hi, more, system=False) == [("user", "Be brief.\n\nBe kind.\n\nhi")]
    assert said(rules, hi) == [("system", "Be brief."), ("user", "hi")]
    assert said(hi, system=False) == [("user", "hi")]
    assert said(rules, system=False) == [("user", "Be brief.\n\nContinue.")]
    assert said(rules, Message.assistant("a"), hi, system=False) == [
        ("user", "Be brief.\n\nContinue."),
        ("assistant", "a"),
        ("user", "hi"),
    ]


def test_instructions_keep_the_images_of_the_message_they_go_into() -> None:
    assert said(Message.system("Look."), Message.user("here:", IMAGE), system=False) == [
        (
            "user",
            [
                {"type": "text", "text": "Look.\n\nhere:"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
            ],
        )
    ]


def test_a_person_begins_where_the_service_wants_that() -> None:
    rules, answer, hi = Message.system("Be brief."), Message.assistant("a"), Message.user("hi")
    assert said(rules, answer, hi, user_first=True) == [
        ("system", "Be brief."),
        ("user", "Continue."),
        ("assistant", "a"),
        ("user", "hi"),
    ]
    assert said(rules, hi, answer, user_first=True) == said(rules, hi, answer)
    assert said(answer, hi) == [("assistant", "a"), ("user", "hi")]


# ------------------------------------------------------------------ members


def test_members_that_a_service_does_not_take_or_wants_besides() -> None:
    plain = asking(max_tokens=9, tools=True)
    assert {"max_tokens", "stream_options"} <= body(plain).keys()
    assert "stream_options" not in body(plain, stream_usage=False)
    assert body(plain, max_tokens="max_completion_tokens")["max_completion_tokens"] == 9
    assert "max_tokens" not in body(plain, max_tokens="max_completion_tokens")
    assert body(plain, tool_stream=True)["tool_stream"] is True
    assert "tool_stream" not in body(plain)
    assert "tool_stream" not in body(asking(), tool_stream=True)


def test_one_tool_can_be_demanded() -> None:
    assert body(asking(tools=True, tool_choice=OneTool(name="read_file")))["tool_choice"] == {
        "type": "function",
        "function": {"name": "read_file"},
    }


async def test_a_service_without_tools_says_so(server: ModelServer) -> None:
    assert not provider(server, tools=False).capabilities("gpt-4o").tools
    assert provider(server).capabilities("gpt-4o").tools
    assert provider(server, tools=False).capabilities("gpt-4o").images


def test_images_of_tool_results_follow_the_results_of_their_round() -> None:
    other = ToolCall(id="call_9", name="look", arguments="{}")
    messages = body(asking(Message.tool(FIRST, IMAGE), Message.tool(other, "seen", IMAGE), Message.user("so?")))
    assert [message["role"] for message in messages["messages"]] == ["tool", "tool", "user", "user"]
    shown = messages["messages"][2]["content"]
    assert [part.get("text") for part in shown] == [
        "Returned by read_file (call_1):",
        None,
        "Returned by look (call_9):",
        None,
    ]


# ------------------------------------------------------------------ how much to think

WISHES: dict[str | None, tuple[Json, Json]] = {
    None: ({"reasoning_effort": "none"}, {"reasoning_effort": "low"}),
    "reasoning_effort": ({"reasoning_effort": "none"}, {"reasoning_effort": "low"}),
    "reasoning": ({"reasoning": {"effort": "none"}}, {"reasoning": {"effort": "low"}}),
    "thinking": ({"thinking": {"type": "disabled"}}, {"thinking": {"type": "enabled"}}),
    "thinking_effort": (
        {"thinking": {"type": "disabled"}},
        {"thinking": {"type": "enabled"}, "reasoning_effort": "low"},
    ),
    "enable_thinking": ({"enable_thinking": False}, {"enable_thinking": True}),
    "none": ({}, {}),
}


@pytest.mark.parametrize("style", WISHES)
def test_each_service_is_asked_to_think_in_its_own_way(style: str | None) -> None:
    """The vendors' pages are named at `thinking_wish`."""

    def wish(effort: str | None) -> dict[str, Any]:
        sent = body(asking(model="gpt-5.1", effort=effort), effort=style)
        return {name: value for name, value in sent.items() if "thinking" in name or "reasoning" in name}

    assert (wish("off"), wish("low")) == WISHES[style]
    assert wish(None) == {}


@pytest.mark.parametrize(
    ("name", "style"),
    [
        ("openrouter", "reasoning"),
        ("deepseek", "thinking_effort"),
        ("moonshot", "thinking"),
        ("zai", "thinking"),
        ("glm", "thinking"),
        ("qwen", "enable_thinking"),
        ("groq", None),
    ],
)
def test_the_table_knows_how_services_are_asked_to_think(name: str, style: str | None) -> None:
    assert SERVICES[name].quirks.effort == style


# ------------------------------------------------------------------ what is known of a host


def test_a_service_of_ones_own_at_a_known_host_has_the_quirks_of_that_host() -> None:
    setup = ProviderSetup(name="mine", kind="openai", base_url="https://api.deepseek.com/v1", quirks=NO_QUIRKS)
    own = ProviderSetup(name="mine", kind="openai", base_url="https://x.invalid", quirks=Quirks(reasoning="none"))
    assert quirks_at("api.deepseek.com").reasoning == "reasoning_content"
    for made, wanted in ((setup, "reasoning_content"), (own, "none")):
        assert vars(OpenAIChatProvider(made))["_setup"].quirks.reasoning == wanted
    contrary = ProviderSetup(
        name="mine", kind="openai", base_url="https://api.deepseek.com", quirks=Quirks(reasoning="none")
    )
    assert vars(OpenAIChatProvider(contrary))["_setup"].quirks.reasoning == "none"


# ------------------------------------------------------------------ caches


def marks(model: str, *messages: Message, **quirks: object) -> list[tuple[int, str]]:
    """The messages that carry a mark, with the text that it stands on."""
    sent = body(ChatRequest(model=model, messages=messages), **quirks)["messages"]
    return [
        (index, part["text"])
        for index, message in enumerate(sent)
        for part in (message["content"] if isinstance(message["content"], list) else ())
        if part.get("cache_control") == {"type": "ephemeral"}
    ]


ROUND = (
    Message.system("Be brief."),
    Message.user("look", IMAGE),
    Message.assistant(tool_calls=(FIRST,)),
    Message.tool(FIRST, "a cat"),
)


@pytest.mark.parametrize("service", ["openrouter", "vercel", "litellm"])
def test_claude_gets_marks_through_gateways_and_other_models_do_not(service: str) -> None:
    taken = SERVICES[service].quirks.cache_marks
    for name in ("anthropic/claude-sonnet-5.5", "claude-opus-4-6"):
        assert marks(name, *ROUND, cache_marks=taken) == [(0, "Be brief."), (1, "look"), (3, "a cat")]
        assert marks(name, *ROUND[:2], cache_marks=taken) == [(0, "Be brief."), (1, "look")]
    assert marks("openai/gpt-6.1-sol", *ROUND, cache_marks=taken) == []
    assert marks("claude-opus-4-6", *ROUND) == []


def test_what_a_mark_cannot_stand_on_stays_as_it_is() -> None:
    assert marks("claude-opus-4-6", Message.system("  "), Message.user(IMAGE), cache_marks=True) == []


def test_the_end_of_each_request_is_marked_in_the_next_however_long_the_round_was() -> None:
    calls = tuple(ToolCall(id=f"c{number}", name="look", arguments="{}") for number in range(30))
    results = [Message.tool(call, f"result {call.id}") for call in calls]
    turns = (*ROUND[:2], Message.assistant(tool_calls=calls), *results)
    after = (*turns, Message.assistant("A cat."), Message.user("sure?"))
    assert marks("claude-5", *turns, cache_marks=True)[-1] == marks("claude-5", *after, cache_marks=True)[-2]


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 20}},
        {"prompt_tokens_details": {"cached_tokens": 100}, "cache_creation_input_tokens": 20},
    ],
    ids=["openrouter", "litellm"],
)
async def test_what_a_gateway_cached_is_in_the_usage(server: ModelServer, usage: dict[str, Any]) -> None:
    counts: Json = {"prompt_tokens": 130, "completion_tokens": 3, **usage}
    done: Json = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}], "usage": counts}
    server.will_reply(failure(200, done))
    async with aclosing(provider(server)) as acme:
        response = await acme.chat(asking(Message.user("hi")))
    assert response.usage is not None
    assert (response.usage.cached_read_tokens, response.usage.cached_write_tokens) == (100, 20)
