"""`/try` as an editor meets it: attempts in worktrees, a table, one taken, and nothing left of the others."""

import os
import shutil
from pathlib import Path

import pytest

from tests.attempts.conftest import Git, git_in
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.editor_v2 import EditorV2
from tests.support.editors.exchange import tool_calls
from tests.support.editors.shared_house import SharedHouse
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, Turn, call, expect, fail, hold, say, turn
from tests.support.trust import trust_all

AUTO = 'mode = "auto"'
EDIT = call("edit_file", path="a.txt", edits=[{"old_text": "one\ntwo", "new_text": "first way"}])


def attempts_of(home: Path) -> list[Path]:
    folder = home / "claw" / "cache" / "attempts"
    return list(folder.iterdir()) if folder.is_dir() else []


def acts(number: int, *turns: Turn) -> list[Turn]:
    """The turns of one attempt."""
    return [{**each, "when": f"attempt {number} of"} for each in turns]


def two_ways() -> Script:
    return Script(
        *acts(1, turn(EDIT), turn(say("I went the first way."))),
        *acts(
            2,
            turn(call("shell", command="printf 'x\\ny\\n' > b.txt; rm new.txt")),
            turn(say("I went the second way.")),
        ),
        turn(say("I know."), when="and now"),
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


async def test_what_is_not_committed_is_there_and_git_says_the_same_in_the_copy(
    opened: Spawn, project: Path, git: Git
) -> None:
    git("mv", "a.txt", "moved.txt")
    status = git("status", "--porcelain")
    assert status == "RM a.txt -> moved.txt\n?? new.txt\n"
    look = "git status --porcelain; git log --format=%s; cat moved.txt new.txt; ls"
    seen = f"{status}first\none\ntwo\nnew\nmoved.txt\nnew.txt\n"
    script = Script(turn(call("shell", command=look)), turn(expect(seen), say("I looked.")), loop=True)
    async with opened(script=script, config=AUTO) as editor:
        answer = await editor.prompt("/try 2 look")
        assert answer.text.count("| 0 |  |  | I looked. |") == 2


async def test_paths_of_the_project_lead_to_the_copy(opened: Spawn, project: Path, git: Git) -> None:
    script = Script(
        turn(call("write_file", path=str(project / "made.txt"), content="made\n")), turn(say("made")), loop=True
    )
    async with opened(script=script, config=AUTO) as editor:
        answer = await editor.prompt("/try 2 make it")
        assert answer.text.count("| 1 | +1 -0 |") == 2
        assert not (project / "made.txt").exists()


async def test_questions_are_asked_in_the_session_and_say_which_attempt_asks(
    opened: Spawn, project: Path, git: Git
) -> None:
    async with opened(script=two_ways()) as editor:
        editor.will_answer("allow_once")
        await editor.prompt("/try 2 change something")
        asked = [frame["params"] for frame in editor.received("session/request_permission")]
        assert {question["sessionId"] for question in asked} == {editor.session}
        titles = sorted(question["toolCall"]["title"] for question in asked)
        assert titles[0].startswith("Attempt 1: ")
        assert titles[1].startswith("Attempt 2: ")


async def test_in_plan_mode_nothing_is_changed_or_taken(opened: Spawn, project: Path, git: Git) -> None:
    async with opened(script=two_ways(), config=AUTO) as editor:
        await editor.prompt("/try 2 change something")
        await editor.prompt("/mode plan")
        assert "Plan mode only reads" in (await editor.prompt("/try take 2")).text
        assert not (project / "b.txt").exists()
        assert (await editor.prompt("/try 2 again")).text.count("| 0 |") == 2


async def test_files_that_were_changed_meanwhile_are_not_overwritten_silently(
    opened: Spawn, project: Path, git: Git
) -> None:
    async with opened(script=two_ways(), config=AUTO) as editor:
        await editor.prompt("/try 2 change something")
        (project / "a.txt").write_text("mine\n")
        assert "Nothing was taken yet" in (await editor.prompt("/try take 1")).text
        assert (project / "a.txt").read_text() == "mine\n"
        await editor.prompt("/try take 1 overwrite")
        assert (project / "a.txt").read_text() == "first way\n"
        await editor.prompt("/undo")
        assert (project / "a.txt").read_text() == "mine\n"


async def test_the_model_knows_what_was_taken(project: Path, home: Path, git: Git) -> None:
    async with SharedHouse.opened(project=project, home=home, script=two_ways(), config=AUTO) as house:
        guest = await house.visit()
        await guest.new_session()
        await guest.prompt("/try 2 change something")
        await guest.prompt("/try take 2")
        assert (await guest.prompt("and now?")).text == "I know."
        asked, answered, then, _ = (await house.session(guest.session)).history.messages()
        assert asked.text.endswith("change something")
        assert answered.text.startswith("I went the second way.")
        assert "took the changes of that attempt over into the project" in str(then.parts)


async def test_the_changes_of_an_attempt_are_shown_as_diffs(opened: Spawn, project: Path, git: Git) -> None:
    async with opened(script=two_ways(), config=AUTO) as editor:
        await editor.prompt("/try 2 change something")
        shown = await editor.prompt("/try diff 2")
        (diffs,) = [made["content"] for made in shown.calls if made["title"] == "Changes of attempt 2"]
        assert [(diff["type"], diff["path"], diff.get("oldText")) for diff in diffs] == [
            ("diff", str(project / "b.txt"), None),
            ("diff", str(project / "new.txt"), "new\n"),
        ]
        assert "there is no attempt 3" in (await editor.prompt("/try diff 3")).text
        _, past = await editor.load(editor.session)
        assert [made["content"] for made in tool_calls(past).values()] == [diffs]
        await editor.prompt("/export")


async def test_attempts_can_have_different_models_and_one_may_fail(opened: Spawn, git: Git) -> None:
    script = Script(*acts(1, turn(EDIT), turn(say("done"))), *acts(2, turn(fail("bad_request"))))
    config = f'{AUTO}\ntry_models = ["scripted/one", "scripted/two"]'
    async with opened(script=script, config=config) as editor:
        rows = (await editor.prompt("/try 2 change something")).text.splitlines()
        assert rows[2].startswith("| 1 | `scripted/one` |")
        assert rows[3].startswith("| 2 | `scripted/two` |")
        assert "**failed**" in rows[3]


async def test_the_session_is_open_in_another_program(opened: Spawn, spawn: Spawn, project: Path, git: Git) -> None:
    async with opened(script=two_ways(), config=AUTO) as editor:
        table = (await editor.prompt("/try 2 change something")).text
    async with spawn(script=two_ways(), config=AUTO) as other:
        await other.initialize()
        await other.load(editor.session)
        assert (await other.prompt("/try")).text == table
        await other.prompt("/try take 2")
        assert (project / "b.txt").exists()


async def test_lists_do_not_show_the_sessions_of_attempts(project: Path, home: Path, git: Git) -> None:
    script = Script(turn(say("wait"), hold("gate")), loop=True)
    async with SharedHouse.opened(project=project, home=home, script=script, config=AUTO) as house:
        guest = await house.visit()
        await guest.new_session()
        running = await guest.start_prompt("/try 2 wait")
        await eventually(lambda: bool(attempts_of(home)), what="attempts")
        listed = await guest.request("session/list", {})
        assert {session["sessionId"] for session in listed["sessions"]} <= {guest.session}
        script.let_go("gate")
        assert (await running.outcome()).stop_reason == "end_turn"


async def test_other_folders_of_the_session_are_in_reach_as_far_as_they_are_in_the_project(
    spawn: Spawn, project: Path, git: Git
) -> None:
    for name in ("part", "other"):
        (project / name).mkdir()
        (project / name / "x.txt").write_text(f"{name}\n")
    reads = call("read_file", path=str(project / "other" / "x.txt"))
    async with spawn(script=Script(turn(reads), turn(expect("other"), say("I read it.")), loop=True)) as editor:
        await editor.initialize()
        await editor.new_session(cwd=str(project / "part"), additionalDirectories=[str(project / "other")])
        assert (await editor.prompt("/try 2 read it")).text.count("I read it.") == 2
        assert not editor.received("session/request_permission")


async def test_a_cancelled_prompt_leaves_nothing(opened: Spawn, project: Path, home: Path, git: Git) -> None:
    script = Script(turn(call("shell", command="sleep 3600 & git branch left; sleep 3600")), loop=True)
    before = git("for-each-ref"), git("worktree", "list"), git("status", "--porcelain")
    async with opened(script=script, config=AUTO) as editor:
        running = await editor.start_prompt("/try 3 wait")
        await eventually(lambda: "left" in git("branch", "--list"), what="a branch")
        await editor.cancel()
        assert (await running.outcome()).stop_reason == "cancelled"
        await eventually(lambda: attempts_of(home) == [], what="no attempts")
        assert (git("for-each-ref"), git("worktree", "list"), git("status", "--porcelain")) == before
        assert "`/try N prompt`" in (await editor.prompt("/try")).text


async def test_what_attempts_tell_git_is_taken_back(opened: Spawn, project: Path, home: Path, git: Git) -> None:
    git("stash", "push", "-q", "new.txt", "-u")
    git("branch", "mine")
    commands = (
        "export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@y; git checkout -q -b made-$$ && git add -A && "
        "git commit -qm second && git branch -f mine && git tag mark-$$ && echo x > c.txt && git add c.txt && "
        "git stash -q && git checkout -q --detach && git pack-refs --all && git log -1 --format=%s mine"
    )
    script = Script(turn(call("shell", command=commands)), turn(expect("second\n"), say("done")), loop=True)
    before = git("for-each-ref"), git("worktree", "list"), git("stash", "list"), git("status", "--porcelain")
    async with opened(script=script, config=AUTO) as editor:
        editor.will_answer("allow_once")
        assert "failed" not in (await editor.prompt("/try 2 work")).text
    now = git("for-each-ref"), git("worktree", "list"), git("stash", "list"), git("status", "--porcelain")
    assert now == before
    git("stash", "pop", "-q")
    assert (project / "new.txt").read_text() == "new\n"


async def test_without_a_commit_a_project_can_be_tried_in(opened: Spawn, project: Path, git: Git) -> None:
    shutil.rmtree(project / ".git")
    git("init", "-q")
    git("add", "a.txt")
    async with opened(script=two_ways(), config=AUTO) as editor:
        assert "I went the second way." in (await editor.prompt("/try 2 change something")).text
        await editor.prompt("/try take 2")
    assert (project / "b.txt").exists()
    assert git("status", "--porcelain").startswith("A  a.txt")


async def test_submodules_and_repositories_inside_are_copied_with_their_changes(
    opened: Spawn, project: Path, tmp_path: Path, git: Git
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git_in(other, "init", "-q")
    (other / "deep.txt").write_text("deep\n")
    git_in(other, "add", ".")
    git_in(other, "commit", "-qm", "deep")
    git("submodule", "--quiet", "add", str(other), "sub")
    (project / "sub" / "deep.txt").write_text("deeper\n")
    (project / "own").mkdir()
    git_in(project / "own", "init", "-q")
    (project / "own" / "x.txt").write_text("x\n")
    command = "cat sub/deep.txt own/x.txt > all.txt && git -C sub status --porcelain >> all.txt && echo y > own/x.txt"
    script = Script(turn(call("shell", command=command)), turn(say("done")), loop=True)
    async with opened(script=script, config=AUTO) as editor:
        editor.will_answer("allow_once")
        await editor.prompt("/try 2 read")
        await editor.prompt("/try take 1")
    assert (project / "all.txt").read_text() == "deeper\nx\n M deep.txt\n"
    assert (project / "own" / "x.txt").read_text() == "y\n"
    assert not (project / ".git" / "modules" / "sub" / "worktrees").exists()
    assert not (project / "own" / ".git" / "worktrees").exists()


async def test_a_folder_of_a_repository_is_tried_in_as_a_part_of_it(spawn: Spawn, project: Path, git: Git) -> None:
    (project / "part").mkdir()
    (project / "part" / "p.txt").write_text("p\n")
    script = Script(turn(call("shell", command="cat p.txt ../a.txt > q.txt")), turn(say("done")), loop=True)
    async with spawn(script=script, config=AUTO) as editor:
        await editor.initialize()
        await editor.new_session(cwd=str(project / "part"))
        editor.will_answer("allow_once")
        await editor.prompt("/try 2 join them")
        await editor.prompt("/try take 2")
    assert (project / "part" / "q.txt").read_text() == "p\none\ntwo\n"


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("/try", "`/try N prompt` makes N attempts"),
        ("/try 2", "`/try N prompt` makes N attempts"),
        ("/try 6 x", "2 to 5 attempts"),
        ("/try 1 x", "2 to 5 attempts"),
        ("/try 2 /undo all", "`/undo` is a command"),
        ("/try 2 /try 2 x", "`/try` is a command"),
        ("/try take 1", "there are no attempts"),
        ("/try drop", "there are no attempts"),
        ("/try 2 x", "needs"),
    ],
)
async def test_what_cannot_be_tried_is_explained(opened: Spawn, project: Path, prompt: str, told: str) -> None:
    told = "attempts need a git repository" if told == "needs" else told
    async with opened(script=two_ways(), config=AUTO) as editor:
        assert told in (await editor.prompt(prompt)).text


