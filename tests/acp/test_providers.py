"""`providers/*`: a client routes model requests elsewhere, for as long as the process lives."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from claw_acp.providers.registry import service as families
from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json
from tests.support.file_keyring import NO_KEYRING
from tests.support.servers.model_server import ModelServer

GPT = families.OPENAI.roles[0].last_resort

OPENAI = {"apiType": "openai", "baseUrl": "https://api.openai.com/v1"}
ANTHROPIC = {"apiType": "anthropic", "baseUrl": "https://api.anthropic.com"}
KEY = {"OPENAI_API_KEY": "sk-environment-0123456789"}


@pytest.fixture
async def server() -> AsyncGenerator[ModelServer]:
    async with ModelServer() as server:
        yield server


def info(name: str, api: str, current: Json | None, *, required: bool = False) -> Json:
    told: Json = {"providerId": name, "supported": [api], "required": required}
    return told if current is None else told | {"current": current}


async def listed(editor: Editor) -> list[Json]:
    return (await editor.request("providers/list", {}))["providers"]


def to(server: ModelServer, **more: Any) -> Json:
    return {"providerId": "openai", "apiType": "openai", "baseUrl": server.openai_url, **more}


async def test_the_list_has_every_provider_that_can_be_set_and_where_it_is_now(spawn: Spawn) -> None:
    config = (
        'model = "work/x"\n[providers.work]\nkind = "openai"\nbase_url = "http://127.0.0.1:9/v1"\napi_key = "k"\n'
        '[providers.play]\nkind = "scripted"\nscript = "x"\n[providers.broken]\nmodels = ["x"]\n'
    )
    async with spawn(config=config, env={**NO_KEYRING, "ANTHROPIC_BASE_URL": "http://127.0.0.1:8/"}) as editor:
        await editor.initialize()
        assert await listed(editor) == [
            info("anthropic", "anthropic", {"apiType": "anthropic", "baseUrl": "http://127.0.0.1:8"}),
            info("openai", "openai", OPENAI),
            info("work", "openai", {"apiType": "openai", "baseUrl": "http://127.0.0.1:9/v1"}, required=True),
        ]


@pytest.mark.rule("providers.no-secrets")
async def test_what_a_client_sets_is_used_by_the_next_request_and_only_that_is_sent(
    spawn: Spawn, server: ModelServer, home: Path
) -> None:
    async with spawn(env={**NO_KEYRING, **KEY}) as editor:
        await editor.initialize()
        await editor.new_session()
        headers = {"Authorization": "Bearer hush-0123456789", "X-Team": "blue"}
        assert await editor.request("providers/set", to(server, headers=headers)) == {}
        server.will_say("from the gateway")
        assert (await editor.prompt("hi")).text == "from the gateway"
        sent = server.requests[-1].headers
        assert (sent["authorization"], sent["x-team"]) == ("Bearer hush-0123456789", "blue")
        assert await editor.request("providers/set", to(server, baseUrl=f"{server.openai_url}/")) == {}
        server.will_say("again")
        await editor.prompt("hi")
        assert not {"authorization", "x-team"} & server.requests[-1].headers.keys()
        assert (await listed(editor))[1] == info(
            "openai", "openai", {"apiType": "openai", "baseUrl": server.openai_url}
        )
        assert "hush" not in str(editor.received())
    assert not (home / "claw" / "credentials.toml").exists()
    async with spawn(env={**NO_KEYRING, **KEY}) as editor:
        await editor.initialize()
        assert (await listed(editor))[1]["current"] == OPENAI


async def test_the_anthropic_api_may_be_named_with_its_version_or_without(spawn: Spawn, server: ModelServer) -> None:
    async with spawn(env=NO_KEYRING) as editor:
        await editor.initialize()
        for address in (server.anthropic_url, f"{server.anthropic_url}/v1"):
            route = {
                "providerId": "anthropic",
                "apiType": "anthropic",
                "baseUrl": address,
                "headers": {"X-Api-Key": "k"},
            }
            await editor.request("providers/set", route)
            await editor.new_session()
            server.will_say("yes")
            assert (await editor.prompt("hi")).text == "yes"
            assert server.requests[-1].path == "/v1/messages"


async def test_a_provider_that_is_switched_off_answers_nobody_until_it_is_set_again(
    spawn: Spawn, server: ModelServer
) -> None:
    env = {**NO_KEYRING, **KEY, "OPENAI_BASE_URL": server.openai_url}
    async with spawn(env=env) as editor:
        await editor.initialize()
        options = (await editor.new_session())["configOptions"]
        assert _models(options)[0].startswith("openai/")
        for _ in range(2):
            assert await editor.request("providers/disable", {"providerId": "openai"}) == {}
            assert (await listed(editor))[1] == info("openai", "openai", None)
        failure = await (await editor.start_prompt("hi")).failure()
        assert "switched off by the client" in failure.message
        assert server.requests == []
        assert _models((await editor.new_session())["configOptions"]) == ["offline/assistant"]
        await editor.request("providers/set", to(server))
        server.will_say("back")
        await editor.new_session()
        assert (await editor.prompt("hi")).text == "back"


async def test_sessions_that_are_open_see_at_once_which_models_there_are(spawn: Spawn, server: ModelServer) -> None:
    async with spawn(env=NO_KEYRING) as editor:
        await editor.initialize()
        await editor.new_session()
        await editor.request("providers/set", to(server))
        choice = {"sessionId": editor.session, "configId": "model", "value": f"openai/{GPT}"}
        options = (await editor.request("session/set_config_option", choice))["configOptions"]
        assert f"openai/{GPT}" in _models(options)
        server.will_say("hello")
        assert (await editor.prompt("hi")).text == "hello"


@pytest.mark.rule("providers.required")
async def test_the_provider_of_the_configured_model_cannot_be_switched_off(spawn: Spawn) -> None:
    async with spawn(config='model = "openai/gpt-5.1"\n', env={**NO_KEYRING, **KEY}) as editor:
        await editor.initialize()
        assert [row["required"] for row in await listed(editor)] == [False, True]
        failure = await editor.failing("providers/disable", {"providerId": "openai"})
        assert (failure.code, "openai/gpt-5.1" in failure.message) == (-32602, True)
        await editor.new_session()


async def test_switching_off_what_nobody_knows_is_fine(spawn: Spawn) -> None:
    async with spawn(env=NO_KEYRING) as editor:
        await editor.initialize()
        assert await editor.request("providers/disable", {"providerId": "nobody"}) == {}


@pytest.mark.rule("providers.unknown-protocol")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"providerId": "nobody"}, "there are: anthropic, openai"),
        ({"providerId": "offline"}, "no provider 'offline' that can be set"),
        ({"apiType": "anthropic"}, "openai cannot speak the API 'anthropic'; it speaks: openai"),
        ({"apiType": "_own"}, "cannot speak the API '_own'"),
        ({"apiType": 7}, "apiType"),
        ({"baseUrl": "ftp://x"}, "`baseUrl` must be an address"),
        ({"baseUrl": "http://["}, "`baseUrl` must be an address"),
        ({"baseUrl": ""}, "`baseUrl` must be an address"),
        ({"headers": {"X-Key": 7}}, "headers.X-Key"),
        ({"headers": {"X Key": "hush"}}, "`headers` cannot hold 'X Key'"),
        ({"headers": {"Content-Length": "hush"}}, "`headers` cannot hold 'Content-Length'"),
        ({"headers": {"X-Key": "hush\r\nX: y"}}, "`headers` has a value for 'X-Key' that cannot be sent"),
    ],
    ids=str,
)
async def test_what_cannot_be_set_is_refused_in_words_and_changes_nothing(
    spawn: Spawn, change: Json, said: str
) -> None:
    async with spawn(env=NO_KEYRING) as editor:
        await editor.initialize()
        route = {"providerId": "openai", "apiType": "openai", "baseUrl": "http://127.0.0.1:9/v1"} | change
        failure = await editor.failing("providers/set", route)
        assert (failure.code, said in failure.message, "hush" in failure.message) == (-32602, True, False)
        assert [row["current"] for row in await listed(editor)] == [ANTHROPIC, OPENAI]


async def test_logging_out_undoes_what_was_set(spawn: Spawn, server: ModelServer) -> None:
    async with spawn(env=NO_KEYRING) as editor:
        await editor.initialize()
        await editor.request("providers/set", to(server))
        await editor.request("providers/disable", {"providerId": "anthropic"})
        assert await editor.request("logout", {}) == {}
        assert [row["current"] for row in await listed(editor)] == [ANTHROPIC, OPENAI]


def _models(options: list[Json]) -> list[str]:
    return [value["value"] for value in next(option for option in options if option["id"] == "model")["options"]]
