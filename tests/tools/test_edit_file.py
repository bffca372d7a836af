from pathlib import Path

import pytest

from claw_acp.contracts.tool import Progress, ReadsPath, WritesPath
from claw_acp.core.errors import FileConflict, ToolError
from claw_acp.core.events import DiffContent, Location
from claw_acp.core.json_value import JsonValue
from claw_acp.tools.files.edit_file import EditFile
from claw_acp.tools.files.read_file import ReadFile
from tests.support.tool_bench import Bench, EditorWorkspace, said

edit_file = EditFile()
read_file = ReadFile()


def edit(old: str, new: str, **more: JsonValue) -> JsonValue:
    return {"old_text": old, "new_text": new, **more}


async def test_a_unique_text_is_replaced_and_shown_with_its_surroundings(bench: Bench, root: Path) -> None:
    file = root / "a.py"
    file.write_text("one\ntwo\nthree\nfour\nfive\nsix\n", "utf-8")
    result = await bench.call(edit_file, path="a.py", edits=[edit("four", "4")])
    assert file.read_text("utf-8") == "one\ntwo\nthree\n4\nfive\nsix\n"
    assert said(result) == (
        "Edited a.py (1 edit): changed line 4.\n\n    2→two\n    3→three\n    4→4\n    5→five\n    6→six"
    )
    diff = DiffContent(
        path=str(file), old_text="one\ntwo\nthree\nfour\nfive\nsix\n", new_text="one\ntwo\nthree\n4\nfive\nsix\n"
    )
    assert result.content == (diff,)
    assert bench.news == [Progress(locations=(Location(path=str(file), line=4),))]


async def test_the_preview_is_the_diff_and_writes_nothing(bench: Bench, root: Path) -> None:
    (root / "a").write_text("x\n", "utf-8")
    call = bench.prepare(edit_file, path="a", edits=[edit("x", "y")])
    assert await call.preview() == (DiffContent(path=str(root / "a"), old_text="x\n", new_text="y\n"),)
    assert (root / "a").read_text("utf-8") == "x\n"


async def test_edits_apply_in_order_each_to_what_the_one_before_left(bench: Bench, root: Path) -> None:
    (root / "a").write_text("x\n", "utf-8")
    await bench.call(edit_file, path="a", edits=[edit("x", "yz"), edit("y", "w")])
    assert (root / "a").read_text("utf-8") == "wz\n"


async def test_one_failing_edit_leaves_the_file_untouched(bench: Bench, root: Path) -> None:
    (root / "a").write_text("x\n", "utf-8")
    with pytest.raises(ToolError, match=r"Nothing was changed in a\. Edit 2 of 2: old_text is not in the file"):
        await bench.call(edit_file, path="a", edits=[edit("x", "y"), edit("absent", "z")])
    assert (root / "a").read_text("utf-8") == "x\n"


async def test_an_ambiguous_text_is_refused_with_the_lines_it_is_in(bench: Bench, root: Path) -> None:
    (root / "a").write_text("x\ny\nx\nx\n", "utf-8")
    with pytest.raises(ToolError, match=r"occurs 3 times \(at lines 1, 3 and 4\).*`all`"):
        await bench.call(edit_file, path="a", edits=[edit("x", "z")])


async def test_overlapping_occurrences_are_ambiguous_too(bench: Bench, root: Path) -> None:
    (root / "a").write_text("aaa", "utf-8")
    with pytest.raises(ToolError, match="occurs 2 times"):
        await bench.call(edit_file, path="a", edits=[edit("aa", "b")])


async def test_all_replaces_every_occurrence(bench: Bench, root: Path) -> None:
    (root / "a").write_text("x\ny\nx\n", "utf-8")
    text = await bench.text(edit_file, path="a", edits=[edit("x", "z", all=True)])
    assert (root / "a").read_text("utf-8") == "z\ny\nz\n"
    assert "changed lines 1 and 3." in text


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ([edit("x", "x")], "old_text and new_text are the same"),
        ([edit("x", "y"), edit("y", "x")], "leave a as it is"),
    ],
)
async def test_a_change_that_changes_nothing_is_refused(
    bench: Bench, root: Path, edits: list[JsonValue], reason: str
) -> None:
    (root / "a").write_text("x\n", "utf-8")
    with pytest.raises(ToolError, match=reason):
        await bench.call(edit_file, path="a", edits=edits)


