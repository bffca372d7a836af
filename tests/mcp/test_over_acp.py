"""Servers inside the editor, reached through ACP itself (unstable)."""

import json

import anyio
import pytest

from claw_acp.acp.connection import Connection
from claw_acp.acp.mcp_servers import server_specs
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import InvalidRequest
from claw_acp.rpc.memory_pair import memory_pair
from claw_acp.runtime.build import open_engine
from claw_acp.runtime.engine_host import EngineHost
from claw_acp.schema.mcp import McpServerAcp, McpServerHttp, McpServerSse, McpServerStdio
from tests.mcp.in_editor import ServerInEditor
from tests.mcp.support import AUTO, NOTICES, commands, notice, ready
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import RpcFailure, shown_text
from tests.support.program.agent_process import TIMEOUT
from tests.support.script_files import Script, call, expect, say, turn

TALK = Script(turn(say("hello")), loop=True)
ECHO = Script(turn(call("inside__echo", text="hi")), turn(say("done")), loop=True)


@pytest.mark.rule("mcp-over-acp.envelope")
async def test_a_tool_of_the_editor_is_called_through_the_protocol(spawn: Spawn) -> None:
    script = Script(turn(call("inside__echo", text="hi")), turn(expect("echo: hi"), say("done")))
    async with spawn(script=script, config=AUTO) as editor:
        capabilities = (await editor.initialize())["agentCapabilities"]["mcpCapabilities"]
        server = ServerInEditor(editor)
        await editor.new_session(mcpServers=[server.declared])
        await ready(editor, "inside")
        outcome = await editor.prompt("go")
        assert server.methods()[:3] == ["server/discover", "tools/list", "prompts/list"]
        ids = [envelope["requestId"] for envelope in server.heard]
        meta = server.heard[-1]["params"]["_meta"]
    assert capabilities["acp"] is True
    assert (outcome.text, shown_text(outcome.calls[0])) == ("done", "echo: hi")
    assert len(set(ids)) == len(ids)
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "claw-acp"
    assert "io.modelcontextprotocol/clientCapabilities" in meta


@pytest.mark.rule("mcp-over-acp.envelope")
async def test_an_error_inside_the_envelope_is_one_for_the_model(spawn: Spawn) -> None:
    async with spawn(script=ECHO, config=AUTO) as editor:
        await editor.initialize()
        server = ServerInEditor(editor)
        server.answers["tools/call"] = {"error": {"code": -32602, "message": "no such file"}}
        await editor.new_session(mcpServers=[server.declared])
        await ready(editor, "inside")
        outcome = await editor.prompt("go")
    assert "answered with an error: no such file" in shown_text(outcome.calls[0])


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (RpcFailure(-33001, "MCP server registration unavailable"), "could not deliver it"),
        ({"neither": 1}, "neither a result nor an error"),
        ({"result": None}, "the answer is not valid"),
        ({"result": {"content": [{"type": "text", "text": "wins"}], "resultType": "complete"}, "error": {}}, "wins"),
    ],
)
async def test_an_envelope_that_is_wrong_ends_the_call(spawn: Spawn, answer: object, told: str) -> None:
    async with spawn(script=ECHO, config=AUTO) as editor:
        await editor.initialize()
        server = ServerInEditor(editor)
        server.answers["tools/call"] = answer
        await editor.new_session(mcpServers=[server.declared])
        await ready(editor, "inside")
        outcome = await editor.prompt("go")
    assert told in shown_text(outcome.calls[0])


@pytest.mark.rule("mcp-over-acp.envelope")
async def test_news_of_a_call_are_shown_and_cancelling_it_cancels_the_request(spawn: Spawn) -> None:
    script = Script(turn(call("inside__slow")), turn(say("next")))
    async with spawn(script=script, config=AUTO) as editor:
        await editor.initialize()
        server = ServerInEditor(editor)
        server.tools.append({"name": "slow", "inputSchema": {"type": "object"}})
        await editor.new_session(mcpServers=[server.declared])
        await ready(editor, "inside")
        prompt = await editor.start_prompt("go")
        await editor.wait_for(lambda: "1 of 2: half" in json.dumps(editor.updates("tool_call_update")), "progress")
        await editor.cancel()
        assert (await prompt.outcome()).stop_reason == "cancelled"
        [asked] = [message for message in editor.received("mcp/message") if message["params"]["method"] == "tools/call"]
        await editor.wait_for(
            lambda: (
                {"requestId": asked["id"]} in [message["params"] for message in editor.received("$/cancel_request")]
            ),
            "the cancellation",
        )
        await server.tell(asked["params"]["requestId"], "notifications/progress", {"progress": 2})  # too late
        assert (await editor.prompt("go on")).text == "next"


