"""Killed in the middle of a command or of an undo: another program finishes it, and nothing is lost."""

import os
from pathlib import Path

import pytest

from tests.support.editors.editor import FULL, Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, call, say, turn

pytestmark = pytest.mark.forked

CONFIG = 'mode = "auto"\n[permissions]\nallow = ["shell(*)"]'
NAMES = [f"f{number}.txt" for number in range(8)]
DEPTH = int(os.environ.get("CLAW_ACP_TEST_DEPTH", "1"))
CHANGE = f"for f in {' '.join(NAMES)}; do echo changed > $f; done; rm f0.txt; touch made; mkdir d; mv f1.txt d"


def _texts(project: Path) -> dict[str, str]:
    return {str(path.relative_to(project)): path.read_text() for path in project.rglob("*") if path.is_file()}


def _fill(project: Path) -> dict[str, str]:
    for name in NAMES:
        (project / name).write_text(f"{name} as it was\n")
    return _texts(project)


async def _reopened(editor: Editor, session: str) -> None:
    await editor.initialize()
    await editor.load(session)


@pytest.mark.parametrize("writes", [1, 4])
async def test_an_undo_in_which_the_program_is_killed_is_finished_by_the_next(
    spawn: Spawn, project: Path, writes: int
) -> None:
    before = _fill(project)
    script = Script(turn(call("shell", command=CHANGE)), turn(say("done")), turn(say("next")))
    async with spawn(script=script, config=CONFIG, capabilities={"fs": FULL["fs"]}) as editor:
        await editor.initialize()
        await editor.new_session()
        session = editor.session
        editor.will_answer("allow_once")
        await editor.prompt("change all")
        changed = _texts(project)
        assert changed != before
        await editor.start_prompt("/undo")
        await editor.wait_for(lambda: len(editor.files.writes) >= writes, "some files to be restored")
        await editor.kill()
    async with spawn(script=script, config=CONFIG) as other:
        await _reopened(other, session)
        listed = (await other.prompt("/undo list")).text
        assert _texts(project) == before
        assert "no turn" in listed
        await other.prompt("/redo")
        assert _texts(project) == changed


async def test_a_command_in_which_the_program_is_killed_can_be_taken_back(spawn: Spawn, project: Path) -> None:
    before = _fill(project)
    script = Script(turn(call("shell", command=f"{CHANGE}; echo so far; sleep 60")), turn(say("done")))
    async with spawn(script=script, config=CONFIG) as editor:
        await editor.initialize()
        await editor.new_session()
        session = editor.session
        editor.will_answer("allow_once")
        await editor.start_prompt("change all")
        await editor.wait_for((project / "d/f1.txt").exists, "the command to get so far")
        await editor.kill()
    async with spawn(script=script, config=CONFIG) as other:
        await _reopened(other, session)
        assert "somebody else changed" in (await other.prompt("/undo")).text
        await other.prompt("/undo overwrite")
        assert _texts(project) == before


@pytest.mark.parametrize("kept", [1, *range(40, 40 * DEPTH, 40)])
async def test_a_program_that_is_killed_while_it_makes_copies_has_changed_nothing(
    spawn: Spawn, project: Path, home: Path, kept: int
) -> None:
    for number in range(900):
        (project / f"{number}.txt").write_text(f"{number}\n")
    before = _texts(project)
    script = Script(turn(call("shell", command=f"sleep 0; {CHANGE}; rm *")), turn(say("done")), loop=True)
    copies = home / "claw/blobs"
    async with spawn(script=script, config=CONFIG) as editor:
        await editor.initialize()
        await editor.new_session()
        session = editor.session
        editor.will_answer("allow_once")
        await editor.start_prompt("change all")
        await editor.wait_for(lambda: len(list(copies.glob("*/*"))) >= kept, "copies to be made")
        await editor.kill()
    async with spawn(script=script, config=CONFIG) as other:
        await _reopened(other, session)
        await other.prompt("/undo overwrite")
        assert _texts(project) == before
