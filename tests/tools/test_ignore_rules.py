import subprocess
import time
from pathlib import Path

import pytest

from claw_acp.tools.search.ignore_rules import IgnoreLookup, IgnoreRules
from claw_acp.tools.search.walk import walk
from tests.support.toolchain import missing
from tests.tools.trees import plant

FILES = {
    ".gitignore": "# comment\n*.log\n/top\nbuild/\ndocs/**/*.tmp\n\\#odd\ntrailing \n"
    "!important.log\nfoo/*\n!foo/keep\n",
    "a.log": "",
    "important.log": "",
    "top": "",
    "sub/top": "",
    "build/x": "",
    "sub/build/x": "",
    "docs/a/b/x.tmp": "",
    "docs/x.tmp": "",
    "x.tmp": "",
    "#odd": "",
    "trailing": "",
    "foo/keep": "",
    "foo/drop": "",
    "sub/.gitignore": "!a.log\n/only\n",
    "sub/a.log": "",
    "sub/only": "",
    "sub/deep/only": "",
    "sub/deep/b.log": "",
}


def walked(start: Path, root: Path) -> set[str]:
    rules = IgnoreRules.at(start, roots=[root])
    entries = walk(str(start), rules=rules, pulse=lambda: None)
    return {str(Path(entry.path).relative_to(root)) for entry in entries if entry.kind == "file"}


@pytest.mark.skipif(bool(missing("git")), reason=f"git is what this is compared with: {missing('git')}")
def test_a_walk_finds_what_git_finds(root: Path) -> None:
    plant(root, FILES)
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=root, check=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True).stdout
    assert walked(root, root) == set(listed.split("\0")) - {""}


def test_rules_count_without_a_repository_and_from_a_directory_below(root: Path) -> None:
    plant(root, FILES)
    assert walked(root / "sub", root) == {"sub/.gitignore", "sub/a.log", "sub/top", "sub/deep/only"}


def test_a_single_file_is_judged_as_a_walk_judges_it(root: Path) -> None:
    plant(root, FILES)
    lookup = IgnoreLookup(root, rules=IgnoreRules.at(root, roots=[root]))
    assert {name for name in FILES if not lookup.ignores(root / name)} == walked(root, root)


def test_a_line_that_is_no_pattern_does_not_void_the_others(root: Path) -> None:
    plant(root, {".gitignore": "!\n*.log\n", "a.log": "", "b": ""})
    assert walked(root, root) == {".gitignore", "b"}


def test_a_directory_called_gitignore_is_no_rule(root: Path) -> None:
    plant(root, {".gitignore/x": ""})
    assert walked(root, root) == {".gitignore/x"}


@pytest.mark.parametrize("line", ["*a" * 12 + "b", "*?" * 8 + "b", "[a-z]*" * 10 + "0", "**/a*b*/**/c*d*/**/e*f*g*h"])
def test_a_line_that_is_made_to_take_for_ever_takes_no_time(tmp_path: Path, line: str) -> None:
    (tmp_path / ".gitignore").write_text(line)
    rules = IgnoreRules().entering(str(tmp_path))
    begin = time.process_time()
    assert not rules.ignore(str(tmp_path / ("a" * 200)), directory=False)
    assert time.process_time() - begin < 2  # seconds; before, it was years


def test_lines_with_many_stars_mean_the_same(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("report.[0-9]*.[0-9]*.[0-9]*.[0-9]*.json\n*.a*.b*.c\n")
    rules = IgnoreRules().entering(str(tmp_path))
    names = ["report.20.1.2.3.json", "report.x.1.2.3.json", "x.a1.b2.c", "x.a1.a.b.b2.c", "x.b.a.c"]
    assert [rules.ignore(str(tmp_path / name), directory=False) for name in names] == [True, False, True, True, False]
