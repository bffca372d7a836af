"""The provider that the README builds works when it is installed as the README says."""

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.docs.pages import README, blocks
from tests.support.program.processes import run_program

PROGRAM = """#!/bin/sh
tr a-z A-Z
"""


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """The environment of a process that finds the example among its installed packages."""
    packages, home = tmp_path / "packages", tmp_path / "claw"
    project = tomllib.loads(next(block.body for block in blocks("toml", README) if "[project]" in block.body))[
        "project"
    ]
    points = "\n".join(f"{name} = {value}" for name, value in project["entry-points"]["claw_acp.providers"].items())
    metadata = packages / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    (metadata / "entry_points.txt").write_text(f"[claw_acp.providers]\n{points}\n")
    (packages / "claw_acp_program.py").write_text(blocks("python", README)[0].body)
    home.mkdir()
    settings = next(block.body for block in blocks("toml", README) if 'kind = "program"' in block.body)
    (home / "config.toml").write_text(settings.replace('"rev"', '"rev", "shout", "no-such-program"'))
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "shout").write_text(PROGRAM)
    (programs / "shout").chmod(0o755)
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    return {**os.environ, "PYTHONPATH": str(packages), "CLAW_ACP_HOME": str(home), "PATH": path}


def run(model: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    cwd = Path(environment["CLAW_ACP_HOME"]).parent
    return run_program("run", "--model", model, "hello", cwd=cwd, env=environment)


def test_it_answers_with_what_the_program_prints(installed: dict[str, str]) -> None:
    done = run("program/shout", installed)
    assert (done.returncode, done.stdout.strip()) == (0, "HELLO")


def test_it_says_so_when_the_program_cannot_run(installed: dict[str, str]) -> None:
    done = run("program/no-such-program", installed)
    assert done.returncode == 1
    assert "no-such-program gave no answer" in done.stderr


def test_it_is_tried_again_replaced_and_routed_to_like_any_other(installed: dict[str, str]) -> None:
    config = Path(installed["CLAW_ACP_HOME"]) / "config.toml"
    more = 'retries = 1\nfallback_models = ["shout"]\n[routes]\nloud = "program/no-such-program"\n'
    config.write_text(config.read_text() + more)
    done = run("hint:loud", installed)
    assert (done.returncode, done.stdout.strip()) == (0, "HELLO")
    assert "Trying again in 0." in done.stderr
    assert "program/shout answers instead" in done.stderr


def test_it_is_about_twenty_lines() -> None:
    [example] = blocks("python", README)
    assert len([line for line in example.body.splitlines() if line.strip()]) <= 25
