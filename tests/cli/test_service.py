"""`claw-acp serve --install`: what it writes is what systemd and launchd read."""

import os
import plistlib
import subprocess
from pathlib import Path

import pytest

from claw_acp.cli.serve.service import UNIT, launchd_agent, systemd_unit
from tests.support.toolchain import missing

ENVIRON = {"CLAW_ACP_HOME": '/home/x/my "claw" 100%', "PATH": "/usr/bin:/a b", "HOME": "/home/x", "OTHER": "1"}
FOLDERS = ("plain", "with blanks", "per%cent $HOME", "quo\"te 'd", "back\\slash; #é")


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_unit_is_right_whatever_is_in_its_paths(tmp_path: Path, folder: str) -> None:
    if why := missing("systemd-analyze"):
        pytest.skip(why)
    file = tmp_path / UNIT
    file.write_bytes(systemd_unit([f"/opt/{folder}/python", "serve", "a b", "%h"], environ=ENVIRON, umask=0o027))
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    command = ["systemd-analyze", "--user", "verify", file]
    checked = subprocess.run(command, env=environ, check=False, capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_a_unit_has_the_store_the_programs_and_the_mode_of_new_files() -> None:
    lines = systemd_unit(["/usr/bin/python3", "x y"], environ=ENVIRON, umask=0o002).decode().splitlines()
    assert 'ExecStart=:/usr/bin/env "/usr/bin/python3" "x y"' in lines
    assert [line for line in lines if line.startswith("Environment=")] == [
        r'Environment="CLAW_ACP_HOME=/home/x/my \"claw\" 100%%"',
        'Environment="PATH=/usr/bin:/a b"',
    ]
    assert "UMask=0002" in lines


@pytest.mark.parametrize("folder", FOLDERS)
def test_an_agent_has_the_same_as_a_property_list(folder: str) -> None:
    command = [f"/opt/{folder}/python", "-m", "claw_acp", "serve"]
    read = plistlib.loads(launchd_agent(command, environ=ENVIRON, umask=0o022))
    assert read["ProgramArguments"] == command
    assert read["EnvironmentVariables"] == {name: ENVIRON[name] for name in ("CLAW_ACP_HOME", "PATH")}
    assert (read["Umask"], read["RunAtLoad"]) == (0o022, True)
