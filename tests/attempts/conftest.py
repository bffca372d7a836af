"""A project in git, with what a person has not committed yet."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.support.editors.editor_fixtures import home, opened, project, spawn

__all__ = ["git", "home", "opened", "project", "spawn"]

Git: TypeAlias = Callable[..., str]

IDENTITY = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"]


def git_in(folder: Path, *arguments: str) -> str:
    """What git prints in a folder."""
    line = ["git", "-C", str(folder), *IDENTITY, "-c", "protocol.file.allow=always", *arguments]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def git(project: Path) -> Git:
    """Git in a project with one commit, a changed file, an untracked one and an ignored one."""
    for path in project.iterdir():
        path.unlink()

    def run(*arguments: str) -> str:
        return git_in(project, *arguments)

    run("init", "-q")
    (project / "a.txt").write_text("one\n")
    (project / ".gitignore").write_text("*.log\n")
    run("add", ".")
    run("commit", "-qm", "first")
    (project / "a.txt").write_text("one\ntwo\n")
    (project / "new.txt").write_text("new\n")
    (project / "trace.log").write_text("ignored\n")
    return run
