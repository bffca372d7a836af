"""What is noticed after a command that could change the project."""

import os
from pathlib import Path

import pytest

from claw_acp.security.guarded_survey import MOST_ENTRIES, changes, moved_aside, survey


def planted(folder: Path) -> set[Path]:
    """Change what other programs run, in a folder with a repository."""
    hook = folder / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)
    (folder / ".mcp.json").write_text("{}")
    return {hook, folder / ".mcp.json"}


def test_what_a_command_plants_is_noticed_among_thousands_of_files(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    for folder in (tmp_path, inner):
        (folder / ".git").mkdir(parents=True)
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    before = survey([tmp_path])
    wanted = planted(tmp_path) | planted(inner)
    for folder in (tmp_path, tmp_path / "a"):
        for number in range(MOST_ENTRIES):
            (folder / f"m{number}").mkdir()
    assert {change.path for change in changes(before, survey([tmp_path], known=before))} == wanted


@pytest.mark.parametrize("inner", ["z/inner", "1/2/3/4/5/6/7/inner"], ids=["behind thousands of files", "far down"])
def test_a_repository_that_appears_far_inside_is_noticed(tmp_path: Path, inner: str) -> None:
    for folder in ("a", "b", inner):
        (tmp_path / folder).mkdir(parents=True)
    for number in range(MOST_ENTRIES + 1 if inner.startswith("z") else 0):
        (tmp_path / "a" / f"{number}").touch()
    before = survey([tmp_path])
    git = tmp_path / inner / ".git"
    for name in ("objects", "refs", "hooks"):
        (git / name).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text("[core]\n\tfsmonitor = ./x\n")
    assert [(change.path, change.appeared) for change in changes(before, survey([tmp_path]))] == [(git, True)]


def test_a_text_of_the_same_length_and_date_is_noticed(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    wanted = planted(tmp_path)
    before = survey([tmp_path])
    for path in wanted:
        dates = path.stat().st_atime_ns, path.stat().st_mtime_ns
        path.write_text("x" * path.stat().st_size)
        os.utime(path, ns=dates)
    assert {change.path for change in changes(before, survey([tmp_path]))} == wanted


def test_nothing_is_moved_aside_behind_a_link_that_came_later(tmp_path: Path) -> None:
    root, outside = tmp_path.resolve() / "project", tmp_path.resolve() / "outside"
    for folder in (root / "a", outside):
        folder.mkdir(parents=True)
    before = survey([root])
    for folder in (root / "a", outside):
        (folder / ".mcp.json").write_text("{}")
    (change,) = changes(before, survey([root]))
    (root / "a").rename(root / "b")
    (root / "a").symlink_to(outside)
    assert moved_aside(change) is None
    assert [path.name for path in outside.iterdir()] == [".mcp.json"]
