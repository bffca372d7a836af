"""Killed while attempts run or one is taken: the next program clears up, and leaves what belongs to living ones."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.attempts.conftest import Git
from tests.attempts.test_try import AUTO, acts, attempts_of
from tests.support.editors.editor import FULL
from tests.support.editors.editor_fixtures import Spawn
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, call, hold, say, turn

pytestmark = pytest.mark.forked

WORKING = Script(turn(call("shell", command="git branch left-$$; sleep 3600")), loop=True)
POINTS: dict[str, Callable[[Path], bool]] = {
    "the project is copied": lambda place: any(path.is_dir() for path in attempts_of(place / "home")),
    "git knows a worktree": lambda place: (place / "project" / ".git" / "worktrees").exists(),
    "programs run": lambda place: any((place / "project" / ".git" / "refs" / "heads").glob("left-*")),
}


def state(git: Git) -> tuple[str, ...]:
    return git("for-each-ref"), git("worktree", "list"), git("status", "--porcelain")


@pytest.mark.parametrize("point", POINTS)
async def test_nothing_stays_of_attempts_whose_program_was_killed(
    spawn: Spawn, project: Path, home: Path, git: Git, point: str
) -> None:
    before = state(git)
    async with spawn(script=WORKING, config=AUTO) as editor:
        await editor.initialize()
        await editor.new_session()
        await editor.prompt("/help")
        await editor.start_prompt("/try 3 work")
        await eventually(lambda: POINTS[point](project.parent), what=point)
        await editor.kill()
    async with spawn(script=WORKING, config=AUTO) as other:
        await other.initialize()
        await other.load(editor.session)
        await eventually(lambda: attempts_of(home) == [], what="a clean folder")
        assert state(git) == before
        assert not (project / ".git" / "worktrees").exists()
        listed = await other.request("session/list", {"_meta": {}})
        assert [session["sessionId"] for session in listed["sessions"]] == [editor.session]
        assert "`/try N prompt`" in (await other.prompt("/try")).text


async def test_attempts_of_a_living_program_are_left_alone(spawn: Spawn, project: Path, home: Path, git: Git) -> None:
    script = Script(turn(hold("gate"), say("done")), loop=True)
    async with spawn(script=script, config=AUTO) as editor, spawn(script=script, config=AUTO) as other:
        await editor.initialize()
        await editor.new_session()
        running = await editor.start_prompt("/try 2 work")
        await eventually(lambda: git("worktree", "list").count("\n") == 3, what="worktrees")
        await other.initialize()
        await other.new_session()
        await other.prompt("/try drop")
        assert git("worktree", "list").count("\n") == 3
        script.let_go("gate")
        assert "done" in (await running.outcome()).text


async def test_the_taking_of_an_attempt_is_finished_by_the_next_program(spawn: Spawn, project: Path, git: Git) -> None:
    names = [f"f{number}.txt" for number in range(6)]
    for name in names:
        (project / name).write_text("old\n")
    change = f"for f in {' '.join(names)}; do echo new > $f; done"
    script = Script(*acts(1, turn(call("shell", command=change)), turn(say("done"))), turn(say("nothing"), when="2 of"))
    async with spawn(script=script, config=AUTO, capabilities={"fs": FULL["fs"]}) as editor:
        await editor.initialize()
        await editor.new_session()
        editor.will_answer("allow_once")
        await editor.prompt("/try 2 change all")
        await editor.start_prompt("/try take 1")
        await editor.wait_for(lambda: len(editor.files.writes) >= 2, "some files to be written")
        await editor.kill()
    async with spawn(script=script, config=AUTO) as other:
        await other.initialize()
        await other.load(editor.session)
        await other.prompt("/help")
        assert {(project / name).read_text() for name in names} == {"new\n"}
        await other.prompt("/undo")
        assert {(project / name).read_text() for name in names} == {"old\n"}
