"""`/try` as an editor meets it: attempts in worktrees, a table, one taken, and nothing left of the others."""

from pathlib import Path

from tests.attempts.conftest import Git
from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, call, say, turn

AUTO = 'mode = "auto"'


def attempts_of(home: Path) -> list[Path]:
    folder = home / "claw" / "cache" / "attempts"
    return list(folder.iterdir()) if folder.is_dir() else []


def two_ways() -> Script:
    return Script(
        turn(call("edit_file", path="a.txt", edits=[{"old_text": "one\ntwo", "new_text": "first way"}]), when="attempt 1 of"),
        turn(say("I went the first way."), when="attempt 1 of"),
        turn(call("shell", command="printf 'x\\ny\\n' > b.txt; rm new.txt"), when="attempt 2 of"),
        turn(say("I went the second way."), when="attempt 2 of"),
    )


async def test_attempts_are_compared_and_one_is_taken_and_undone(
    opened: Spawn, project: Path, home: Path, git: Git
) -> None:
    async with opened(script=two_ways(), config=AUTO) as editor:
        before = git("for-each-ref"), git("worktree", "list"), git("status", "--porcelain")
        answer = await editor.prompt("/try 2 change something")
        assert "| 1 | `scripted/play` |  | 1 | +1 -2 |  | I went the first way. |" in answer.text
        assert "| 2 | `scripted/play` |  | 2 | +2 -1 |  | I went the second way. |" in answer.text
        assert (git("for-each-ref"), git("worktree", "list"), git("status", "--porcelain")) == before
        assert not (project / ".git" / "worktrees").exists()
        assert attempts_of(home) == []
        taken = await editor.prompt("/try take 2")
        assert "I went the second way." in taken.text
        assert (project / "b.txt").read_text() == "x\ny\n"
        assert not (project / "new.txt").exists()
        assert (project / "a.txt").read_text() == "one\ntwo\n"
        assert "Undone: turn 1" in (await editor.prompt("/undo")).text
        assert (project / "new.txt").read_text() == "new\n"
        assert not (project / "b.txt").exists()
        await editor.prompt("/try take 1")
        assert (project / "a.txt").read_text() == "first way\n"
        assert "there are no attempts" in (await editor.prompt("/try drop")).text
