"""Killed while a summary is written: nothing of it is left, and the conversation goes on as it was."""

from typing import Any

import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, expect, hold, say, turn

pytestmark = pytest.mark.forked

SUMMARY = "\n".join(
    f"## {name}\n- {name} of port 8472" for name in ("Goal", "Facts", "Decisions", "Dead ends", "Done", "Open points")
)
SCRIPT = Script(
    turn(say(SUMMARY[:40]), hold("half"), say(SUMMARY[40:]), when="replaced by a summary"),
    turn(say("hello"), when="hello"),
    turn(expect("go on"), say("I do"), when="go on"),
    contextWindow=20_000,
)
SHOWS: dict[str, Any] = {"session": {"compaction": {}}}


async def test_a_summary_that_was_not_finished_never_was(spawn: Spawn) -> None:
    options: dict[str, Any] = {"script": SCRIPT, "capabilities": SHOWS}
    async with spawn(**options) as editor:
        await editor.initialize()
        session = (await editor.new_session())["sessionId"]
        await editor.prompt("hello " * 3_000)
        await editor.start_prompt("/compact")
        await editor.wait_for(lambda: editor.updates("compaction_summary_chunk"), "a piece of the summary")
        await editor.kill()
    async with spawn(**options) as editor:
        await editor.initialize()
        _, replayed = await editor.load(session)
        assert [update for update in replayed if update["sessionUpdate"].startswith("compaction")] == []
        assert "4 messages" not in (await editor.prompt("/context")).text
        SCRIPT.let_go("half")
        assert (await editor.prompt("/compact")).text.startswith("Summarized: ")
        assert (await editor.prompt("go on")).text == "I do"


async def test_a_finished_summary_is_there_for_every_process(spawn: Spawn) -> None:
    options: dict[str, Any] = {"script": SCRIPT, "capabilities": SHOWS}
    async with spawn(**options) as editor:
        await editor.initialize()
        session = (await editor.new_session())["sessionId"]
        await editor.prompt("hello " * 3_000)
        SCRIPT.let_go("half")
        await editor.prompt("/compact")
        await editor.kill()
    async with spawn(**options) as editor:
        await editor.initialize()
        _, replayed = await editor.load(session)
        (again,) = [update for update in replayed if update["sessionUpdate"] == "compaction_update"]
        assert "port 8472" in again["summary"][0]["text"]
        assert "| Summary |" in (await editor.prompt("/context")).text
