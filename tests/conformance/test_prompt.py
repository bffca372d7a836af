"""A turn as an editor sees it."""

from pathlib import Path

import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, call, expect, say, think, turn


@pytest.mark.rule("session.baseline", "kit1.prompt")
async def test_a_turn_streams_thoughts_calls_a_tool_and_ends(opened: Spawn, project: Path) -> None:
    script = Script(
        turn(think("I ", "look"), say("Let me "), call("read_file", path="a.txt")),
        turn(expect("hello"), say("it says ", "hello")),
    )
    async with opened(script=script) as editor:
        outcome = await editor.prompt("what does a.txt say?")
    assert outcome.stop_reason == "end_turn"
    assert (outcome.thoughts, outcome.text) == ("I look", "Let me it says hello")
    [tool] = outcome.calls
    assert (tool["name"], tool["kind"], tool["status"]) == ("read_file", "read", "completed")
    assert tool["locations"] == [{"path": str(project / "a.txt")}]
