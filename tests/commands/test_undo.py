"""Undo, redo and diff as an editor meets them: files and conversation go back and forth, nobody's work is lost."""

import os
from pathlib import Path

import pytest

from tests.support.editors.editor import FULL
from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, Turn, call, say, turn
from tests.support.servers.model_replies import Call as ToolCall
from tests.support.servers.model_replies import Say
from tests.support.servers.model_server import ModelServer

AUTO = 'mode = "auto"'


@pytest.fixture(autouse=True)
def _empty_project(project: Path) -> None:
    for path in project.iterdir():
        path.unlink()


def _edit(name: str, old: str, new: str) -> Turn:
    return turn(call("edit_file", path=name, edits=[{"old_text": old, "new_text": new}]))


def _create(name: str, text: str) -> Turn:
    return turn(call("write_file", path=name, content=text))


def _contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


async def test_the_last_turn_is_taken_back_with_its_files_and_brought_back_again(opened: Spawn, project: Path) -> None:
    (project / "a.txt").write_text("one\n")
    script = Script(
        _edit("a.txt", "one", "two"),
        _create("new/deep/b.txt", "fresh\n"),
        turn(say("done")),
        turn(say("I see")),
    )
    async with opened(script=script, config=AUTO) as editor:
        await editor.prompt("change them")
        undone = (await editor.prompt("/undo")).text
        assert _contents(project) == {"a.txt": "one\n"}
        assert not (project / "new").exists()
        assert "`a.txt` changed back" in undone
        assert "`new/deep/b.txt` deleted" in undone
        assert "Done again: turn 1" in (await editor.prompt("/redo")).text
        assert _contents(project) == {"a.txt": "two\n", "new/deep/b.txt": "fresh\n"}
        assert "Undone" not in (await editor.prompt("/undo files")).text
        assert _contents(project) == {"a.txt": "one\n"}
        assert (await editor.prompt("go on")).text == "I see"
        assert "nothing was undone since your last prompt" in (await editor.prompt("/redo")).text


async def test_deleted_and_moved_files_come_back_also_large_and_binary_ones(opened: Spawn, project: Path) -> None:
    large = os.urandom(3_000_000)
    (project / "large.bin").write_bytes(large)
    (project / "moved.bin").write_bytes(large[::-1])
    script = Script(
        turn(call("delete_file", path="large.bin"), call("move_file", path="moved.bin", new_path="new/b.bin")),
        turn(say("done")),
    )
    async with opened(script=script, config=AUTO) as editor:
        await editor.prompt("clean up")
        assert (project / "new/b.bin").read_bytes() == large[::-1]
        assert not (project / "large.bin").exists()
        undone = (await editor.prompt("/undo")).text
        assert "`large.bin` created again" in undone
        assert ((project / "large.bin").read_bytes(), (project / "moved.bin").read_bytes()) == (large, large[::-1])
        assert not (project / "new").exists()
        await editor.prompt("/redo")
        assert [name for name in ("large.bin", "moved.bin") if (project / name).exists()] == []
        assert (project / "new/b.bin").read_bytes() == large[::-1]


@pytest.mark.parametrize(
    ("answer", "left", "again"),
    [("skip", "mine\n", "mine\n"), ("overwrite", "one\n", "mine\n")],
)
async def test_a_file_that_somebody_else_changed_is_asked_about(
    opened: Spawn, project: Path, answer: str, left: str, again: str
) -> None:
    (project / "a.txt").write_text("one\n")
    script = Script(_edit("a.txt", "one", "two"), _create("b.txt", "new\n"), turn(say("done")))
    async with opened(script=script, config=AUTO) as editor:
        await editor.prompt("change them")
        (project / "a.txt").write_text("mine\n")
        asked = (await editor.prompt("/undo")).text
        assert "Nothing was undone yet, because somebody else changed files" in asked
        assert "- `a.txt`" in asked
        assert _contents(project) == {"a.txt": "mine\n", "b.txt": "new\n"}
        await editor.prompt(f"/undo {answer}")
        assert _contents(project) == {"a.txt": left}
        await editor.prompt("/redo")
        assert _contents(project) == {"a.txt": again, "b.txt": "new\n"}


async def test_going_back_over_a_change_of_somebody_else_between_two_turns_is_asked_about(
    opened: Spawn, project: Path
) -> None:
    (project / "a.txt").write_text("one\n")
    script = Script(
        _edit("a.txt", "one", "two"), turn(say("done")), turn(call("read_file", path="a.txt")),
        _edit("a.txt", "mine", "three"), turn(say("done")),
    )  # fmt: skip
    async with opened(script=script, config=AUTO) as editor:
        await editor.prompt("first")
        (project / "a.txt").write_text("mine\n")
        await editor.prompt("second")
        assert "Nothing was undone yet" in (await editor.prompt("/undo 1")).text
        assert (project / "a.txt").read_text() == "three\n"
        await editor.prompt("/undo 2")
        assert (project / "a.txt").read_text() == "mine\n"
        assert "Nothing was undone yet" in (await editor.prompt("/undo 1")).text
        assert "1 | first | `a.txt`" in (await editor.prompt("/undo list")).text