async def test_line_feeds_of_an_edit_match_and_become_the_line_ends_of_the_file(bench: Bench, root: Path) -> None:
    (root / "a").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    await bench.call(edit_file, path="a", edits=[edit("one\ntwo", "1\n2\n2.5"), edit("three", "3\n4")])
    assert (root / "a").read_bytes() == b"1\r\n2\r\n2.5\r\n3\r\n4\r\n"


async def test_in_a_file_with_both_line_ends_only_the_replaced_lines_change(bench: Bench, root: Path) -> None:
    (root / "a").write_bytes(b"a\r\nb\r\nc\r\nd\ne\n")
    await bench.call(edit_file, path="a", edits=[edit("d\ne", "D\nE"), edit("a\nb", "A\nB")])
    assert (root / "a").read_bytes() == b"A\r\nB\r\nc\r\nD\nE\n"


async def test_the_byte_order_mark_stays(bench: Bench, root: Path) -> None:
    (root / "a").write_bytes(b"\xef\xbb\xbfone\n")
    await bench.call(edit_file, path="a", edits=[edit("one", "two")])
    assert (root / "a").read_bytes() == b"\xef\xbb\xbftwo\n"


async def test_the_byte_order_mark_of_a_buffer_stays(root: Path) -> None:
    editor = EditorWorkspace(root)
    editor.buffers[root / "a"] = "\ufeffone"
    await Bench(editor).call(edit_file, path="a", edits=[edit("\ufeffone", "two")])
    assert editor.buffers[root / "a"] == "\ufefftwo"


@pytest.mark.parametrize("text", ["one", "one\n"])
async def test_the_end_of_the_file_keeps_its_shape(bench: Bench, root: Path, text: str) -> None:
    (root / "a").write_text(text, "utf-8")
    await bench.call(edit_file, path="a", edits=[edit("one", "two")])
    assert (root / "a").read_text("utf-8") == text.replace("one", "two")


@pytest.mark.parametrize(
    ("old", "hint"),
    [
        ("    1→def f():", "line numbers that read_file adds"),
        ("def f():\n  return 1", r"other spaces or tabs(.|\n)*2→'\\treturn 1'"),
        ("def g(): # nothing alike at all", "nor anything like it"),
        ("def f( ):\n\treturn 2", r"closest lines are:\n    1→def f\(\):"),
    ],
)
async def test_a_text_that_is_not_found_is_met_with_what_was_probably_meant(
    bench: Bench, root: Path, old: str, hint: str
) -> None:
    (root / "a.py").write_text("def f():\n\treturn 1\n", "utf-8")
    with pytest.raises(ToolError, match=hint):
        await bench.call(edit_file, path="a.py", edits=[edit(old, "new")])


async def test_an_edit_that_was_made_before_is_recognised(bench: Bench, root: Path) -> None:
    (root / "a.py").write_text("answer = 42\n", "utf-8")
    with pytest.raises(ToolError, match="new_text already is"):
        await bench.call(edit_file, path="a.py", edits=[edit("completely", "answer = 42")])


async def test_the_report_of_a_missing_text_is_bounded(bench: Bench, root: Path) -> None:
    (root / "a").write_text("".join(f"line {n} {'x' * 3_000}\n" for n in range(300)), "utf-8")
    old = "".join(f"line {n} {'x' * 2_999}y\n" for n in range(300))
    with pytest.raises(ToolError) as caught:
        await bench.call(edit_file, path="a", edits=[edit(old, "z")])
    assert len(caught.value.message) < 30_000


async def test_the_report_of_a_large_change_is_bounded(bench: Bench, root: Path) -> None:
    (root / "a").write_text("x\ny\n" * 20_000, "utf-8")
    text = await bench.text(edit_file, path="a", edits=[edit("x", "z", all=True)])
    assert len(text) < 3_000


