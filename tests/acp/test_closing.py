"""`session/close` while something runs."""

import os
from pathlib import Path

import pytest

from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, tool_calls
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, call, say, turn

AUTO = 'mode = "auto"'


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _running(editor: Editor) -> list[Json]:
    return [tool for tool in tool_calls(editor.updates()).values() if tool.get("status") == "in_progress"]


@pytest.mark.parametrize("method", ["session/close", "session/delete"])
async def test_closing_cannot_be_cancelled_halfway(opened: Spawn, project: Path, method: str) -> None:
    server = "echo $$ > pid.new; mv pid.new pid; exec sleep 60"
    stubborn = "trap '' TERM; sleep 60"  # makes closing take its time
    script = Script(
        turn(call("shell", command=server, background=True), when="start"),
        turn(call("shell", command=stubborn), when="start"),
    )
    async with opened(script=script, config=AUTO) as editor:
        await editor.start_prompt("start")
        await editor.wait_for(lambda: len(editor.updates("tool_call")) == 2 and _running(editor), "the second command")
        await eventually((project / "pid").exists, what="a program in the background")
        pid = int((project / "pid").read_text())
        close = await editor.start(method, {"sessionId": editor.session})
        await editor.notify("$/cancel_request", {"requestId": close.id})
        assert await close.result() == {}
        assert not _alive(pid)
        assert (await editor.failing("session/close", {"sessionId": editor.session})).code == -32002


async def test_a_call_cut_off_by_closing_gets_its_end_before_the_answer_and_nothing_after(opened: Spawn) -> None:
    script = Script(turn(call("shell", command="sleep 60")), turn(say("never")))
    async with opened(script=script, config=AUTO) as editor:
        prompt = await editor.start_prompt("go")
        await editor.wait_for_call("in_progress")
        close = await editor.start("session/close", {"sessionId": editor.session})
        assert await close.result() == {}
        assert [tool["status"] for tool in tool_calls(close.updates).values()] == ["failed"]
        assert (await prompt.outcome()).stop_reason == "cancelled"
        await editor.request("session/list", {})
        assert close.end is not None
        assert [frame.update for frame in editor.transcript[close.end :] if frame.update] == []