async def test_protocol_2_shows_the_same(project: Path, home: Path, git: Git) -> None:
    async with EditorV2.opened(project=project, home=home, script=two_ways(), config=AUTO) as guest:
        tried = await guest.run("/try 2 change something")
        assert "I went the first way." in tried.text
        assert [made["status"] for made in tried.calls] == ["completed", "completed"]
        (shown,) = (await guest.run("/try diff 1")).calls
        assert shown["status"] == "completed"
        assert (await guest.run("/try take 1")).stop_reason == "end_turn"
        _, past = await guest.resume(guest.session, replay=True)
        assert [call["toolCallId"] for call in past if call["sessionUpdate"] == "tool_call_update"] == [
            shown["toolCallId"]
        ]
        assert (project / "a.txt").read_text() == "first way\n"


async def test_one_that_destroys_its_copy_has_failed_and_the_others_go_on(
    opened: Spawn, project: Path, home: Path, git: Git
) -> None:
    script = Script(
        *acts(1, turn(call("shell", command="rm -rf .git *; mkdir .git")), turn(say("gone"))),
        *acts(2, turn(EDIT), turn(say("I went on."))),
    )
    async with opened(script=script, config=AUTO) as editor:
        editor.will_answer("allow_once")
        rows = (await editor.prompt("/try 2 change something")).text.splitlines()[2:4]
        assert rows[0].endswith("I went on. |")
        assert "**failed** it removed the git data of its copy" in rows[1]
        assert attempts_of(home) == []
        assert not (project / ".git" / "worktrees").exists()


