"""Other programs of the same user cannot read the agent; the programs it starts are like any others."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.editors.editor_fixtures import Spawn

pytestmark = [
    pytest.mark.spawned,
    pytest.mark.skipif(sys.platform != "linux", reason="Linux lets a process be unreadable"),
]

NOBODY = 65534
PROGRAM = f"""
import ctypes, os, resource, subprocess, sys
sys.path[:0] = {sys.path!r}
from claw_acp.security.own_process import make_unreadable
import encodings.utf_8, selectors, signal, threading
if os.getuid() == 0:
    os.setgroups([])
    os.setgid({NOBODY})
    os.setuid({NOBODY})
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # as every program begins
if sys.argv[1] == "unreadable":
    make_unreadable()
look = "for file in environ maps; do head -c1 /proc/$PPID/$file >/dev/null 2>&1; echo $?; done"
look += "; head -c1 /proc/$$/environ"
subprocess.run(["/bin/sh", "-c", look], env={{"A": "1", "PATH": "/bin:/usr/bin"}})
print(len(os.listdir("/proc/self/fd")) > 2)
"""


@pytest.mark.parametrize(("how", "environ"), [("unreadable", "1"), ("as it was", "0")])
def test_a_child_of_the_same_user_cannot_read_us_and_can_itself_be_read(how: str, environ: str) -> None:
    said = subprocess.run([sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=True, cwd="/")
    assert said.stdout.split() == [
        environ,
        environ,
        "ATrue",
    ]  # exit codes for both files, its own first letter, our own


async def test_the_agent_has_turned_core_files_off_before_it_opens_a_session(spawn: Spawn) -> None:
    def limits(pid: int) -> str:
        return " ".join(Path(f"/proc/{pid}/limits").read_text().split())

    async with spawn() as editor:
        await editor.initialize()
        await editor.new_session()
        assert "Max core file size 0 " in limits(editor.process.pid)
