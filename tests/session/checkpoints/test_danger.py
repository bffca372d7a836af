"""What a command line may destroy is told by its words: rather too much than too little."""

from pathlib import Path

import pytest

from claw_acp.session.checkpoints.danger import Danger, danger_of
from claw_acp.workspace.tree_scan import TreeScan

FILES = ["a.py", "b.py", "sub/a.py", "sub/deep/c.bin", "build/o.bin", "n/t"]


@pytest.fixture
def scan(tmp_path: Path) -> TreeScan:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name in (".git", "n/.git"):
        (tmp_path / name).mkdir()
    return TreeScan([tmp_path])


def _danger(line: str, scan: TreeScan, root: Path) -> Danger:
    return danger_of(line, cwd=root, scan=scan, roots=[root], repositories=scan.repositories)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("rm a.py", {"a.py"}),
        ("echo x > sub/a.py", {"sub/a.py"}),
        ("rm -r sub", {"sub/a.py", "sub/deep/c.bin"}),
        ("rm *.py", {"a.py", "b.py"}),
        ("rm */*.py", {"sub/a.py"}),
        ("rm s[tu]b/d*/c.bin", {"sub/deep/c.bin"}),
        ("rm -rf *", set(FILES)),
        ("cd sub && rm a.py deep/c.bin", {"a.py", "sub/a.py", "sub/deep/c.bin"}),
        ("make all", set[str]()),
    ],
)
def test_files_that_a_line_names(scan: TreeScan, tmp_path: Path, line: str, named: set[str]) -> None:
    found = {str(Path(path).relative_to(tmp_path)) for path in _danger(line, scan, tmp_path).named}
    assert found & set(FILES) == named


@pytest.mark.parametrize(
    ("line", "vague", "repositories"),
    [
        ("make", False, ""),
        ("rm a.py", False, ""),
        ("rm *.py", False, ""),
        ("rm -r n", False, "n"),
        ("rm -rf *", False, "n"),
        ("for f in *; do rm $f; done", True, ". n"),
        ("find . -name a.py -delete", True, "n"),
        ("find . -delete", True, ". n"),
        ("cd .. && rm -rf project", True, ". n"),
        ("git clean -ffdx", True, "n"),
        ("mv .git x", False, ". n"),
        ("git gc --prune=now", False, ". n"),
    ],
)
def test_repositories_that_a_line_endangers(
    scan: TreeScan, tmp_path: Path, line: str, *, vague: bool, repositories: str
) -> None:
    danger = _danger(line, scan, tmp_path)
    found = {str(Path(path).relative_to(tmp_path)) for path in danger.repositories}
    assert (danger.vague, found) == (vague, set(repositories.split()))


HOSTILE = ["rm " + "*a" * 10_000, "find " * 10_000, "rm " + " ".join(f"d{number}*" for number in range(9_000))]


@pytest.mark.parametrize("line", HOSTILE, ids=["a pattern", "a word", "patterns"])
def test_a_hostile_line_does_not_take_long(tmp_path: Path, line: str) -> None:
    scan = TreeScan([tmp_path])
    for number in range(5_000):
        scan.paths[f"{tmp_path}/{'a' * 200}{number}"] = (0o100644, 0, 0, 0, 1)
    assert not _danger(line, scan, tmp_path).named  # a wrong way to match would take hours
