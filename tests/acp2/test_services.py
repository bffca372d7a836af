"""Logging in, providers, and MCP servers, as protocol 2 has them."""

import pytest

from tests.acp2.conftest import Spawn
from tests.mcp.support import raw, ready
from tests.support.editors.editor_v2 import EditorV2
from tests.support.editors.exchange import Json
from tests.support.file_keyring import NO_KEYRING
from tests.support.script_files import Script, call, expect, say, turn

AUTO = 'mode = "auto"'
KEYLESS = 'model = "openai/some-model"'


def stdio(editor: EditorV2) -> Json:
    """A server that needs nothing, in the words of protocol 2."""
    return {"type": "stdio", **raw(editor)}


@pytest.mark.case(40)
async def test_the_tools_of_a_server_reach_the_model(spawn: Spawn) -> None:
    script = Script(turn(call("raw__echo", text="hello there")), turn(expect("hello there"), say("done")))
    async with spawn(script=script, config=AUTO) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[stdio(editor)])
        await ready(editor)
        done = await editor.run("go")
        assert (done.text, [call["status"] for call in done.calls]) == ("done", ["completed"])


@pytest.mark.case(40)
@pytest.mark.rule("v2.mcp-not-restored")
async def test_servers_of_an_earlier_request_are_not_restored(spawn: Spawn) -> None:
    script = Script(turn(call("raw__echo", text="hello there")), turn(expect("no tool named"), say("gone")))
    async with spawn(script=script, config=AUTO) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[stdio(editor)])
        await ready(editor)
        answer, _ = await editor.resume()
        assert "raw:ready" not in [command["name"] for command in answer["availableCommands"]]
        assert (await editor.run("go")).text == "gone"


@pytest.mark.case(40)
async def test_a_server_that_cannot_start_costs_a_notice_and_not_the_session(spawn: Spawn) -> None:
    async with spawn(script=Script(turn(say("ok")))) as editor:
        await editor.initialize()
        server: Json = {"type": "stdio", "name": "gone", "command": "/nowhere/at/all"}
        await editor.new_session(mcpServers=[server])
        await editor.wait_for(lambda: editor.updates("notice"), "a notice")
        assert "gone" in str(editor.updates("notice"))
        assert (await editor.run("go")).text == "ok"


@pytest.mark.case(42)
@pytest.mark.rule("v2.auth-pair")
async def test_without_a_key_a_session_needs_a_login_and_a_login_says_what_to_do(spawn: Spawn) -> None:
    async with spawn(config=KEYLESS, env=NO_KEYRING) as editor:
        await editor.initialize()
        assert (await editor.request("auth/status", {}))["state"] == "unauthenticated"
        assert (await editor.failing("session/new", {"cwd": str(editor.project)})).code == -32000
        failure = await editor.failing("auth/login", {"methodId": "api-key"})
        assert failure.code == -32000
        assert "OPENAI_API_KEY" in str(failure)
        await editor.request("auth/logout", {})


@pytest.mark.case(42)
@pytest.mark.rule("v2.auth-terminal")
async def test_a_login_by_terminal_is_offered_to_who_can_show_one_and_cannot_be_called(spawn: Spawn) -> None:
    async with spawn() as editor:
        answer = await editor.initialize()
        assert [method["type"] for method in answer["authMethods"]] == ["agent"]
    async with spawn(capabilities={"auth": {"terminal": {}}}) as editor:
        answer = await editor.initialize()
        method = next(method for method in answer["authMethods"] if method["type"] == "terminal")
        assert method["args"] == ["login"]
        assert (await editor.failing("auth/login", {"methodId": method["methodId"]})).code == -32602


async def test_providers_are_listed_without_their_keys(spawn: Spawn) -> None:
    env = {"OPENAI_API_KEY": "sk-nobody-must-see-this-0123456789", **NO_KEYRING}
    async with spawn(env=env) as editor:
        await editor.initialize()
        listed = await editor.request("providers/list", {})
        assert "openai" in [provider["providerId"] for provider in listed["providers"]]
        assert "must-see" not in str(listed)
        wrong: Json = {"providerId": "openai", "apiType": "openai", "baseUrl": "nonsense"}
        assert (await editor.failing("providers/set", wrong)).code == -32602