async def test_one_file_comes_back_and_the_rest_stays(opened: Spawn, project: Path) -> None:
    script = Script(_create("a.txt", "a\n"), _create("b.txt", "b\n"), turn(say("done")))
    async with opened(script=script, config=AUTO) as editor:
        await editor.prompt("both")
        await editor.prompt("/undo 1 a.txt")
        assert _contents(project) == {"b.txt": "b\n"}
        assert "a.txt was not changed" in (await editor.prompt("/undo a.txt")).text
        await editor.prompt("/undo")
        assert _contents(project) == {}
        await editor.prompt("/redo")
        assert _contents(project) == {"b.txt": "b\n"}
        await editor.prompt("/redo")
        assert _contents(project) == {"a.txt": "a\n", "b.txt": "b\n"}


@pytest.mark.parametrize("name", ["a  b.txt", "files", "3"])
async def test_a_file_with_an_odd_name_comes_back_by_it(opened: Spawn, project: Path, name: str) -> None:
    script = Script(_create(name, "a\n"), _create("other", "b\n"), turn(say("done")))
    async with opened(script=script, config=AUTO) as editor:
        await editor.prompt("both")
        await editor.prompt(f"/undo 1 ./{name}")
        assert _contents(project) == {"other": "b\n"}


async def test_the_conversation_alone_goes_back_and_its_files_still_can(opened: Spawn, project: Path) -> None:
    script = Script(_create("a.txt", "a\n"), turn(say("done")), turn(say("second")), loop=False)
    async with opened(script=script, config=AUTO) as editor:
        await editor.prompt("first")
        await editor.prompt("second")
        assert "2 turns from turn 1" in (await editor.prompt("/undo 1 conversation")).text
        assert _contents(project) == {"a.txt": "a\n"}
        assert "this conversation has no turn" in (await editor.prompt("/undo")).text
        await editor.prompt("/redo")
        await editor.prompt("/undo 1")
        assert _contents(project) == {}


@pytest.mark.parametrize(
    ("content", "shown"),
    [("one\nthree\n", "-two\n+three"), ("", "-one\n-two")],
)
async def test_a_difference_is_that_of_the_turn(opened: Spawn, project: Path, content: str, shown: str) -> None:
    (project / "a.txt").write_text("one\ntwo\n")
    script = Script(turn(call("read_file", path="a.txt")), _create("a.txt", content), turn(say("done")), turn(say("x")))
    async with opened(script=script, config=AUTO) as editor:
        await editor.prompt("change it")
        await editor.prompt("nothing")
        (project / "a.txt").write_text("mine\n")
        for command in ("/diff", "/diff 1"):
            assert shown in (await editor.prompt(command)).text
        assert "changed no file" in (await editor.prompt("/diff 2")).text
        assert "no turn 7" in (await editor.prompt("/diff 7")).text


async def test_text_that_was_not_saved_comes_back(opened: Spawn, project: Path) -> None:
    path = project / "a.txt"
    path.write_text("saved\n")
    script = Script(_edit("a.txt", "unsaved", "changed"), turn(say("done")))
    async with opened(script=script, config=AUTO, capabilities=FULL) as editor:
        editor.files.buffers[str(path)] = "unsaved\n"
        await editor.prompt("change it")
        assert path.read_text() == "changed\n"
        editor.files.buffers[str(path)] = "typed\n"
        assert "Nothing was undone yet" in (await editor.prompt("/undo")).text
        await editor.prompt("/undo overwrite")
        assert (path.read_text(), editor.files.buffers[str(path)]) == ("unsaved\n", "unsaved\n")
        await editor.prompt("/redo")
        assert (path.read_text(), editor.files.buffers[str(path)]) == ("typed\n", "typed\n")


@pytest.mark.parametrize("saved_later", [False, True])
async def test_a_text_that_the_editor_does_not_save_at_once_is_taken_back(
    opened: Spawn, project: Path, *, saved_later: bool
) -> None:
    path = project / "a.txt"
    path.write_text("one\n")
    script = Script(_edit("a.txt", "one", "two"), turn(say("done")))
    async with opened(script=script, config=AUTO, capabilities=FULL) as editor:
        editor.files.saves = False
        await editor.prompt("change it")
        if saved_later:
            path.write_text(editor.files.buffers.pop(str(path)))
        assert "+two" in (await editor.prompt("/diff")).text
        assert "`a.txt` changed back" in (await editor.prompt("/undo")).text
        assert (path.read_text(), editor.files.buffers[str(path)]) == ("one\n", "one\n")


