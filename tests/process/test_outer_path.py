"""The directories of the PATH from which we start programs ourselves."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from claw_acp.process.outer_path import outer_program, system_program


def brought(project: Path, name: str) -> Path:
    """A program of a project's own environment."""
    program = project / ".venv" / "bin" / name
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


def whole(project: Path) -> str:
    return str(project / ".venv" / "bin")


def relative(_: Path) -> str:
    return ".venv/bin"


def linked_elsewhere(project: Path) -> str:
    """The directory of such programs by another name."""
    link = project.parent / "environment"
    link.symlink_to(project / ".venv" / "bin")
    return str(link)


@pytest.mark.parametrize("placed", [whole, linked_elsewhere, relative])
def test_a_program_of_the_project_is_not_started_in_place_of_one_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, placed: Callable[[Path], str]
) -> None:
    project = tmp_path / "project"
    brought(project, "sh")
    monkeypatch.chdir(project)
    monkeypatch.setenv("PATH", f"{placed(project)}:/usr/bin:/bin")
    ours = shutil.which("sh", path="/usr/bin:/bin")
    assert (outer_program("sh", roots=[project]), system_program("sh")) == (ours, ours)


def test_a_program_that_only_the_project_has_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(brought(tmp_path, "bwrap").parent))
    assert (outer_program("bwrap", roots=[tmp_path]), system_program("bwrap")) == (None, None)