async def test_a_missing_file_is_reported_with_the_nearest_name(bench: Bench, root: Path) -> None:
    (root / "app.py").touch()
    with pytest.raises(ToolError, match=r"Did you mean app\.py"):
        await bench.call(edit_file, path="ap.py", edits=[edit("a", "b")])
    assert not (root / "ap.py").exists()


async def test_a_file_that_changed_since_it_was_read_is_not_touched(bench: Bench, root: Path) -> None:
    (root / "a").write_text("x\n", "utf-8")
    await bench.call(read_file, path="a")
    (root / "a").write_text("x\nmine\n", "utf-8")
    with pytest.raises(FileConflict, match=r"changed since you last read it.*Call read_file"):
        await bench.call(edit_file, path="a", edits=[edit("x", "y")])
    assert (root / "a").read_text("utf-8") == "x\nmine\n"


async def test_after_reading_again_the_edit_works(bench: Bench, root: Path) -> None:
    (root / "a").write_text("x\n", "utf-8")
    await bench.call(read_file, path="a")
    (root / "a").write_text("x\nmine\n", "utf-8")
    await bench.call(read_file, path="a", line=1, limit=1)
    await bench.call(edit_file, path="a", edits=[edit("x", "y")])
    assert (root / "a").read_text("utf-8") == "y\nmine\n"


async def test_unsaved_typing_since_the_reading_is_a_conflict(root: Path) -> None:
    editor = EditorWorkspace(root)
    editor.buffers[root / "a"] = "x\n"
    bench = Bench(editor)
    await bench.call(read_file, path="a")
    editor.buffers[root / "a"] = "x\ntyping"
    with pytest.raises(FileConflict):
        await bench.call(edit_file, path="a", edits=[edit("x", "y")])
    assert editor.buffers[root / "a"] == "x\ntyping"


async def test_a_change_between_preview_and_run_is_not_overwritten(bench: Bench, root: Path) -> None:
    (root / "a").write_text("x\n", "utf-8")
    call = bench.prepare(edit_file, path="a", edits=[edit("x", "y")])
    await call.preview()
    (root / "a").write_text("x\nmine\n", "utf-8")
    with pytest.raises(FileConflict, match="waited for permission"):
        await call.run()
    assert (root / "a").read_text("utf-8") == "x\nmine\n"


async def test_one_edit_after_the_other_needs_no_reading_in_between(bench: Bench, root: Path) -> None:
    (root / "a").write_text("x\n", "utf-8")
    await bench.call(read_file, path="a")
    await bench.call(edit_file, path="a", edits=[edit("x", "y")])
    await bench.call(edit_file, path="a", edits=[edit("y", "z")])
    assert (root / "a").read_text("utf-8") == "z\n"


async def test_a_formatter_that_runs_on_saving_is_reported_and_is_no_conflict(root: Path) -> None:
    editor = EditorWorkspace(root)
    editor.buffers[root / "a"] = "x=1\n"
    editor.on_save = lambda text: text.replace("=", " = ")
    bench = Bench(editor)
    await bench.call(read_file, path="a")
    result = await bench.call(edit_file, path="a", edits=[edit("x=1", "y=1")])
    assert "changed the file while saving" in said(result)
    assert "    1→y = 1" in said(result)
    assert result.content == (DiffContent(path=str(root / "a"), old_text="x=1\n", new_text="y = 1\n"),)
    await bench.call(edit_file, path="a", edits=[edit("y = 1", "z = 1")])


def test_an_edit_reads_and_writes_where_the_link_leads(bench: Bench, root: Path) -> None:
    target = root.parent / "outside"
    (root / "link").symlink_to(target)
    call = bench.prepare(edit_file, path="link", edits=[edit("a", "b")])
    assert call.accesses == (ReadsPath(path=target), WritesPath(path=target))
    assert (call.view.title, call.view.kind) == (f"Edit {target}", "edit")
    assert call.view.locations == (Location(path=str(target)),)