async def test_a_turn_of_yesterday_is_taken_back_by_another_program(opened: Spawn, spawn: Spawn, project: Path) -> None:
    (project / "a.txt").write_text("one\n")
    async with opened(script=Script(_edit("a.txt", "one", "two"), turn(say("done"))), config=AUTO) as editor:
        await editor.prompt("change it")
        session = editor.session
    async with spawn(script=Script(), config=AUTO) as other:
        await other.initialize()
        await other.load(session)
        await other.prompt("/undo")
        assert (project / "a.txt").read_text() == "one\n"
        assert "Edit a.txt" not in str((await other.load(session))[1])


async def test_what_lies_outside_the_project_stays(opened: Spawn, project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    script = Script(_create(str(outside), "there\n"), turn(say("done")))
    async with opened(script=script, config=AUTO) as editor:
        editor.will_answer("allow_once")
        await editor.prompt("write it")
        assert "it is outside the project" in (await editor.prompt("/undo files")).text
        assert outside.read_text() == "there\n"


async def test_a_link_that_took_the_place_of_a_directory_is_not_followed(
    opened: Spawn, project: Path, tmp_path: Path
) -> None:
    (project / "d").mkdir()
    (project / "d/a.txt").write_text("one\n")
    async with opened(script=Script(_edit("d/a.txt", "one", "two"), turn(say("done"))), config=AUTO) as editor:
        await editor.prompt("change it")
        (project / "d").rename(tmp_path / "moved")
        (project / "d").symlink_to(tmp_path / "moved")
        assert "lies behind a link" in (await editor.prompt("/undo files overwrite")).text
        assert (tmp_path / "moved/a.txt").read_text() == "two\n"


async def test_the_model_is_told_once_what_was_taken_back(opened: Spawn, project: Path) -> None:
    async with ModelServer() as server:
        env = {"OPENAI_API_KEY": "sk-test-0123456789abcdef", "OPENAI_BASE_URL": server.openai_url}
        async with opened(config=f'model = "openai/test-model"\n{AUTO}', env=env) as editor:
            write = ToolCall(name="write_file", arguments={"path": "a.txt", "content": "a"}, id="v1")
            server.will_reply(Say(calls=(write,)), Say(text=("done",)), Say(text=("one",)), Say(text=("two",)))
            await editor.prompt("write it")
            await editor.prompt("/undo files")
            await editor.prompt("first")
            await editor.prompt("second")
            assert server.requests[-1].body.count(b"took back changes of yours") == 1
            assert f"rely on them: {project}/a.txt".encode() in server.requests[-2].body


async def test_the_copies_are_private(opened: Spawn, project: Path, home: Path) -> None:
    (project / "a.txt").write_text("one\n")
    async with opened(script=Script(_edit("a.txt", "one", "two"), turn(say("done"))), config=AUTO) as editor:
        await editor.prompt("change it")
        paths = [home / "claw/blobs", *(home / "claw/blobs").rglob("*")]
        assert {path.stat().st_mode & 0o077 for path in paths} == {0}


async def test_a_session_is_copied_as_it_was_after_a_turn(opened: Spawn, project: Path) -> None:
    script = Script(_create("a.txt", "a\n"), turn(say("done")), turn(say("second")))
    async with opened(script=script, config=AUTO) as editor:
        await editor.prompt("first prompt")
        await editor.prompt("second prompt")
        assert "no turn 5" in (await editor.prompt("/fork 5")).text
        copy = (await editor.prompt("/fork 1")).text.split("`")[1]
        _, replayed = await editor.load(copy)
        assert "first prompt" in str(replayed)
        assert "second prompt" not in str(replayed)
        await editor.prompt("/undo", session=copy)
        assert _contents(project) == {}


async def test_nothing_is_changed_when_no_copy_can_be_kept(opened: Spawn, project: Path, home: Path) -> None:
    (project / "a.txt").write_text("one\n")
    script = Script(_edit("a.txt", "one", "two"), turn(call("shell", command="rm a.txt")), turn(say("done")))
    config = f'{AUTO}\n[permissions]\nallow = ["shell(*)"]'
    async with opened(script=script, config=config) as editor:
        (home / "claw/blobs").write_text("a file in the place of the folder")
        editor.will_answer("allow_once")
        outcome = await editor.prompt("change it")
        assert [item["status"] for item in outcome.calls] == ["failed", "failed"]
        assert str(outcome.calls).count("nothing was changed") == 2
        assert _contents(project) == {"a.txt": "one\n"}
