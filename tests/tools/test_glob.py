import os
from pathlib import Path

import pytest

from claw_acp.contracts.tool import ReadsPath
from claw_acp.core.errors import InvalidArguments, ToolError
from claw_acp.tools.search.glob import Glob
from tests.support.tool_bench import Bench
from tests.tools.trees import plant

glob = Glob()


async def found(bench: Bench, pattern: str, **more: str) -> list[str]:
    return sorted((await bench.text(glob, pattern=pattern, **more)).split("\n"))


async def test_stars_stay_in_a_name_and_double_stars_cross_directories(bench: Bench, root: Path) -> None:
    plant(root, {"a.py": "", "src/b.py": "", "src/deep/c.py": "", "src/d.txt": ""})
    assert await found(bench, "*.py") == ["a.py"]
    assert await found(bench, "**/*.py") == ["a.py", "src/b.py", "src/deep/c.py"]
    assert await found(bench, "src/*.{py,txt}") == ["src/b.py", "src/d.txt"]
    assert await found(bench, "*.py", path="src") == ["src/b.py"]


async def test_an_absolute_pattern_is_taken_apart(bench: Bench, root: Path) -> None:
    plant(root, {"src/b.py": ""})
    assert await found(bench, f"{root}/src/*.py") == ["src/b.py"]


async def test_the_last_changed_comes_first(bench: Bench, root: Path) -> None:
    plant(root, {"a": "", "b": "", "c": ""})
    for name, when in {"a": 200, "b": 300, "c": 100}.items():
        os.utime(root / name, (when, when))
    assert await bench.text(glob, pattern="*") == "b\na\nc"


async def test_ignored_files_and_git_are_skipped(bench: Bench, root: Path) -> None:
    plant(root, {".git/a": "", ".gitignore": "out/\n*.log\n!keep.log\n", "out/a": "", "x.log": "", "keep.log": ""})
    plant(root, {"sub/.gitignore": "!x.log\n", "sub/x.log": "", "sub/out/a": ""})
    assert await found(bench, "**/*") == [".gitignore", "keep.log", "sub/.gitignore", "sub/x.log"]
    assert await found(bench, "out/*") == ["out/a"]


async def test_at_most_a_thousand_paths_come_with_a_note(bench: Bench, root: Path) -> None:
    plant(root, {f"{n:04}": "" for n in range(1_100)})
    text = await bench.text(glob, pattern="*")
    assert len(text.split("\n")) == 1_002
    assert text.endswith("[1,000 of 1,100 matches shown; use a narrower pattern.]")


async def test_a_loop_of_links_ends(bench: Bench, root: Path) -> None:
    plant(root, {"a/x": ""})
    (root / "a/loop").symlink_to(root)
    assert await found(bench, "**/*") == ["a/loop", "a/x"]


async def test_what_a_rule_forbids_to_read_is_not_named(bench: Bench, root: Path) -> None:
    plant(root, {"a": "", ".env": ""})
    bench.may_read = lambda path: path.name != ".env"
    assert await found(bench, "*") == ["a"]


async def test_nothing_found_says_what_would_look_deeper(bench: Bench) -> None:
    assert await bench.text(glob, pattern="*.py") == (
        "No file in . matches *.py. `**/*.py` looks in all directories below."
    )


async def test_a_missing_directory_is_an_error(bench: Bench) -> None:
    with pytest.raises(ToolError, match="absent does not exist"):
        await bench.call(glob, pattern="absent/**/*.py")


def test_a_pattern_that_cannot_be_is_refused_before_anything_runs(bench: Bench) -> None:
    with pytest.raises(InvalidArguments, match="braces"):
        bench.prepare(glob, pattern="*.{py")


def test_a_pattern_that_climbs_out_shows_where_it_reads(bench: Bench, root: Path) -> None:
    call = bench.prepare(glob, pattern="../other/*.py")
    assert call.accesses == (ReadsPath(path=root.parent / "other"),)
    assert bench.prepare(glob, pattern="/etc/*").accesses == (ReadsPath(path=Path("/etc")),)
    assert bench.prepare(glob, pattern="/*").accesses == (ReadsPath(path=Path("/")),)


def test_parent_steps_after_a_star_reach_nothing(bench: Bench, root: Path) -> None:
    assert bench.prepare(glob, pattern="*/../../*").accesses == (ReadsPath(path=root),)