async def test_unusual_files_are_copied_compared_and_taken(opened: Spawn, project: Path, home: Path, git: Git) -> None:
    (project / "link").symlink_to("a.txt")
    (project / "tool").write_bytes(b"\0binary")
    (project / "tool").chmod(0o755)
    (project / "tracked").mkdir()
    (project / "tracked" / "x").write_text("x\n")
    git("add", "tracked")
    shutil.rmtree(project / "tracked")
    (project / "tracked").symlink_to(home)  # git still knows tracked/x
    (project / os.fsdecode(b"odd\xff name\n")).write_text("odd\n")
    commands = (
        "rm link; ln -s b.txt link; printf '\\1' >> tool; chmod 700 tool; mkdir -p locked/deep; touch locked/deep/f; "
        "printf more >> odd*; git rm -q --cached a.txt; rm a.txt; mkdir a.txt; touch a.txt/inside; chmod 0 locked/deep"
    )
    script = Script(turn(call("shell", command=commands)), turn(say("done")), loop=True)
    async with opened(script=script, config=AUTO) as editor:
        editor.will_answer("allow_once")
        await editor.prompt("/try 2 be odd")
        assert attempts_of(home) == []
        shown = await editor.prompt("/try diff 1")
        assert "`tool`: binary" in shown.text
        before = kinds_of(project)
        await editor.prompt("/try take 1")
        assert (project / "link").readlink() == Path("b.txt")
        assert (project / "tool").read_bytes() == b"\0binary\1"
        assert (project / "tool").stat().st_mode & 0o777 == 0o700
        assert (project / "a.txt" / "inside").exists()
        assert (project / os.fsdecode(b"odd\xff name\n")).read_text() == "odd\nmore"
        await editor.prompt("/undo")
        assert kinds_of(project) == before


