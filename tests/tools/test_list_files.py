import os
from pathlib import Path

import pytest

from claw_acp.contracts.tool import ReadsPath
from claw_acp.core.errors import ToolError
from claw_acp.tools.search.list_files import ListFiles
from tests.support.tool_bench import Bench
from tests.tools.trees import plant

list_files = ListFiles()


async def test_directories_come_first_and_files_have_a_size(bench: Bench, root: Path) -> None:
    plant(root, {"b/inner/deep": "", "b/x": "12", "a.txt": "y" * 1_234, "Z/q": ""})
    (root / "link").symlink_to("b")
    assert await bench.text(list_files) == (
        "./\n  b/\n    inner/ ...\n    x  2 B\n  Z/\n    q  0 B\n  a.txt  1.2 KB\n  link -> b"
    )


async def test_depth_says_how_far_to_look(bench: Bench, root: Path) -> None:
    plant(root, {"a/b/c/d": ""})
    assert await bench.text(list_files, depth=1) == "./\n  a/ ..."
    assert await bench.text(list_files, path="a", depth=9) == "a/\n  b/\n    c/\n      d  0 B"


async def test_ignored_entries_and_git_are_hidden_and_counted(bench: Bench, root: Path) -> None:
    plant(
        root, {".git/HEAD": "", ".gitignore": "*.log\nbuild/\n", "a.log": "", "build/x": "", "src/b.log": "", "k": ""}
    )
    text = await bench.text(list_files)
    assert text == "./\n  src/\n  .gitignore  13 B\n  k  0 B\n\n[3 entries hidden by .gitignore.]"


async def test_an_ignored_directory_that_is_named_is_shown(bench: Bench, root: Path) -> None:
    plant(root, {".gitignore": "build/\n", "build/out/x": ""})
    assert await bench.text(list_files, path="build") == "build/\n  out/\n    x  0 B"


async def test_at_most_a_thousand_entries_come_upper_levels_first(bench: Bench, root: Path) -> None:
    plant(root, {f"aaa/{n:04}": "" for n in range(1_500)} | {"zzz": ""})
    text = await bench.text(list_files)
    assert "\n  zzz  0 B" in text
    assert text.count("\n    ") == 998
    assert "[Only 1,000 entries shown" in text


async def test_a_loop_of_links_is_shown_not_followed(bench: Bench, root: Path) -> None:
    plant(root, {"a/x": ""})
    (root / "a/up").symlink_to(root)
    assert await bench.text(list_files, depth=20) == f"./\n  a/\n    up -> {root}\n    x  0 B"


async def test_strange_names_stay_on_one_line(bench: Bench, root: Path) -> None:
    (root / "two\nlines").touch()
    (root / os.fsdecode(b"\xff")).touch()
    text = await bench.text(list_files)
    assert text == "./\n  two\ufffdlines  0 B\n  \ufffd  0 B"
    text.encode("utf-8")


async def test_an_empty_directory_is_called_empty(bench: Bench) -> None:
    assert "[The directory is empty.]" in await bench.text(list_files)


async def test_a_pipe_is_named_and_not_opened(bench: Bench, root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert "pipe  (device, pipe or socket)" in await bench.text(list_files)


@pytest.mark.parametrize(("path", "reason"), [("a", "a is not a directory. Use read_file"), ("x", "does not exist")])
async def test_what_is_no_directory_is_an_error(bench: Bench, root: Path, path: str, reason: str) -> None:
    (root / "a").touch()
    with pytest.raises(ToolError, match=reason):
        await bench.call(list_files, path=path)


def test_the_listed_directory_is_what_is_read(bench: Bench, root: Path) -> None:
    (root / "out").symlink_to(root.parent)
    call = bench.prepare(list_files, path="out")
    assert call.accesses == (ReadsPath(path=root.parent),)
    assert (call.view.title, call.view.kind) == (f"List {root.parent}", "search")
