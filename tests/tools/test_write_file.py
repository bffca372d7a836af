from pathlib import Path

import pytest

from claw_acp.contracts.tool import WritesPath
from claw_acp.core.errors import FileConflict, ToolError
from claw_acp.core.events import DiffContent
from claw_acp.tools.files.read_file import ReadFile
from claw_acp.tools.files.write_file import WriteFile
from tests.support.tool_bench import Bench, EditorWorkspace

write_file = WriteFile()
read_file = ReadFile()


async def test_a_new_file_is_created_with_its_directories(bench: Bench, root: Path) -> None:
    result = await bench.call(write_file, path="src/new/a.py", content="x\ny\n")
    assert (root / "src/new/a.py").read_text("utf-8") == "x\ny\n"
    assert result.content == (DiffContent(path=str(root / "src/new/a.py"), old_text=None, new_text="x\ny\n"),)
    assert isinstance(result.raw, dict)
    assert result.raw["created"] is True


async def test_the_preview_is_a_diff_and_creates_nothing(bench: Bench, root: Path) -> None:
    call = bench.prepare(write_file, path="a", content="x")
    assert await call.preview() == (DiffContent(path=str(root / "a"), old_text=None, new_text="x"),)
    assert not (root / "a").exists()


async def test_a_file_that_was_read_may_be_replaced(bench: Bench, root: Path) -> None:
    (root / "a").write_text("one\ntwo\n", "utf-8")
    await bench.call(read_file, path="a")
    text = await bench.text(write_file, path="a", content="one\n2\n")
    assert (root / "a").read_text("utf-8") == "one\n2\n"
    assert text.startswith("Replaced a (2 lines): changed line 2.")


async def test_a_file_that_was_not_read_is_not_replaced(bench: Bench, root: Path) -> None:
    (root / "a").write_text("precious", "utf-8")
    with pytest.raises(FileConflict, match=r"was not read in this session.*Call read_file on it first"):
        await bench.call(write_file, path="a", content="x")
    assert (root / "a").read_text("utf-8") == "precious"


async def test_a_file_that_changed_since_it_was_read_is_not_replaced(bench: Bench, root: Path) -> None:
    (root / "a").write_text("one", "utf-8")
    await bench.call(read_file, path="a")
    (root / "a").write_text("mine", "utf-8")
    with pytest.raises(FileConflict, match="changed since you last read it"):
        await bench.call(write_file, path="a", content="x")
    assert (root / "a").read_text("utf-8") == "mine"


async def test_a_file_that_appears_while_permission_is_asked_is_not_overwritten(bench: Bench, root: Path) -> None:
    call = bench.prepare(write_file, path="a", content="x")
    await call.preview()
    (root / "a").write_text("mine", "utf-8")
    with pytest.raises(FileConflict):
        await call.run()
    assert (root / "a").read_text("utf-8") == "mine"


async def test_a_change_while_permission_is_asked_is_not_overwritten(bench: Bench, root: Path) -> None:
    (root / "a").touch()
    call = bench.prepare(write_file, path="a", content="x")
    await call.preview()
    (root / "a").write_text("mine", "utf-8")
    with pytest.raises(FileConflict):
        await call.run()
    assert (root / "a").read_text("utf-8") == "mine"


async def test_an_empty_file_has_nothing_to_lose(bench: Bench, root: Path) -> None:
    (root / "a").touch()
    await bench.call(write_file, path="a", content="x")
    assert (root / "a").read_text("utf-8") == "x"


async def test_what_was_written_may_be_written_again(bench: Bench, root: Path) -> None:
    await bench.call(write_file, path="a", content="x")
    await bench.call(write_file, path="a", content="y")
    assert (root / "a").read_text("utf-8") == "y"


async def test_the_same_content_is_not_written_again(bench: Bench, root: Path) -> None:
    await bench.call(write_file, path="a", content="x")
    before = (root / "a").stat().st_ino
    result = await bench.call(write_file, path="a", content="x")
    assert result.content is None
    assert (root / "a").stat().st_ino == before


async def test_a_crlf_file_stays_one(bench: Bench, root: Path) -> None:
    (root / "a").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    await bench.call(read_file, path="a")
    await bench.call(write_file, path="a", content="1\n2\n")
    assert (root / "a").read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n"


async def test_unsaved_text_counts_as_the_text_of_the_file(root: Path) -> None:
    editor = EditorWorkspace(root)
    editor.buffers[root / "new"] = "typed but never saved"
    with pytest.raises(FileConflict, match="was not read"):
        await Bench(editor).call(write_file, path="new", content="x")
    assert editor.buffers[root / "new"] == "typed but never saved"


@pytest.mark.parametrize(("name", "reason"), [("directory", "is a directory"), ("binary", "binary file")])
async def test_what_is_not_a_text_file_is_not_replaced(bench: Bench, root: Path, name: str, reason: str) -> None:
    (root / "directory").mkdir()
    (root / "binary").write_bytes(b"\0\1")
    with pytest.raises(ToolError, match=reason):
        await bench.call(write_file, path=name, content="x")
    assert (root / "binary").read_bytes() == b"\0\1"


def test_a_link_that_leaves_the_workspace_shows_where_it_writes(bench: Bench, root: Path) -> None:
    (root / "link").symlink_to(root.parent / "outside")
    call = bench.prepare(write_file, path="link", content="x")
    assert call.accesses == (WritesPath(path=root.parent / "outside"),)
    assert call.view.title == f"Write {root.parent / 'outside'}"