def kinds_of(folder: Path) -> dict[str, object]:
    found: dict[str, object] = {}
    for path in folder.rglob("*"):
        if ".git" not in path.parts:
            content = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else None
            found[str(path)] = content, path.lstat().st_mode
    return found


async def test_a_prompt_file_that_is_trusted_in_the_project_is_in_its_copies(
    opened: Spawn, project: Path, home: Path, git: Git
) -> None:
    file = project / ".claw/commands/fix.md"
    file.parent.mkdir(parents=True)
    file.write_text("Fix it at once.")
    git("add", "-A")
    script = Script(*acts(1, turn(expect("Fix it at once."), say("fixed"))), *acts(2, turn(say("fixed, too"))))
    async with opened(script=script, config=AUTO) as editor:
        editor.will_answer("cancelled")
        assert "fixed" not in (await editor.prompt("/try 2 /fix")).text
        trust_all(project, home=home)
        assert "fixed, too" in (await editor.prompt("/try 2 /fix")).text


async def test_attempts_have_the_skills_of_the_project_and_nobody_is_asked_twice_about_them(
    opened: Spawn, project: Path, git: Git
) -> None:
    skill = project / ".claude/skills/deploy/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: deploy\ndescription: Use when it goes live\n---\nPush {baseDir}.\n")
    reads = (turn(call("skill", name="deploy")), turn(expect("Push /"), say("I know how.")))
    async with opened(script=Script(*acts(1, *reads), *acts(2, *reads)), config=AUTO) as editor:
        editor.will_answer("allow_always")
        answer = await editor.prompt("/try 2 deploy it")
        assert answer.text.count("I know how.") == 2
        assert len(editor.received("session/request_permission")) == 1
