"""Repositories whose own files would make git run something: seen before, and without effect when a look runs."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from claw_acp.security.git_settings import paths_in_settings
from claw_acp.security.read_only.environment import look_environment
from claw_acp.security.read_only.repository import repository_doubt, tracked_files

ENVIRONMENT = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


def git(*words: str, cwd: Path, **more: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=cwd, env=ENVIRONMENT | more, capture_output=True, text=True, check=False, timeout=20
    )
    return done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one commit and a changed file."""
    root = tmp_path / "project"
    root.mkdir()
    git("init", "-q", "-b", "main", cwd=root)
    (root / "a.txt").write_text("one\n")
    git("add", ".", cwd=root)
    git("commit", "-qm", "first", cwd=root)
    (root / "a.txt").write_text("two\n")
    return root


def configured(name: str, value: str) -> Callable[[Path], None]:
    def configure(root: Path) -> None:
        git("config", name, value, cwd=root)

    return configure


def nested_section(root: Path) -> None:
    with (root / ".git" / "config").open("a") as config:
        config.write("[core] fsmonitor = ./evil\n")


def included(root: Path) -> None:
    (root / "more").write_text("[core]\n\tfsmonitor = ./evil\n")
    configured("include.path", "../more")(root)


def worktree_config(root: Path) -> None:
    configured("extensions.worktreeConfig", "true")(root)
    (root / ".git" / "config.worktree").write_text("[diff]\n\texternal = ./evil\n")


def submodule(root: Path) -> None:
    inner = root / "inner"
    inner.mkdir()
    git("init", "-q", cwd=inner)
    git("commit", "-qm", "x", "--allow-empty", cwd=inner)
    git("add", "inner", cwd=root)
    configured("core.fsmonitor", "./evil")(inner)


def bare_repository(root: Path) -> None:
    for name in ("objects", "refs"):
        (root / "vendor" / name).mkdir(parents=True)
    (root / "vendor" / "HEAD").write_text("ref: refs/heads/main\n")


HOSTILE = {
    "file system monitor": configured("core.fsmonitor", "./evil"),
    "external difference": configured("diff.external", "./evil"),
    "converter": configured("diff.evil.textconv", "./evil"),
    "filter": configured("filter.evil.clean", "./evil"),
    "signature program": configured("gpg.program", "./evil"),
    "pager": configured("core.pager", "./evil"),
    "partial clone": configured("remote.origin.promisor", "true"),
    "configured hook": configured("hook.x.command", "./evil"),
    "section and value in one line": nested_section,
    "included file": included,
    "configuration of the work tree": worktree_config,
    "submodule": submodule,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_repository_that_may_run_a_program_is_told_apart(project: Path, kind: str) -> None:
    assert repository_doubt(project) is None
    HOSTILE[kind](project)
    assert repository_doubt(project) is not None


def test_a_bare_repository_inside_the_project_is_a_doubt(project: Path) -> None:
    bare_repository(project)
    assert "bare repository" in str(repository_doubt(project / "vendor"))


def test_an_ordinary_configuration_is_none(project: Path) -> None:
    for name, value in {
        "remote.origin.url": "https://example.org/x.git",
        "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
        "branch.main.merge": "refs/heads/main",
        "user.email": "me@example.org",
        "pull.rebase": "true",
        "core.hooksPath": ".husky/_",  # put out of force for looks
        "filter.lfs.clean": "git-lfs clean -- %f",
    }.items():
        configured(name, value)(project)
    assert repository_doubt(project) is None
    assert tracked_files(project) == (project, ("a.txt",))


@pytest.mark.parametrize("setting", ["core.fsmonitor", "core.hooksPath"])
def test_a_look_runs_without_what_the_configuration_names(project: Path, tmp_path: Path, setting: str) -> None:
    marker = tmp_path / "ran"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("monitor", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {marker}\n")
        (hooks / name).chmod(0o755)
    value = str(hooks / "monitor") if setting == "core.fsmonitor" else str(hooks)
    git("config", setting, value, cwd=project)
    changed = look_environment("git status", inherited=ENVIRONMENT)
    assert "a.txt" in git("status", "--short", cwd=project, **changed)
    assert not marker.exists()
    git("status", cwd=project)
    assert marker.exists()  # the trap works


def test_what_the_person_set_in_the_environment_for_git_stays_in_force(project: Path) -> None:
    inherited = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "Me"}
    changed = inherited | look_environment("git config --get user.name", inherited=inherited)
    assert git("config", "--get", "user.name", cwd=project, **changed).strip() == "Me"


@pytest.mark.parametrize("line", ["git commit -m x", "git status; make", "git status && touch x"])
def test_a_line_that_does_more_than_look_keeps_the_settings_of_its_repository(line: str) -> None:
    assert look_environment(line, inherited={}) == {}


@pytest.mark.parametrize("name", ["config", "HEAD", "index", "config.worktree", "commondir"])
def test_a_pipe_in_place_of_a_file_of_git_keeps_nobody_waiting(project: Path, name: str) -> None:
    (project / ".git" / name).unlink(missing_ok=True)
    os.mkfifo(project / ".git" / name)
    assert repository_doubt(project)
    assert [str(place) for _, place in paths_in_settings(project, home=project)] == []
