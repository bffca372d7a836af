"""Killed while a summary is written: nothing of it is left, and the conversation goes on as it was."""

from typing import Any

import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, call, expect, hold, say, turn

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


async def test_what_a_summary_replaced_is_kept_although_the_process_ended_before_a_model_had_its_words(
    spawn: Spawn,
) -> None:
    script = Script(
        turn(hold("kept"), call("save_memory", history_entry="It was about greetings."), when="<record>"),
        turn(say(SUMMARY), when="replaced by a summary"),
        turn(say("hello"), when="hello"),
        loop=True,
        contextWindow=20_000,
    )
    options: dict[str, Any] = {"script": script, "capabilities": SHOWS}
    async with spawn(**options) as editor:
        await editor.initialize()
        session = (await editor.new_session())["sessionId"]
        await editor.prompt("hello " * 3_000)
        await editor.start_prompt("/compact")
        await editor.wait_for(
            lambda: any(each["status"] == "completed" for each in editor.updates("compaction_update")), "the summary"
        )
        await editor.kill()
    async with spawn(**options) as editor:
        await editor.initialize()
        await editor.load(session)
        assert "RAW\\] User: hello hello" in (await editor.prompt("/memory")).text
        script.let_go("kept")
        await editor.prompt("hello " * 3_000)
        await editor.prompt("/compact")
        shown = (await editor.prompt("/memory")).text
        assert "It was about greetings." in shown
        assert "RAW" not in shown
