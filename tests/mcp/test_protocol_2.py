"""MCP servers in sessions of protocol 2."""

from pathlib import Path

import pytest

from tests.mcp.in_editor import ServerInEditor
from tests.mcp.support import AUTO, heard, raw
from tests.support.editors.editor_v2 import EditorV2
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, call, say, turn

ECHO = Script(turn(call("raw__echo", text="hi")), turn(say("done")), loop=True)


async def _listed(editor: EditorV2, count: int) -> None:
    await eventually(
        lambda: [entry.get("method") for entry in heard(editor)].count("prompts/list") >= count, what="a server"
    )


async def test_a_tool_is_called(project: Path, home: Path) -> None:
    async with EditorV2.spawned(project=project, home=home, script=ECHO, config=AUTO) as editor:
        offered = (await editor.initialize())["capabilities"]["session"]["mcp"]
        assert offered == {"stdio": {}, "http": {}, "acp": {}}
        await editor.new_session(mcpServers=[{"type": "stdio", **raw(editor)}])
        await editor.wait_for(
            lambda: "raw:ready" in str(editor.updates("available_commands_update")), "the server's commands"
        )
        turn_ = await editor.run("go")
    assert [tool["status"] for tool in turn_.calls] == ["completed"]


@pytest.mark.rule("v2.mcp-not-restored")
async def test_servers_of_earlier_requests_are_not_restored(project: Path, home: Path) -> None:
    async with EditorV2.spawned(project=project, home=home, script=ECHO, config=AUTO) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[{"type": "stdio", **raw(editor)}])
        await _listed(editor, 1)
        await editor.resume()
        await eventually(lambda: not editor.process.children(), what="an end of the server")


async def test_a_server_inside_the_editor_is_used(project: Path, home: Path) -> None:
    script = Script(turn(call("inside__echo", text="hi")), turn(say("done")))
    async with EditorV2.spawned(project=project, home=home, script=script, config=AUTO) as editor:
        await editor.initialize()
        server = ServerInEditor(editor)
        await editor.new_session(mcpServers=[server.declared])
        await editor.wait_for(
            lambda: "inside:ready" in str(editor.updates("available_commands_update")), "the server's commands"
        )
        turn_ = await editor.run("go")
        assert "tools/call" in server.methods()
    assert [tool["status"] for tool in turn_.calls] == ["completed"]
