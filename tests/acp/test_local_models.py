"""Models that nobody configured: of servers on this machine, and of the lists that providers have."""

import json
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any

import pytest

from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json
from tests.support.servers.loopback import serving
from tests.support.servers.model_replies import failure
from tests.support.servers.model_server import ModelServer
from tests.support.servers.ollama_server import OllamaServer, shown

WORK = '[providers.work]\nkind = "openai"\nbase_url = "{url}"\n'
LISTS = {"CLAW_ACP_MODEL_LISTS": "on"}


@pytest.fixture
def ollama() -> Generator[OllamaServer]:
    server = OllamaServer({"qwen3": shown("completion", "tools"), "gemma3": shown("completion")})
    with serving(server):
        yield server


@pytest.fixture
async def server() -> AsyncGenerator[ModelServer]:
    async with ModelServer() as server:
        yield server


def at(server: OllamaServer) -> dict[str, str]:
    return {"CLAW_ACP_LOCAL_SERVERS": f"ollama={server.url}"}


def model_option(options: list[Json]) -> Json:
    (option,) = [option for option in options if option["id"] == "model"]
    return option


def offered(options: list[Json]) -> list[str]:
    return [choice["value"] for choice in model_option(options)["options"]]


def told(editor: Editor) -> list[list[Json]]:
    return [update["configOptions"] for update in editor.updates() if update["sessionUpdate"] == "config_option_update"]


async def test_a_server_on_this_machine_answers_where_nothing_was_set_up(spawn: Spawn, ollama: OllamaServer) -> None:
    async with spawn(env=at(ollama)) as editor:
        await editor.initialize()
        options = (await editor.new_session())["configOptions"]
        assert model_option(options)["currentValue"] == "ollama/qwen3"
        assert offered(options) == ["ollama/qwen3", "ollama/gemma3", "offline/assistant"]
        ollama.will_say("Hel", "lo")
        outcome = await editor.prompt("say hello")
        assert outcome.text == "Hello"
        assert [json.loads(asked.body)["model"] for asked in ollama.asked if asked.path == "/api/chat"] == ["qwen3"]


async def test_another_of_its_models_can_be_picked_and_is_asked(spawn: Spawn, ollama: OllamaServer) -> None:
    async with spawn(env=at(ollama)) as editor:
        await editor.initialize()
        await editor.new_session()
        chosen: Json = {"sessionId": editor.session, "configId": "model", "value": "ollama/gemma3"}
        options = (await editor.request("session/set_config_option", chosen))["configOptions"]
        assert model_option(options)["currentValue"] == "ollama/gemma3"
        ollama.will_say("Yes")
        assert (await editor.prompt("there?")).text == "Yes"
        assert [json.loads(asked.body)["model"] for asked in ollama.asked if asked.path == "/api/chat"] == ["gemma3"]


async def test_a_model_that_no_list_names_can_be_typed(spawn: Spawn, ollama: OllamaServer) -> None:
    async with spawn(env=at(ollama)) as editor:
        await editor.initialize()
        await editor.new_session()
        typed: Json = {"sessionId": editor.session, "configId": "model", "value": "ollama/just-pulled:7b"}
        options = (await editor.request("session/set_config_option", typed))["configOptions"]
        assert model_option(options)["currentValue"] == "ollama/just-pulled:7b"
        refused = await editor.start("session/set_config_option", {**typed, "value": "groq/any"})
        assert "there is no model 'groq/any'" in (await refused.failure()).message


async def test_without_a_server_the_offline_assistant_answers(spawn: Spawn) -> None:
    async with spawn(env={"CLAW_ACP_LOCAL_SERVERS": "vllm=127.0.0.1:1"}) as editor:
        await editor.initialize()
        options = (await editor.new_session())["configOptions"]
        assert offered(options) == ["offline/assistant"]


async def test_a_provider_is_asked_for_its_models_and_open_sessions_are_told(spawn: Spawn, server: ModelServer) -> None:
    async with spawn(config='model = "work/mine"\n' + WORK.format(url=server.openai_url), env=LISTS) as editor:
        await editor.initialize()
        options = (await editor.new_session())["configOptions"]
        assert offered(options) == ["work/mine", "offline/assistant"]
        await editor.wait_for(lambda: told(editor), "news of the models")
        assert offered(told(editor)[-1]) == ["work/mine", "work/test-model", "work/other-model", "offline/assistant"]


async def test_a_list_that_was_fetched_is_there_at_the_next_start(
    spawn: Spawn, server: ModelServer, home: Path
) -> None:
    config = 'model = "work/mine"\n' + WORK.format(url=server.openai_url)
    async with spawn(config=config, env=LISTS) as editor:
        await editor.initialize()
        await editor.new_session()
        await editor.wait_for(lambda: told(editor), "news of the models")
    kept = json.loads((home / "claw" / "cache" / "models" / "work.json").read_text())
    assert [row["id"] for row in kept["models"]] == ["test-model", "other-model"]
    asked = len(server.requests)
    async with spawn(config=config, env=LISTS) as editor:
        await editor.initialize()
        options = (await editor.new_session())["configOptions"]
        assert offered(options) == ["work/mine", "work/test-model", "work/other-model", "offline/assistant"]
    assert len(server.requests) == asked


async def test_a_provider_that_lists_nothing_harms_nobody(spawn: Spawn, server: ModelServer) -> None:
    server.always_lists(failure(500, "no list today"))
    server.will_say("still here")
    async with spawn(config='model = "work/mine"\n' + WORK.format(url=server.openai_url), env=LISTS) as editor:
        await editor.initialize()
        await editor.new_session()
        assert (await editor.prompt("there?")).text == "still here"
        assert told(editor) == []


async def test_lists_are_not_fetched_where_that_is_switched_off(spawn: Spawn, server: ModelServer) -> None:
    server.will_say("hello")
    config = 'model = "work/mine"\nmodel_lists = false\n' + WORK.format(url=server.openai_url)
    env: dict[str, Any] = {"CLAW_ACP_MODEL_LISTS": None}
    async with spawn(config=config, env=env) as editor:
        await editor.initialize()
        await editor.new_session()
        await editor.prompt("hello")
    assert [request.method for request in server.requests] == ["POST"]


async def test_a_server_that_went_away_is_gone_from_the_next_session(spawn: Spawn) -> None:
    server = OllamaServer({"qwen3": shown("completion")})
    async with spawn(env=at(server)) as editor:
        with serving(server):
            await editor.initialize()
            assert model_option((await editor.new_session())["configOptions"])["currentValue"] == "ollama/qwen3"
        assert model_option((await editor.new_session())["configOptions"])["currentValue"] == "offline/assistant"
        await editor.wait_for(lambda: told(editor), "news in the first session")
        assert offered(told(editor)[-1]) == ["ollama/qwen3", "offline/assistant"]  # the one in use stays in the list
