"""MCP servers (case 40): a bad one costs a notice, never the session; the tools of good ones reach the model."""

import pytest

from claw_acp.mcp.names import server_names
from tests.mcp.support import AUTO, NOTICES, configured, notice, notices, raw, ready
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, shown_text
from tests.support.script_files import Script, call, say, turn
from tests.support.servers.model_replies import Call
from tests.support.servers.model_server import ModelServer

TALK = Script(turn(say("hello")), loop=True)


@pytest.mark.case(40)
@pytest.mark.rule("session.mcp-stdio")
async def test_the_tools_of_a_clients_server_reach_the_model(spawn: Spawn) -> None:
    async with ModelServer() as server:
        env = {"OPENAI_API_KEY": "sk-test-0123456789", "OPENAI_BASE_URL": server.openai_url}
        async with spawn(env=env, config=f'model = "openai/test-model"\n{AUTO}') as editor:
            await editor.initialize()
            await editor.new_session(mcpServers=[raw(editor)])
            await ready(editor)
            server.will_say(calls=[Call(name="raw__echo", arguments={"text": "hello"})])
            server.will_say("it said hello")
            outcome = await editor.prompt("say hello")
        first, second = (str(request.json) for request in server.requests)
    assert outcome.text == "it said hello"
    assert "'name': 'raw__echo'" in first
    assert "text from the MCP server raw begins" in second


@pytest.mark.case(40)
@pytest.mark.parametrize(
    "habits",
    [{"hangs_at": "initialize"}, {"dies_at": "start"}, {"garbage": 10, "hangs_at": "tools/list"}],
    ids=["hangs", "dies", "babbles"],
)
async def test_a_session_is_made_whatever_its_servers_do(spawn: Spawn, habits: Json) -> None:
    async with spawn(script=TALK, capabilities=NOTICES) as editor:
        await editor.initialize()
        creating = await editor.start(
            "session/new", {"cwd": str(editor.project), "mcpServers": [raw(editor, **habits)]}
        )
        session = (await creating.result())["sessionId"]
        assert [frame for frame in editor.received() if frame.get("method") == "session/update"] == []
        assert (await editor.prompt("hi", session=session)).text == "hello"


@pytest.mark.case(40)
async def test_a_server_that_cannot_start_is_a_notice(spawn: Spawn) -> None:
    async with spawn(script=TALK, capabilities=NOTICES) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[{"name": "gone", "command": "/no/such", "args": [], "env": []}])
        told = await notice(editor)
        assert (await editor.prompt("hi")).text == "hello"
    assert (told["severity"], "gone" in told["title"], "/no/such" in told["description"]) == ("warning", True, True)


@pytest.mark.case(40)
async def test_a_server_that_hangs_is_given_up_in_time(spawn: Spawn) -> None:
    config = configured("slow", hangs_at="initialize", more="start_timeout = 0.5")
    async with spawn(script=TALK, capabilities=NOTICES, config=config) as editor:
        await editor.initialize()
        await editor.new_session()
        assert "within 0.5 s" in (await notice(editor))["description"]


@pytest.mark.case(40)
async def test_servers_of_one_name_both_work(spawn: Spawn) -> None:
    first, second = server_names(["raw", "raw"])
    script = Script(turn(call(f"{first}__echo", text="one"), call(f"{second}__echo", text="two")), turn(say("done")))
    async with spawn(script=script, config=AUTO, capabilities=NOTICES) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor, says="first"), raw(editor, says="second")])
        await ready(editor, first, second)
        outcome = await editor.prompt("go")
        assert notices(editor) == []
    assert [shown_text(tool) for tool in outcome.calls] == ["one", "two"]


@pytest.mark.case(40)
@pytest.mark.rule("session.mcp-unadvertised")
@pytest.mark.parametrize("method", ["session/new", "session/load", "session/resume"])
async def test_a_kind_of_server_that_was_not_offered_is_refused(spawn: Spawn, method: str) -> None:
    async with spawn(script=TALK) as editor:
        offered = (await editor.initialize())["agentCapabilities"]["mcpCapabilities"]
        assert set(offered) == {"http", "sse", "acp"}
        await editor.new_session()
        server: Json = {"type": "carrier-pigeon", "name": "loft", "url": "pigeon://loft", "headers": []}
        where: Json = {"sessionId": editor.session, "cwd": str(editor.project), "mcpServers": [server]}
        failure = await editor.failing(method, where)
        assert (failure.code, "carrier-pigeon" in failure.message) == (-32602, True)
        assert (await editor.prompt("hi")).text == "hello"
