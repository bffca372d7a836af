"""A session whose store is changed, held or refused by another process."""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import anyio
import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json
from tests.support.script_files import Script, call, hold, say, turn

PROMPT = 8.0  # seconds a cancelled turn may take when nothing can be written: a few bounded waits, no more


@contextmanager
def _database(home: Path) -> "Generator[sqlite3.Connection]":
    with closing(sqlite3.connect(home / "claw" / "claw.db", isolation_level=None)) as connection:
        yield connection


@contextmanager
def _held(home: Path) -> Generator[None]:
    """Keep every other process from writing."""
    with _database(home) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield
        connection.execute("ROLLBACK")


async def test_a_session_follows_what_another_process_did_to_it(spawn: Spawn, opened: Spawn, project: Path) -> None:
    script = Script(
        turn(call("write_file", path="new.txt", content="x"), when="mine"),
        turn(say("planned"), when="mine"),
        turn(say("hello"), when="yours"),
    )
    async with opened(script=script, config='mode = "edit"') as first, spawn(script=script) as second:
        await second.initialize()
        await second.load(first.session)
        await second.request("session/set_mode", {"sessionId": first.session, "modeId": "plan"})
        await second.prompt("yours is the title")
        outcome = await first.prompt("mine is not")
        assert (outcome.calls[0]["status"], outcome.text) == ("failed", "planned")
        assert _told(outcome.updates, "current_mode_update") == [{"currentModeId": "plan"}]
        assert _told(outcome.updates, "session_info_update") == [{"title": "yours is the title"}]
        [listed] = (await first.request("session/list", {}))["sessions"]
        assert listed["title"] == "yours is the title"
    assert not (project / "new.txt").exists()


def _told(updates: list[Json], kind: str) -> list[Json]:
    found = [update for update in updates if update["sessionUpdate"] == kind]
    return [{key: value for key, value in update.items() if key != "sessionUpdate"} for update in found]


async def test_a_mode_that_could_not_be_kept_is_not_in_force(opened: Spawn, home: Path, project: Path) -> None:
    write = call("write_file", path="new.txt", content="x")
    script = Script(turn(say("a"), hold("gate"), write), turn(say("a pity")))
    async with opened(script=script) as editor:
        prompt = await editor.start_prompt("go")
        await editor.wait_for_text("a")
        with _database(home) as database:
            database.execute("CREATE TRIGGER no BEFORE UPDATE ON session BEGIN SELECT RAISE(ABORT, 'no'); END")
            failure = await editor.failing("session/set_mode", {"sessionId": editor.session, "modeId": "auto"})
            database.execute("DROP TRIGGER no")
        assert (failure.code < -31000, "store" in failure.message) == (True, True)
        editor.will_answer("reject_once")
        editor.script.let_go("gate")
        assert (await prompt.outcome()).calls[0]["status"] == "failed"
        assert len(editor.received("session/request_permission")) == 1
        assert editor.updates("current_mode_update") == []
        result, _ = await editor.load(editor.session)
        assert result["modes"]["currentModeId"] == "ask"
    assert not (project / "new.txt").exists()


async def test_a_turn_is_cancelled_in_time_while_another_process_holds_the_store(opened: Spawn, home: Path) -> None:
    script = Script(turn(say("a"), hold("gate"), call("read_file", path="a.txt")), turn(say("next")), loop=True)
    async with opened(script=script) as editor:
        prompt = await editor.start_prompt("go")
        await editor.wait_for_text("a")
        with _held(home):
            editor.script.let_go("gate")
            await editor.wait_for_call("pending")
            await editor.cancel()
            with anyio.fail_after(PROMPT):
                assert (await prompt.outcome()).stop_reason == "cancelled"
        assert (await editor.prompt("on")).stop_reason == "end_turn"


@pytest.mark.forked
async def test_the_process_leaves_in_time_while_another_one_holds_the_store(opened: Spawn, home: Path) -> None:
    script = Script(turn(say("a"), hold("gate"), call("read_file", path="a.txt")))
    async with opened(script=script) as editor:
        await editor.start_prompt("go")
        await editor.wait_for_text("a")
        with _held(home):
            editor.script.let_go("gate")
            await editor.wait_for_call("pending")
            await editor.leave()
