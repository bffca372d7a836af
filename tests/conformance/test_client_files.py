"""Files through the editor, with its unsaved buffers."""

from pathlib import Path

import pytest

from tests.support.editors.editor import FULL
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, shown_text
from tests.support.script_files import Script, call, expect, say, turn

EDITING = 'mode = "edit"'
CHANGE = Script(
    turn(call("read_file", path="a.txt")),
    turn(call("edit_file", path="a.txt", edits=[{"old_text": "draft", "new_text": "final"}])),
    turn(say("changed")),
)


@pytest.mark.rule("fs.buffers")
@pytest.mark.case(36)
async def test_an_unsaved_buffer_is_what_the_model_reads_and_edits(opened: Spawn, project: Path) -> None:
    path = project / "a.txt"
    async with opened(script=CHANGE, config=EDITING, capabilities=FULL) as editor:
        editor.files.buffers[str(path)] = "a draft\n"
        outcome = await editor.prompt("finish it")
    assert [tool["status"] for tool in outcome.calls] == ["completed", "completed"]
    assert editor.files.buffers[str(path)] == path.read_text() == "a final\n"
    assert editor.files.writes == [str(path)]
    diffs = [item for item in outcome.calls[1]["content"] if item["type"] == "diff"]
    assert [(diff["oldText"], diff["newText"]) for diff in diffs] == [("a draft\n", "a final\n")]


@pytest.mark.rule("fs.gated", "kit1.clientcap")
@pytest.mark.case(36)
@pytest.mark.parametrize("offers", [None, {"fs": None}, {"fs": {"readTextFile": False}}], ids=str)
async def test_a_client_that_serves_no_files_is_never_asked(opened: Spawn, project: Path, offers: Json | None) -> None:
    (project / "a.txt").write_text("a draft\n")
    async with opened(script=CHANGE, config=EDITING, capabilities=offers) as editor:
        assert (await editor.prompt("finish it")).text == "changed"
    assert (project / "a.txt").read_text() == "a final\n"
    assert [frame["method"] for frame in editor.received() if "method" in frame and "id" in frame] == []


@pytest.mark.rule("fs.gated")
@pytest.mark.case(36)
async def test_what_one_side_serves_alone_is_used_alone(opened: Spawn, project: Path) -> None:
    (project / "a.txt").write_text("a draft\n")
    async with opened(script=CHANGE, config=EDITING, capabilities={"fs": {"writeTextFile": True}}) as editor:
        assert (await editor.prompt("finish it")).text == "changed"
    assert (editor.files.reads, editor.files.writes) == ([], [str(project / "a.txt")])


@pytest.mark.rule("fs.buffers")
async def test_a_new_file_is_made_through_the_editor(opened: Spawn, project: Path) -> None:
    script = Script(turn(call("write_file", path="sub/new.txt", content="fresh\n")), turn(say("made")))
    async with opened(script=script, config=EDITING, capabilities=FULL) as editor:
        outcome = await editor.prompt("make it")
    assert [tool["status"] for tool in outcome.calls] == ["completed"]
    assert editor.files.writes == [str(project / "sub" / "new.txt")]
    assert (project / "sub" / "new.txt").read_text() == "fresh\n"


@pytest.mark.rule("fs.buffers")
async def test_a_buffer_that_changed_since_it_was_read_is_not_overwritten(opened: Spawn, project: Path) -> None:
    path = str(project / "a.txt")
    async with opened(script=CHANGE, capabilities=FULL) as editor:
        editor.files.buffers[path] = "a draft\n"
        editor.will_answer(None)
        prompt = await editor.start_prompt("finish it")
        question = await editor.wait_for_question()
        editor.files.buffers[path] = "a draft, but mine\n"
        await editor.answer(question, "allow_once")
        outcome = await prompt.outcome()
    assert outcome.calls[1]["status"] == "failed"
    assert "changed" in shown_text(outcome.calls[1])
    assert editor.files.buffers[path] == "a draft, but mine\n"


@pytest.mark.rule("session.cwd-used")
async def test_a_file_outside_the_project_is_not_read_unasked(opened: Spawn, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hush")
    script = Script(turn(call("read_file", path=str(secret))), turn(expect("not"), say("no")))
    async with opened(script=script, capabilities=FULL) as editor:
        editor.will_answer("reject_once")
        outcome = await editor.prompt("spy")
    assert outcome.calls[0]["status"] == "failed"
    assert editor.files.reads == []
    assert "hush" not in str(outcome.updates)
