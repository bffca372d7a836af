"""Reading and writing real files."""

import errno
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.core.errors import ToolError
from claw_acp.workspace import files
from claw_acp.workspace.local import MAX_TEXT, LocalWorkspace
from tests.support.ordinary_user import ordinary_user


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    directory = Path(os.path.realpath(tmp_path)) / "root"
    directory.mkdir()
    return directory


@pytest.fixture
def workspace(root: Path) -> LocalWorkspace:
    return LocalWorkspace([root])


def test_roots_are_resolved_and_the_first_is_where_relative_paths_start(root: Path) -> None:
    (root / "link").symlink_to(".")
    workspace = LocalWorkspace([root / "link"])
    assert workspace.roots == (root,)
    assert workspace.locate("a/b") == root / "a" / "b"
    assert workspace.contains(root / "a")
    assert not workspace.contains(root.parent)


def test_a_workspace_without_a_root_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="at least one root"):
        LocalWorkspace([])


async def test_text_comes_back_as_it_was_written(workspace: LocalWorkspace, root: Path) -> None:
    text = "grüß\r\ngott\rline\n\u2028end"
    await workspace.write_text(root / "file", text)
    assert (root / "file").read_bytes() == text.encode()
    assert await workspace.read_text(root / "file") == text


async def test_a_byte_order_mark_is_not_text_but_survives_an_edit(workspace: LocalWorkspace, root: Path) -> None:
    (root / "file").write_bytes(b"\xef\xbb\xbfold")
    assert await workspace.read_text(root / "file") == "old"
    await workspace.write_text(root / "file", "new")
    assert (root / "file").read_bytes() == b"\xef\xbb\xbfnew"
    await workspace.write_text(root / "file", "\ufeffnewer")
    assert (root / "file").read_bytes() == b"\xef\xbb\xbfnewer"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"abc\0def", "binary file"),
        (b"ok\nfine\nbad \xff here", "not UTF-8 text: byte 0xff in line 3"),
        ("wide".encode("utf-16"), "UTF-16"),
        (b"x" * (MAX_TEXT + 1), "larger than 10,485,760 bytes"),
    ],
    ids=["binary", "latin", "utf-16", "large"],
)
async def test_what_is_not_text_is_refused_with_the_reason(
    workspace: LocalWorkspace, root: Path, content: bytes, message: str
) -> None:
    (root / "file").write_bytes(content)
    with pytest.raises(ToolError, match=message):
        await workspace.read_text(root / "file")


async def test_the_largest_text_is_read(workspace: LocalWorkspace, root: Path) -> None:
    (root / "file").write_bytes(b"x" * MAX_TEXT)
    assert len(await workspace.read_text(root / "file")) == MAX_TEXT


async def test_bytes_are_read_up_to_the_limit_and_refused_beyond(workspace: LocalWorkspace, root: Path) -> None:
    (root / "file").write_bytes(b"\0" * 10)
    assert await workspace.read_bytes(root / "file", limit=10) == b"\0" * 10
    with pytest.raises(ToolError, match="larger than 9 bytes"):
        await workspace.read_bytes(root / "file", limit=9)


async def test_things_that_are_not_files_are_refused_without_waiting(workspace: LocalWorkspace, root: Path) -> None:
    os.mkfifo(root / "pipe")
    for path, message in [
        (root / "pipe", "device, pipe or socket"),
        (Path("/dev/zero"), "device, pipe or socket"),
        (root, "is a directory"),
        (Path("/"), "is a directory"),
        (root / "missing", "does not exist"),
        (root / "missing" / "too", "does not exist"),
    ]:
        with pytest.raises(ToolError, match=message):
            await workspace.read_text(path)


async def test_writing_where_no_file_can_be_is_refused(workspace: LocalWorkspace, root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "file").write_text("kept")
    for path, message in [
        (root / "pipe", "device, pipe or socket"),
        (root, "is a directory"),
        (Path("/"), "is a directory"),
        (root / "file" / "below", "is a file, not a directory"),
        (root / ("n" * 300), "File name too long"),
    ]:
        with pytest.raises(ToolError, match=message):
            await workspace.write_text(path, "lost")
    assert (root / "file").read_text() == "kept"


async def test_missing_parents_are_made(workspace: LocalWorkspace, root: Path) -> None:
    await workspace.write_text(root / "a" / "b" / "c.txt", "deep")
    assert (root / "a" / "b" / "c.txt").read_text() == "deep"


async def test_permissions_survive_a_write(workspace: LocalWorkspace, root: Path) -> None:
    script = root / "run.sh"
    script.write_text("old")
    script.chmod(0o754)
    await workspace.write_text(script, "new")
    assert stat.S_IMODE(script.stat().st_mode) == 0o754