async def test_what_the_editor_has_later_is_found_by_subscription(spawn: Spawn) -> None:
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        server = ServerInEditor(editor)
        await editor.new_session(mcpServers=[server.declared])
        await ready(editor, "inside")
        with anyio.fail_after(TIMEOUT):
            await server.subscribed.wait()
        server.prompts.append({"name": "late"})
        await server.changed()
        await editor.wait_for(lambda: "inside:late" in commands(editor), "the late prompt")


async def test_a_server_that_cannot_describe_itself_is_taken_to_have_tools(spawn: Spawn) -> None:
    async with spawn(script=ECHO, config=AUTO) as editor:
        await editor.initialize()
        server = ServerInEditor(editor)
        server.answers["server/discover"] = {"error": {"code": -32601, "message": "what?"}}
        await editor.new_session(mcpServers=[server.declared])
        await editor.wait_for(lambda: "tools/list" in server.methods(), "the list of its tools")
        outcome = await editor.prompt("go")
    assert shown_text(outcome.calls[0]) == "echo: hi"


async def test_an_editor_that_does_not_serve_what_it_named_is_told(spawn: Spawn) -> None:
    async with spawn(script=TALK, capabilities=NOTICES) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[{"type": "acp", "name": "inside", "serverId": "nothing"}])
        told = await notice(editor)
        assert (await editor.prompt("hi")).text == "hello"
    assert "the client could not deliver it" in told["description"]


async def test_two_sessions_may_use_one_server_of_the_editor(spawn: Spawn) -> None:
    async with spawn(script=ECHO, config=AUTO) as editor:
        await editor.initialize()
        server = ServerInEditor(editor)
        first = (await editor.new_session(mcpServers=[server.declared]))["sessionId"]
        await ready(editor, "inside", session=first)
        await editor.new_session(mcpServers=[server.declared])
        await ready(editor, "inside")
        for session in (first, editor.session):
            assert shown_text((await editor.prompt("go", session=session)).calls[0]) == "echo: hi"
        ids = [envelope["requestId"] for envelope in server.heard]
    assert len(set(ids)) == len(ids)


async def test_messages_that_belong_to_nothing_are_passed_over(spawn: Spawn) -> None:
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        await editor.new_session()
        for params in ({}, {"serverId": 1}, {"serverId": "a", "requestId": "b", "method": "c", "params": 7}):
            await editor.notify("mcp/message", params)
        assert (await editor.prompt("hi")).text == "hello"


ALL = [
    McpServerStdio(name="files", command="/bin/files", args=("-x",), env=()),
    McpServerHttp(name="web", url="http://x/", headers=()),
    McpServerSse(name="old", url="http://x/", headers=()),
    McpServerAcp(name="inside", server_id="1"),
]


def _connection() -> Connection:
    ours, _ = memory_pair()
    return Connection(ours, EngineHost(open_engine), clock=SYSTEM_CLOCK)


async def test_the_kinds_that_are_offered_are_taken() -> None:
    specs = server_specs(ALL, connection=_connection())
    assert [spec.name for spec in specs] == ["files", "web", "old", "inside"]


@pytest.mark.rule("session.mcp-unadvertised")
@pytest.mark.parametrize("server", ALL[1:], ids=lambda server: server.name)
async def test_a_kind_that_was_not_offered_is_refused_by_its_name(server: McpServerHttp) -> None:
    with pytest.raises(InvalidRequest, match=f'the MCP server "{server.name}" is of the kind') as refused:
        server_specs([server], connection=_connection(), kinds={"stdio"})
    assert refused.value.code == -32602


async def test_links_to_one_server_over_one_connection_are_the_same_server() -> None:
    connection = _connection()
    inside: list[McpServerAcp] = [McpServerAcp(name="inside", server_id="1")]
    assert server_specs(inside, connection=connection) == server_specs(inside, connection=connection)
    assert server_specs(inside, connection=connection) != server_specs(inside, connection=_connection())
