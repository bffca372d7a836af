"""Providers in one line, and keys that stand in the wrong place."""

import json
from contextlib import aclosing
from pathlib import Path

import pytest

from claw_acp.config.load import load_settings
from claw_acp.config.locations import find_locations
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider import ChatOptions, ChatRequest, OneTool, ToolChoice, ToolSpec, tool_choice
from claw_acp.core.errors import AuthRequired, ConfigError
from claw_acp.core.messages import Message
from claw_acp.providers.factories import create_provider, create_resilient_provider, create_routed_provider
from claw_acp.providers.registry.services import SERVICES
from claw_acp.providers.selection.resolve import resolve
from tests.support.servers.loopback import Answered, Asked, Loopback, serving

SAID = b'{"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}], "usage": {}}'


def configured(home: Path, text: str = "", **environ: str) -> Settings:
    (home / "config.toml").write_text(text)
    return load_settings(locations=find_locations({"CLAW_ACP_HOME": str(home)}), environ=environ, cwd=None)


@pytest.mark.parametrize("name", [service.name for service in SERVICES.values() if service.vendor == "Groq"])
async def test_a_known_service_needs_its_name_and_a_key(name: str, tmp_path: Path) -> None:
    provider = create_provider(name, "gsk_0123456789abcdef", settings=configured(tmp_path))
    assert provider.name == name
    await provider.aclose()


async def test_a_key_that_is_given_comes_before_all_others(tmp_path: Path) -> None:
    server = Loopback(lambda _: Answered((SAID,)))
    text = f'[providers.work]\nkind = "openai"\nbase_url = "{server.url}"\napi_key = "configured"\nmodels = ["m"]'
    with serving(server):
        settings = configured(tmp_path, text)
        async with aclosing(create_provider("work", "given", settings=settings)) as provider:
            assert await provider.simple_chat("m", "hi") == "hello"
        async with aclosing(create_provider("work", settings=settings)) as provider:
            await provider.simple_chat("m", "hi", temperature=0.5)
    assert [asked.headers["authorization"] for asked in server.asked] == ["Bearer given", "Bearer configured"]
    assert b'"temperature":0.5' in server.asked[1].body


TOOLS = (ToolSpec(name="look", description="Looks", parameters={"type": "object", "properties": {}}),)


async def test_a_program_chooses_tools_for_all_requests_of_a_task(tmp_path: Path) -> None:
    server = Loopback(lambda _: Answered((SAID,)))
    text = f'[providers.work]\nkind = "openai"\nbase_url = "{server.url}"\napi_key = "k"\nmodels = ["m"]'
    choices: tuple[ToolChoice, ...] = ("required", "none", OneTool(name="look"))
    with serving(server):
        async with aclosing(create_provider("work", settings=configured(tmp_path, text))) as provider:
            for choice in choices:
                with tool_choice(choice):
                    await provider.chat(ChatRequest(model="m", messages=[Message.user("hi")], tools=TOOLS))
            own = ChatOptions(tool_choice="none")
            with tool_choice("required"):
                await provider.chat(ChatRequest(model="m", messages=[Message.user("hi")], tools=TOOLS, options=own))
            await provider.chat(ChatRequest(model="m", messages=[Message.user("hi")], tools=TOOLS))
    told = [json.loads(asked.body).get("tool_choice", "auto") for asked in server.asked]
    assert told == ["required", "none", {"type": "function", "function": {"name": "look"}}, "none", "auto"]


def _by_path(asked: Asked) -> Answered:
    return Answered(status=401) if asked.path.startswith("/bad") else Answered((SAID,))


async def test_another_answers_when_the_first_cannot(tmp_path: Path) -> None:
    server = Loopback(_by_path)
    text = "".join(
        f'[providers.{name}]\nkind = "openai"\nbase_url = "{server.url}/{name}"\nmodels = ["{name}-1"]\n'
        for name in ("bad", "good")
    )
    with serving(server):
        settings = configured(tmp_path, text)
        async with aclosing(create_resilient_provider("bad", fallback=["good"], settings=settings)) as provider:
            response = await provider.chat(ChatRequest(model="bad-1", messages=[Message.user("hi")]))
        assert response.answered_by == "good/good-1"
        routes = {"first": "bad/bad-1", "second": "good/good-1"}
        async with aclosing(create_routed_provider(routes, usual="good", settings=settings)) as provider:
            assert await provider.simple_chat("hint:second", "hi") == "hello"
            assert await provider.simple_chat("any", "hi") == "hello"


def test_what_there_is_not_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="grok-cloud"):
        create_provider("grok-cloud/x", "k", settings=configured(tmp_path))
    with pytest.raises(AuthRequired, match="GROQ_API_KEY"):
        create_provider("groq", settings=configured(tmp_path))
    with pytest.raises(AuthRequired, match=r"looks like a key of Anthropic.*ANTHROPIC_API_KEY"):
        create_provider("groq", "sk-ant-0123456789", settings=configured(tmp_path))


@pytest.mark.parametrize(
    ("variable", "key", "words"),
    [
        ("OPENAI_API_KEY", "sk-ant-api03-abc", ("OPENAI_API_KEY", "key of Anthropic", "ANTHROPIC_API_KEY")),
        ("ANTHROPIC_API_KEY", "sk-proj-abc", ("ANTHROPIC_API_KEY", "key of OpenAI", "OPENAI_API_KEY")),
        ("GEMINI_API_KEY", "gsk_abc", ("GEMINI_API_KEY", "key of Groq", "GROQ_API_KEY")),
        ("API_KEY", "gsk_abc", ("API_KEY", "Groq", "GROQ_API_KEY")),
        ("CLAW_ACP_API_KEY", "AIzaabc", ("CLAW_ACP_API_KEY", "Google", "GEMINI_API_KEY")),
    ],
)
def test_a_key_in_the_wrong_variable_alone_is_explained(
    variable: str, key: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    notice = resolve(configured(tmp_path, **{variable: key}), model=None).notice or ""
    assert all(word in notice for word in words), notice
    assert key not in notice
