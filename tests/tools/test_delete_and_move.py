"""Deleting and moving files."""

from pathlib import Path

import pytest

from claw_acp.contracts.tool import ReadsPath, WritesPath
from claw_acp.core.errors import FileConflict, ToolError
from claw_acp.core.events import DiffContent
from claw_acp.tools.files.delete_file import DeleteFile
from claw_acp.tools.files.move_file import MoveFile
from claw_acp.tools.files.read_file import ReadFile
from claw_acp.tools.files.seen_files import Stamps
from tests.support.tool_bench import Bench, EditorWorkspace, said

delete_file, move_file, read_file = DeleteFile(), MoveFile(), ReadFile()


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(params=["disk", "editor"])
def bench(request: pytest.FixtureRequest, root: Path) -> Bench:
    return Bench.on(root) if request.param == "disk" else Bench(EditorWorkspace(root))


async def test_a_deleted_file_is_shown_as_a_diff_and_is_gone(bench: Bench, root: Path) -> None:
    (root / "a").write_text("one\ntwo\n")
    result = await bench.call(delete_file, path="a")
    assert not (root / "a").exists()
    assert result.content == (DiffContent(path=str(root / "a"), old_text="one\ntwo\n", new_text=None),)
    assert said(result) == "Deleted a (2 lines)."


@pytest.mark.parametrize("content", [b"\0\1\2", b"caf\xe9"], ids=["binary", "latin"])
async def test_what_is_not_text_is_deleted_and_moved_as_well(bench: Bench, root: Path, content: bytes) -> None:
    (root / "a").write_bytes(content)
    assert await bench.text(move_file, path="a", new_path="new/b") == f"Moved a to new/b ({len(content)} B, not text)."
    assert (root / "new/b").read_bytes() == content
    await bench.call(delete_file, path="new/b")
    assert _names(root / "new") == []


async def test_a_link_is_deleted_or_moved_and_never_what_it_leads_to(bench: Bench, root: Path) -> None:
    (root.parent / "precious").write_text("x")
    (root / "link").symlink_to(root.parent / "precious")
    call = bench.prepare(move_file, path="link", new_path="other")
    paths = [access.path for access in call.accesses if isinstance(access, ReadsPath | WritesPath)]
    assert paths == [root / "link", root / "link", root / "other"]
    await call.run()
    assert (root / "other").readlink() == root.parent / "precious"
    await bench.call(delete_file, path="other")
    assert _names(root) == []
    assert (root.parent / "precious").read_text() == "x"


async def test_a_link_on_the_way_shows_where_it_leads(bench: Bench, root: Path) -> None:
    (root.parent / "outside").mkdir()
    (root / "link").symlink_to(root.parent / "outside")
    for call in (
        bench.prepare(delete_file, path="link/a"),
        bench.prepare(move_file, path="b", new_path="link/a"),
    ):
        assert [access.path for access in call.accesses if isinstance(access, WritesPath)][-1] == (
            root.parent / "outside/a"
        )


async def test_a_move_needs_the_right_to_read_the_file(bench: Bench, root: Path) -> None:
    call = bench.prepare(move_file, path=".env", new_path="env.txt")
    assert ReadsPath(path=root / ".env") in call.accesses


@pytest.mark.parametrize(
    ("path", "new_path", "reason"),
    [
        ("missing", "b", "missing does not exist"),
        ("folder", "b", "folder is a directory"),
        ("a", "a", "a exists already"),
        ("a", "other", "other exists already"),
        ("a", "folder", r"folder is a directory. Give the whole new path: 'folder/a'"),
        ("a", "other/b", "a part of its path is a file"),
        ("a", "../..", "is a directory"),
    ],
)
async def test_what_cannot_be_moved_is_refused_with_the_reason(
    bench: Bench, root: Path, path: str, new_path: str, reason: str
) -> None:
    (root / "folder").mkdir()
    (root / "a").write_text("a")
    (root / "other").write_text("other")
    with pytest.raises(ToolError, match=reason):
        await bench.call(move_file, path=path, new_path=new_path)
    assert ((root / "a").read_text(), (root / "other").read_text()) == ("a", "other")


@pytest.mark.parametrize("path", ["missing", "folder", "folder/", "."])
async def test_only_files_are_deleted(bench: Bench, root: Path, path: str) -> None:
    (root / "folder").mkdir()
    with pytest.raises(ToolError, match=r"does not exist|is a directory"):
        await bench.call(delete_file, path=path)
    assert (root / "folder").is_dir()


@pytest.mark.parametrize("unsaved", ["typed since", ""])
async def test_unsaved_changes_keep_a_file_where_it_is(root: Path, unsaved: str) -> None:
    editor = EditorWorkspace(root)
    (root / "a").write_text("saved")
    editor.buffers[root / "a"] = unsaved
    with pytest.raises(FileConflict, match="a has unsaved changes in the editor"):
        await Bench(editor).call(delete_file, path="a")
    with pytest.raises(FileConflict, match="a has unsaved changes in the editor"):
        await Bench(editor).call(move_file, path="a", new_path="b")
    assert (root / "a").read_text() == "saved"


async def test_a_file_that_changed_since_it_was_read_stays(bench: Bench, root: Path) -> None:
    (root / "a").write_text("one")
    await bench.call(read_file, path="a")
    (root / "a").write_text("mine")
    for tool, more in ((delete_file, {}), (move_file, {"new_path": "b"})):
        with pytest.raises(FileConflict, match="changed since you last read it"):
            await bench.call(tool, path="a", **more)
    assert (root / "a").read_text() == "mine"


@pytest.mark.parametrize("content", [b"text", b"\0\1"], ids=["text", "binary"])
async def test_a_file_that_changes_while_permission_is_asked_stays(bench: Bench, root: Path, content: bytes) -> None:
    (root / "a").write_bytes(content)
    for call in (bench.prepare(delete_file, path="a"), bench.prepare(move_file, path="a", new_path="b")):
        await call.preview()
        (root / "a").write_bytes(content + b"!" + (root / "a").read_bytes())
        with pytest.raises(FileConflict, match="while this call waited"):
            await call.run()
    assert not (root / "b").exists()


async def test_what_a_session_knows_of_a_file_moves_with_it(bench: Bench, root: Path) -> None:
    (root / "a").write_text("one")
    await bench.call(read_file, path="a")
    Stamps.on(bench.state).leave()
    await bench.call(move_file, path="a", new_path="b")
    stamps = Stamps.on(bench.state)
    assert (stamps.knows(root / "a"), stamps.knows(root / "b"), stamps.changed()) == (False, True, [])
