"""`python -m claw_acp` as a process: forked from one that has loaded it, in `spawned` tests a fresh interpreter."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Protocol

from tests.support.program.fork_server import take_terminal
from tests.support.program.forked_process import fork
from tests.support.program.placement import spawned

PROGRAM = (sys.executable, "-m", "claw_acp")
LIMIT = 60.0  # seconds; only a hang takes that long


class Child(Protocol):
    """A running process, with the interface of `subprocess.Popen`."""

    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def send_signal(self, sig: int) -> None: ...

    def kill(self) -> None: ...


def start_process(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: int, stdout: int, stderr: int
) -> Child:
    """Start a process in a session of its own, on these descriptors; a terminal as its stdin becomes the session's."""
    if command[0] == sys.executable and not spawned():
        forked = fork(command[1:], cwd=cwd, env=env, descriptors=(stdin, stdout, stderr))
        if forked is not None:
            return forked
    return subprocess.Popen(
        list(command),
        cwd=cwd,
        env=env,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
        preexec_fn=take_terminal if os.isatty(stdin) else None,  # noqa: PLW1509 - Ctrl-C must reach it
    )


def run_program(
    *arguments: str, cwd: Path, env: Mapping[str, str], text: str | None = None, timeout: float = LIMIT
) -> subprocess.CompletedProcess[str]:
    """Run it to its end; `text` is its input, None the null device."""
    with TemporaryFile() as said, TemporaryFile() as complained, _input(text) as given:
        descriptors = {"stdin": given.fileno(), "stdout": said.fileno(), "stderr": complained.fileno()}
        child = start_process([*PROGRAM, *arguments], cwd=cwd, env=env, **descriptors)
        try:
            code = child.wait(timeout)
        finally:
            child.kill()
        said.seek(0)
        complained.seek(0)
        return subprocess.CompletedProcess(
            [*PROGRAM, *arguments], code, stdout=said.read().decode(), stderr=complained.read().decode()
        )


def _input(text: str | None) -> IO[bytes]:
    if text is None:
        return open(os.devnull, "rb")  # noqa: PTH123
    file = TemporaryFile()  # noqa: SIM115 - closed by the caller
    file.write(text.encode())
    file.seek(0)
    return file
