import os
import shutil
from pathlib import Path

import anyio
import pytest

from claw_acp.contracts.tool import ReadsPath
from claw_acp.core.errors import InvalidArguments, ToolError
from claw_acp.core.json_value import JsonValue
from claw_acp.tools.search.grep import Grep
from tests.support.tool_bench import Bench
from tests.support.toolchain import missing
from tests.tools.trees import plant

grep = Grep()


@pytest.fixture(params=["own search", "ripgrep"], autouse=True)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Every test holds for both engines; ripgrep's turn is skipped where it is not installed."""
    name: str = request.param
    program = shutil.which("rg")
    if name == "ripgrep" and (reason := missing("rg")):
        pytest.skip(reason)
    programs = tmp_path / "programs"
    programs.mkdir()
    if program is not None and name == "ripgrep":
        (programs / "rg").symlink_to(program)
    monkeypatch.setenv("PATH", str(programs))
    return name


async def test_matches_come_by_file_with_their_lines(bench: Bench, root: Path) -> None:
    plant(root, {"b.py": "x\nneedle 1\n", "a/c.py": "needle: 2\r\n\nneedle-3", "z": "hay"})
    text = await bench.text(grep, pattern="needle")
    assert text == "3 matches in 2 files\n\na/c.py\n  1: needle: 2\n  3: needle-3\n\nb.py\n  2: needle 1"


async def test_context_is_shown_once_where_it_overlaps_and_parted_where_it_does_not(bench: Bench, root: Path) -> None:
    plant(root, {"a": "1\n2 x\n3\n4 x\n5\n6\n7\n8 x\n9\n", "b": "x\n"})
    text = await bench.text(grep, pattern="x", context=1)
    assert text.split("\n\n", 1)[1] == (
        "a\n  1- 1\n  2: 2 x\n  3- 3\n  4: 4 x\n  5- 5\n  --\n  7- 7\n  8: 8 x\n  9- 9\n\nb\n  1: x"
    )


@pytest.mark.parametrize(("case", "count"), [("sensitive", 1), ("insensitive", 2)])
async def test_case_matters_unless_told_otherwise(bench: Bench, root: Path, case: str, count: int) -> None:
    plant(root, {"a": "Word\nword\n"})
    assert (await bench.call(grep, pattern="word", case=case)).raw == {"matches": count}


@pytest.mark.parametrize(
    ("glob", "names"),
    [
        ("*.py", ["a.py", "src/b.py"]),
        ("src/*", ["src/b.py", "src/c.ts"]),
        ("*.{ts,md}", ["d.md", "src/c.ts"]),
        ("!*.py", ["d.md", "src/c.ts"]),
        ("*.log", []),
    ],
)
async def test_a_glob_narrows_the_files_and_never_widens_them(
    bench: Bench, root: Path, glob: str, names: list[str]
) -> None:
    plant(root, {"a.py": "x", "src/b.py": "x", "src/c.ts": "x", "d.md": "x", "e.log": "x"})
    (root / ".gitignore").write_text("*.log\n", "utf-8")
    assert await files(bench, pattern="^x", glob=glob) == names


async def files(bench: Bench, **arguments: JsonValue) -> list[str]:
    text = await bench.text(grep, **arguments)
    blocks = text.split("\n\n")[1:]
    return [block.split("\n")[0] for block in blocks if not block.startswith("[")]


async def test_ignored_binary_and_git_files_are_skipped(bench: Bench, root: Path) -> None:
    plant(root, {".git/x": "x", ".gitignore": "out\n*.log\n", "out/x": "x", "x.log": "x", "bin": "\0x", ".dot": "x"})
    plant(root, {"sub/.gitignore": "!y.log\n", "sub/y.log": "x", "sub/out/x": "x"})
    assert await files(bench, pattern="^x") == [".dot", "sub/y.log"]


async def test_rules_of_directories_above_count(bench: Bench, root: Path) -> None:
    plant(root, {".gitignore": "*.log\n/sub/out\n", "sub/x.log": "x", "sub/out/x": "x", "sub/y": "x"})
    assert await files(bench, pattern="x", path="sub") == ["sub/y"]


async def test_an_ignored_place_that_is_named_is_searched(bench: Bench, root: Path) -> None:
    plant(root, {".gitignore": "out\n*.log\n", "out/deep/x": "x", "a.log": "x"})
    assert await files(bench, pattern="x", path="out") == ["out/deep/x"]
    assert await files(bench, pattern="x", path="a.log") == ["a.log"]