async def test_a_new_file_gets_the_permissions_the_user_wants(workspace: LocalWorkspace, root: Path) -> None:
    before = os.umask(0o027)
    try:
        await workspace.write_text(root / "file", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((root / "file").stat().st_mode) == 0o640


async def test_a_read_only_file_is_left_as_it_is(workspace: LocalWorkspace, root: Path) -> None:
    (root / "file").write_text("kept")
    (root / "file").chmod(0o444)
    with ordinary_user(root), pytest.raises(ToolError, match="read-only"):
        await workspace.write_text(root / "file", "lost")
    assert (root / "file").read_text() == "kept"


async def test_a_located_link_is_written_through_to_its_target(workspace: LocalWorkspace, root: Path) -> None:
    (root / "target").write_text("old")
    (root / "link").symlink_to("target")
    await workspace.write_text(workspace.locate("link"), "new")
    assert (root / "link").is_symlink()
    assert (root / "target").read_text() == "new"


@pytest.mark.parametrize("swapped", ["dir", "dir/file"])
async def test_a_path_swapped_for_a_link_after_the_check_is_not_followed(
    workspace: LocalWorkspace, root: Path, swapped: str
) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "file").write_text("secret")
    (root / "dir").mkdir()
    (root / "dir" / "file").write_text("mine")
    checked = workspace.locate("dir/file")
    assert workspace.contains(checked)

    (root / swapped).rename(root / "moved")
    (root / swapped).symlink_to(outside if swapped == "dir" else outside / "file")

    with pytest.raises(ToolError, match="symbolic link that was not there"):
        await workspace.read_text(checked)
    with pytest.raises(ToolError, match="symbolic link that was not there"):
        await workspace.write_text(checked, "overwritten")
    assert (outside / "file").read_text() == "secret"


async def test_a_failed_write_leaves_neither_a_change_nor_a_leftover(workspace: LocalWorkspace, root: Path) -> None:
    (root / "file").write_text("kept")
    with pytest.raises(ToolError, match="half a character"):
        await workspace.write_text(root / "file", "bad \ud800")
    assert os.listdir(root) == ["file"]  # noqa: PTH208 - Path.iterdir is not for async functions
    assert (root / "file").read_text() == "kept"


def test_a_reader_that_holds_the_old_file_keeps_the_old_content(root: Path) -> None:
    (root / "file").write_text("old")
    with (root / "file").open() as reader:
        files.replace(root / "file", b"new", temporary=".t")
        assert reader.read() == "old"
    assert [path.name for path in root.iterdir()] == ["file"]


def test_a_leftover_of_the_same_name_is_not_written_into(root: Path) -> None:
    (root / "trap").symlink_to(root.parent / "victim")
    with pytest.raises(ToolError, match="File exists"):
        files.replace(root / "file", b"new", temporary="trap")
    assert not (root.parent / "victim").exists()


@given(content=st.binary(max_size=64), prefix=st.sampled_from([b"", b"\xef\xbb\xbf"]))
def test_what_is_replaced_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, prefix: bytes
) -> None:
    path = Path(os.path.realpath(tmp_path_factory.getbasetemp())) / "round-trip"
    files.replace(path, content, temporary=".t", keep_prefix=b"")
    assert files.read(path, limit=64) == content
    files.replace(path, b"next", temporary=".t", keep_prefix=prefix)
    kept = prefix if content.startswith(prefix) else b""
    assert files.read(path, limit=64) == kept + b"next"


async def test_a_file_is_moved_only_to_a_free_path(workspace: LocalWorkspace, root: Path) -> None:
    (root / "a").write_text("a")
    (root / "b").write_text("b")
    with pytest.raises(ToolError, match=r"/b exists already; nothing was moved"):
        await workspace.move_file(root / "a", target=root / "b")
    await workspace.move_file(root / "a", target=root / "new/deep/a")
    assert (root / "new/deep/a").read_text() == "a"
    assert _names(root) == ["b", "new"]


@pytest.mark.parametrize("error", [errno.EPERM, errno.EOPNOTSUPP])
async def test_where_a_file_cannot_have_two_names_it_is_renamed(
    workspace: LocalWorkspace, root: Path, error: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "link", refuse)
    (root / "a").write_text("a")
    (root / "b").write_text("b")
    with pytest.raises(ToolError, match="exists already"):
        await workspace.move_file(root / "a", target=root / "b")
    await workspace.move_file(root / "a", target=root / "c")
    assert _names(root) == ["b", "c"]


@pytest.mark.parametrize("kind", ["folder", "pipe", "missing"])
async def test_only_files_and_links_are_deleted(workspace: LocalWorkspace, root: Path, kind: str) -> None:
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe")
    with pytest.raises(ToolError, match=r"is a directory|pipe or socket|does not exist"):
        await workspace.delete_file(root / kind)
    with pytest.raises(ToolError, match=r"is a directory|pipe or socket|does not exist"):
        await workspace.move_file(root / kind, target=root / "new")
    assert _names(root) == ["folder", "pipe"]


async def test_nothing_is_deleted_behind_a_link(workspace: LocalWorkspace, root: Path) -> None:
    (root.parent / "outside").mkdir()
    (root.parent / "outside/a").write_text("precious")
    (root / "link").symlink_to(root.parent / "outside")
    with pytest.raises(ToolError, match="symbolic link"):
        await workspace.delete_file(root / "link/a")
    assert (root.parent / "outside/a").read_text() == "precious"
