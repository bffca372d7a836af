"""The end comes in time whatever still runs, hangs or is not read."""

import signal
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from pathlib import Path

import anyio
import pytest

from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, call, hold, say, turn

pytestmark = pytest.mark.forked

AUTO = 'mode = "auto"'


def _stubborn(name: str) -> str:
    return f"trap '' TERM HUP INT; touch {name}; sleep 300 & sleep 300"


SHELLS = (
    call("shell", command=_stubborn("one"), background=True),
    call("shell", command=_stubborn("two"), background=True),
    call("shell", command=_stubborn("three")),
)


async def _input_ends(editor: Editor) -> None:
    editor.process.close_stdin()


async def _told_to_stop(editor: Editor) -> None:
    editor.process.signal(signal.SIGTERM)


Ending = Callable[[Editor], Awaitable[None]]
both_ways = pytest.mark.parametrize("end", [_input_ends, _told_to_stop])


async def _gone(editor: Editor) -> None:
    assert await editor.process.ended() == 0
    await editor.process.childless()
    editor.over = True


@both_ways
async def test_commands_that_will_not_end_are_gone_in_time(opened: Spawn, project: Path, end: Ending) -> None:
    async with opened(script=Script(turn(*SHELLS)), config=AUTO) as editor:
        await editor.start_prompt("go")
        for name in ("one", "two", "three"):
            await eventually((project / name).exists, what=f"the command {name}")
        await end(editor)
        await _gone(editor)


@both_ways
async def test_a_client_that_reads_nothing_holds_up_no_end(opened: Spawn, project: Path, end: Ending) -> None:
    flood = turn(hold("gate"), say(*["x" * 10_000] * 500), when="flood")
    script = Script(flood, turn(*SHELLS, when="work"))
    async with opened(script=script, config=AUTO) as editor:
        other, _ = editor.session, await editor.new_session()
        await editor.start_prompt("flood", session=other)
        await editor.start_prompt("work")
        await eventually((project / "three").exists, what="a running command")
        editor.process.pause_reading()
        script.let_go("gate")
        await editor.process.idle()
        await end(editor)
        await _gone(editor)


@both_ways
async def test_a_store_that_another_process_holds_holds_up_no_end(opened: Spawn, home: Path, end: Ending) -> None:
    script = Script(turn(say("start "), hold("gate"), call("read_file", path="a.txt")), turn(say("next")))
    async with opened(script=script) as editor:
        await editor.start_prompt("go")
        await editor.wait_for_text("start ")
        with closing(sqlite3.connect(home / "claw" / "claw.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            script.let_go("gate")
            await end(editor)
            await _gone(editor)
            other.execute("ROLLBACK")


async def test_told_to_stop_in_a_flood_of_requests_it_stops(opened: Spawn) -> None:
    async def flood() -> None:
        with suppress(BrokenPipeError):
            while True:
                await editor.process.write(b'{"jsonrpc":"2.0","method":"_x/noise"}\n' * 1000)

    async with opened() as editor, anyio.create_task_group() as tasks:
        tasks.start_soon(flood)
        await editor.request("session/list", {})
        await _told_to_stop(editor)
        await _gone(editor)
