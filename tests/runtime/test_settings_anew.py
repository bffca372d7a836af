"""Configuration that changes while a session is open."""

from pathlib import Path

from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, call, say, turn
from tests.support.servers.model_server import ModelServer

MODEL = 'model = "openai/test-model"\n'
KEY = "sk-test-0123456789abcdef"


async def test_a_key_added_to_the_configuration_is_used_by_the_next_prompt(
    spawn: Spawn, opened: Spawn, home: Path
) -> None:
    async with opened(config=MODEL, env={"OPENAI_API_KEY": "sk-test-of-yesterday-000"}) as editor:
        session = editor.session
    async with ModelServer() as server, spawn() as editor:
        await editor.initialize()
        await editor.load(session)
        assert (await (await editor.start_prompt("hi")).failure()).code == -32000
        assert (await editor.failing("authenticate", {"methodId": "api-key"})).code == -32000
        own = f'[providers.openai]\napi_key = "{KEY}"\nbase_url = "{server.openai_url}"\n'
        (home / "claw" / "config.toml").write_text(MODEL + own)
        server.will_say("there you are")
        assert (await editor.prompt("hi")).text == "there you are"
        assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
        assert await editor.request("authenticate", {"methodId": "api-key"}) == {}


async def test_a_rule_added_to_the_configuration_holds_for_the_next_prompt(opened: Spawn, home: Path) -> None:
    script = Script(turn(call("shell", command="touch x")), turn(say("ok")), loop=True)
    async with opened(script=script) as editor:
        editor.will_answer("reject_once")
        assert (await editor.prompt("go")).calls[0]["status"] == "failed"
        with (home / "claw" / "config.toml").open("a") as config:
            config.write('\n[permissions]\nallow = ["shell(touch *)"]\n')
        assert (await editor.prompt("go")).calls[0]["status"] == "completed"
        assert len(editor.received("session/request_permission")) == 1
