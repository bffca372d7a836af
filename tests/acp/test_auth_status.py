"""`auth/status` and its updates: what is said of accounts, when, and to whom."""

import json
from pathlib import Path

import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json
from tests.support.file_keyring import NO_KEYRING, keyring_environment
from tests.support.script_files import Script, say, turn

ANTHROPIC = 'model = "anthropic/claude-sonnet-4-5"\n'
MINE = '[providers.mine]\nkind = "openai"\nbase_url = "http://127.0.0.1:9/v1"\n'
KEY = "sk-ant-hush-0123456789"


@pytest.mark.rule("auth.status-never-refused")
@pytest.mark.parametrize(
    ("config", "env", "state"),
    [
        ("", {}, "not_required"),
        ("", {"ANTHROPIC_API_KEY": KEY}, "authenticated"),
        (ANTHROPIC, {}, "unauthenticated"),
        (ANTHROPIC, {"OPENAI_API_KEY": "sk-x"}, "unauthenticated"),
        (ANTHROPIC, {"ANTHROPIC_API_KEY": "sk-proj-x"}, "unauthenticated"),
        (ANTHROPIC, {"API_KEY": KEY}, "authenticated"),
        ('model = "nobody/x"\n', {}, "unknown"),
        (
            'model = "mine/x"\n[providers.mine]\nkind = "openai"\nbase_url = "http://127.0.0.1:9/v1"\n',
            {},
            "not_required",
        ),
    ],
)
async def test_the_state_says_whether_a_session_can_be_started(
    spawn: Spawn, config: str, env: dict[str, str], state: str
) -> None:
    async with spawn(config=config, env={**NO_KEYRING, **env}) as editor:
        await editor.initialize()
        status = await editor.request("auth/status", {})
        assert status["state"] == state
        params: Json = {"cwd": str(editor.project), "mcpServers": []}
        call = await editor.start("session/new", params)
        if state == "unauthenticated":
            assert (await call.failure()).code == -32000
        elif state != "unknown":
            await call.result()


@pytest.mark.rule("auth.status-accounts")
async def test_every_key_is_an_account_and_the_one_in_use_is_active(spawn: Spawn, home: Path) -> None:
    config = '[providers.work]\nkind = "openai"\nbase_url = "http://127.0.0.1:9/v1"\napi_key = "k-work-012345"\n'
    claw = home / "claw"
    claw.mkdir(mode=0o700)
    (claw / "credentials.toml").write_text(f'[anthropic]\nkey = "{KEY}"\n')
    (claw / "credentials.toml").chmod(0o600)
    async with spawn(config=config, env={**NO_KEYRING, "OPENAI_API_KEY": "sk-x"}) as editor:
        await editor.initialize()
        status = await editor.request("auth/status", {})
    assert status == {
        "state": "authenticated",
        "accounts": [
            {"label": "Anthropic API key (claw-acp login)", "active": True},
            {"label": "OpenAI API key (OPENAI_API_KEY)", "active": False},
            {"label": "work API key (config.toml)", "active": False},
        ],
    }
    assert str(home) not in json.dumps(status)


async def test_a_key_in_a_keyring_counts_and_the_keyring_is_left_alone(
    spawn: Spawn, tmp_path: Path, home: Path
) -> None:
    (home / "claw").mkdir(mode=0o700)
    (home / "claw" / "credentials.toml").write_text('[anthropic]\nkeyring = "anthropic"\n')
    (home / "claw" / "credentials.toml").chmod(0o600)
    async with spawn(env=keyring_environment(tmp_path / "none.json", mood="hangs")) as editor:
        await editor.initialize()
        assert (await editor.request("auth/status", {}))["state"] == "authenticated"
        await editor.new_session()


@pytest.mark.rule("auth.status-update")
async def test_who_has_asked_is_told_of_changes_and_only_of_changes(spawn: Spawn, home: Path) -> None:
    config_file = home / "claw" / "config.toml"

    def updates() -> list[Json]:
        return [frame["params"] for frame in editor.received("auth/status_update")]

    async with spawn(config=ANTHROPIC, env=NO_KEYRING) as editor:
        await editor.initialize()
        await editor.request("auth/status", {})
        config_file.write_text(f'{ANTHROPIC}[providers.anthropic]\napi_key = "{KEY}"\n')
        await editor.new_session()
        await editor.wait_for(updates, "the news")
        account = {"label": "Anthropic API key (config.toml)", "active": True}
        assert updates() == [{"state": "authenticated", "accounts": [account]}]
        config_file.write_text(f'{ANTHROPIC}mode = "plan"\n[providers.anthropic]\napi_key = "{KEY}"\n')
        await editor.new_session()
        await editor.request("auth/status", {})
        await editor.request("logout", {})
        assert len(updates()) == 1


async def test_who_has_not_asked_is_told_nothing(spawn: Spawn, home: Path) -> None:
    async with spawn(script=Script(turn(say("ok"))), env=NO_KEYRING) as editor:
        await editor.initialize()
        await editor.new_session()
        with (home / "claw" / "config.toml").open("a") as config:
            config.write(f'[providers.anthropic]\napi_key = "{KEY}"\n')
        await editor.new_session()
        await editor.prompt("hi")
        assert editor.received("auth/status_update") == []
