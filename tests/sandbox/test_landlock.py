"""Landlock as it is used in sessions, where our own directories are unreadable for commands."""

import subprocess
from pathlib import Path

import pytest

from claw_acp.contracts.launch import Launch
from claw_acp.contracts.sandbox import SandboxProfile
from claw_acp.sandbox.files import SandboxFiles
from claw_acp.sandbox.landlock.backend import candidates


def test_a_command_runs_although_our_own_files_are_hidden_from_it(project: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "sandbox").mkdir(mode=0o700, parents=True)
    backends = list(candidates(SandboxFiles(own / "sandbox")))
    if not backends:
        pytest.skip("this machine has no Landlock")
    profile = SandboxProfile(writable=(project,), unreadable=(own,), temporary=project)
    launch = Launch(argv=("cat", "/etc/hostname"), env={"PATH": "/usr/bin:/bin"}, cwd=project)
    confined = backends[0].confine(profile)(launch)
    done = subprocess.run(confined.argv, env=confined.env, cwd=project, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
