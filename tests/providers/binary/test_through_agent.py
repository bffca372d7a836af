"""Plugins behind the real program: configured in a file, used by an editor, killed at the wrong moment."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.providers.binary.support import ONESHOT, SESSION, gone, runs
from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn, home, opened, project
from tests.support.editors.exchange import RpcFailure
from tests.support.program.agent_process import eventually

__all__ = ["home", "opened", "project"]


def config(*args: str, protocol: str = "auto") -> str:
    """A configuration whose only provider is a plugin."""
    return (
        'model = "mine/plugin-default"\n[providers.mine]\nkind = "binary"\nretries = 0\n'
        f'command = "{sys.executable}"\nargs = {json.dumps(["-S", "-E", *args])}\nprotocol = "{protocol}"\n'
    )


async def plugin_of(editor: Editor) -> int:
    return int(json.loads((await editor.prompt("environment HOME")).text)[2])


async def test_a_plugin_that_stays_serves_a_turn_with_a_tool_call(opened: Spawn) -> None:
    async with opened(config=config(str(SESSION))) as editor:
        outcome = await editor.prompt("read a.txt")
        assert outcome.stop_reason == "end_turn"
        assert outcome.text.startswith("Reading. It says ")
        assert "hello" in outcome.text
        assert [call["status"] for call in outcome.calls] == ["completed"]
        thinking = await editor.prompt("think Yes.")
        assert (thinking.thoughts, thinking.text) == ("Let me see.", "Yes.")


async def test_a_plugin_for_one_request_serves_a_turn(opened: Spawn) -> None:
    async with opened(config=config(str(ONESHOT), "chatty", protocol="oneshot")) as editor:
        assert (await editor.prompt("hi")).text == "last"


async def test_a_cancelled_turn_leaves_the_plugin_running(opened: Spawn) -> None:
    async with opened(config=config(str(SESSION))) as editor:
        pid = await plugin_of(editor)
        call = await editor.start_prompt("hold")
        await editor.wait_for_text("wait")
        await editor.cancel()
        assert (await call.outcome()).stop_reason == "cancelled"
        assert await plugin_of(editor) == pid


async def test_a_plugin_killed_in_mid_turn_is_told_and_the_session_goes_on(opened: Spawn) -> None:
    async with opened(config=config(str(SESSION))) as editor:
        pid = await plugin_of(editor)
        call = await editor.start_prompt("hold")
        await editor.wait_for_text("wait")
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(RpcFailure, match="was ended by signal SIGKILL"):
            await call.outcome()
        assert await plugin_of(editor) != pid


@pytest.mark.forked
async def test_a_killed_agent_takes_its_plugin_with_it(opened: Spawn) -> None:
    async with opened(config=config(str(SESSION))) as editor:
        pid = await plugin_of(editor)
        await editor.start_prompt("sleep")
        assert runs(pid)
        await editor.kill()
        await gone(pid)
        await editor.process.childless()


async def test_a_leaving_editor_takes_the_plugin_with_it(opened: Spawn) -> None:
    async with opened(config=config(str(SESSION), "stays")) as editor:
        pid = await plugin_of(editor)
        await editor.leave()
        await gone(pid)


async def test_only_the_plugin_that_answers_is_started_for_its_list(opened: Spawn, tmp_path: Path, home: Path) -> None:
    other = (
        '[providers.other]\nkind = "binary"\ncommand = "/bin/sh"\n'
        f'args = ["-c", "echo started > {tmp_path}/started; echo noise; sleep 1000"]\n'
    )
    async with opened(config=config(str(SESSION)) + other, env={"CLAW_ACP_MODEL_LISTS": "on"}) as editor:
        assert (await editor.prompt("whole hello")).text == "hello"
        await eventually(lambda: [*home.rglob("cache/models/mine.json")] != [], what="the list of the one that answers")
        assert not (tmp_path / "started").exists()