async def test_links_are_not_followed(bench: Bench, root: Path) -> None:
    plant(root, {"a/x": "x"})
    plant(root.parent, {"outside/secret": "x"})
    (root / "a/loop").symlink_to(root)
    (root / "out").symlink_to(root.parent / "outside")
    (root / "file").symlink_to(root.parent / "outside/secret")
    assert await files(bench, pattern="x") == ["a/x"]


async def test_what_a_rule_forbids_to_read_is_not_shown(bench: Bench, root: Path) -> None:
    plant(root, {".env": "KEY=x", "a": "KEY=y"})
    bench.may_read = lambda path: path.name != ".env"
    assert await bench.text(grep, pattern="KEY") == "1 match in 1 file\n\na\n  1: KEY=y"


async def test_more_matches_than_asked_for_are_left_out_with_a_note(bench: Bench, root: Path) -> None:
    plant(root, {"a": "x\n" * 50, "b": "x\n"})
    text = await bench.text(grep, pattern="x", max=20)
    assert text.count(": x") == 20
    assert text.endswith("[20 matches in 1 file shown, there are more; use a narrower pattern, path or glob.]")


async def test_the_answer_is_bounded_whatever_is_found(bench: Bench, root: Path) -> None:
    plant(root, {"long": "y" * 2_000_000 + "\n", "many": ("y" * 400 + "\n") * 2_000})
    text = await bench.text(grep, pattern="y", max=1_000, context=10)
    assert len(text) < 102_000
    assert max(len(row) for row in text.split("\n")) < 600
    assert "there are more" in text


async def test_nothing_found_is_said(bench: Bench, root: Path) -> None:
    plant(root, {"a": "x"})
    assert await bench.text(grep, pattern="zebra", glob="*.py") == "Nothing in . matches zebra in files like *.py."


async def test_a_pattern_that_is_no_regular_expression_is_refused_with_its_escaped_form(bench: Bench) -> None:
    with pytest.raises(InvalidArguments) as caught:
        await bench.call(grep, pattern="f(x")
    assert caught.value.message.endswith(r"To search for it as it is, escape it: f\(x")


async def test_look_around_works_with_either_engine(bench: Bench, root: Path) -> None:
    plant(root, {"a": "foobar\nfoobaz\n"})
    assert (await bench.text(grep, pattern=r"foo(?=baz)")).endswith("a\n  2: foobaz")


async def test_a_pattern_that_looks_like_an_option_is_a_pattern(bench: Bench, root: Path) -> None:
    plant(root, {"a": "--files here\n", "-v": "--files there\n"})
    assert await files(bench, pattern="--files") == ["-v", "a"]
    assert await files(bench, pattern="there", path="-v") == ["-v"]


async def test_text_that_is_not_utf8_is_found_and_printable(bench: Bench, root: Path) -> None:
    (root / "latin").write_bytes(b"needle \xe9\n")
    (root / os.fsdecode(b"\xff")).write_bytes(b"needle\n")
    text = await bench.text(grep, pattern="needle")
    text.encode("utf-8")
    assert "latin\n  1: needle \ufffd" in text
    assert "\ufffd\n  1: needle" in text


async def test_a_line_feed_in_the_pattern_is_refused(bench: Bench) -> None:
    with pytest.raises(InvalidArguments, match="within one line"):
        await bench.call(grep, pattern="a\nb")


async def test_a_wrong_glob_is_refused(bench: Bench) -> None:
    with pytest.raises(InvalidArguments, match="braces"):
        await bench.call(grep, pattern="a", glob="*.{py")


async def test_a_missing_place_is_an_error(bench: Bench) -> None:
    with pytest.raises(ToolError, match="absent does not exist"):
        await bench.call(grep, pattern="a", path="absent")


async def test_a_search_that_would_take_for_ever_can_be_cancelled(bench: Bench, root: Path) -> None:
    plant(root, {"a": "a" * 5_000 + "!\n"})
    with anyio.move_on_after(0.3) as scope:
        await bench.call(grep, pattern=r"(?=a)(a+)+$")
    assert scope.cancelled_caught


def test_a_title_is_one_short_line(bench: Bench) -> None:
    title = bench.prepare(grep, pattern=f"\t{'x' * 500}").view.title
    assert title == f"Search for \ufffd{'x' * 78}…"


def test_the_searched_place_is_what_is_read(bench: Bench, root: Path) -> None:
    (root / "out").symlink_to(root.parent)
    call = bench.prepare(grep, pattern="x", path="out", glob="*.py")
    assert call.accesses == (ReadsPath(path=root.parent),)
    assert (call.view.title, call.view.kind) == (f"Search for x in *.py in {root.parent}", "search")
