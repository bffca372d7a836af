"""Processes of the fork server, as the tests see them."""

import atexit
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

from tests.support.program.fork_server import Order, exactly
from tests.support.program.placement import spawned
from tests.support.program.process_mark import unmarked

WAITING = 60.0  # seconds

_ONE_ORDER = threading.Lock()
"""An order and its answer are one conversation: tests start programs in threads, too."""


class ForkedProcess:
    """The interface of `subprocess.Popen` that tests use, for a child of the fork server."""

    def __init__(self, pid: int, status: int) -> None:
        self.pid = pid
        self._status = status
        self._returncode: int | None = None

    @property
    def returncode(self) -> int:
        """The exit code; minus the signal that ended it."""
        assert self._returncode is not None, "it runs"
        return self._returncode

    def poll(self) -> int | None:
        """The exit code; None while it runs."""
        if self._returncode is None and select.select([self._status], [], [], 0)[0]:
            self._take()
        return self._returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end."""
        if self._returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("claw-acp", timeout or 0)
            self._take()
        return self.returncode

    def send_signal(self, sig: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, sig)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def _take(self) -> None:
        self._returncode = int(os.read(self._status, 16) or b"-9")  # nothing: the server itself is gone
        os.close(self._status)


def fork(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], descriptors: tuple[int, int, int]
) -> ForkedProcess | None:
    """A Python program in a session of its own, on these descriptors; None if it has to be spawned.

    Args:
        arguments: Those of the interpreter.
        cwd: Its directory.
        env: Its environment.
        descriptors: Its standard input, output and error.
    """
    with _ONE_ORDER:
        server = _server().orders
    status, theirs = os.pipe()
    try:
        order = Order(arguments, str(cwd), env).encoded()
        with _ONE_ORDER:
            socket.send_fds(server, [order[:4]], [*descriptors, theirs])
            server.sendall(order[4:])
            pid = int.from_bytes(exactly(server, 4), "big")
    finally:
        os.close(theirs)
    if pid:
        return ForkedProcess(pid, status)
    os.close(status)
    return None


def forked_python() -> str:
    """An interpreter for programs that start programs: it forks those that the fork server has loaded.

    In tests that are to have fresh interpreters it is the usual one.
    """
    return sys.executable if spawned() else str(_server().python)


class _Server(NamedTuple):
    """The connection to a fork server, and the interpreter that asks it."""

    orders: socket.socket
    python: Path


@cache
def _server() -> _Server:
    """The fork server of this process; it ends with us."""
    folder = Path(mkdtemp(prefix="fork-"))
    python = folder / "python"
    source = Path(__file__).with_name("forked_python.py").read_text()
    python.write_text(f"#!{sys.executable} -IS\n{source}")
    python.chmod(0o700)
    ours, theirs = socket.socketpair()
    programs = socket.socket(socket.AF_UNIX)
    programs.bind(str(folder / "orders"))
    programs.listen(100)
    with theirs, programs:
        child = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.support.program.fork_server",
                *map(str, (theirs.fileno(), programs.fileno(), python)),
            ],
            pass_fds=[theirs.fileno(), programs.fileno()],
            stdin=subprocess.DEVNULL,
            cwd=Path(__file__).parents[3],
            env=unmarked(),
            start_new_session=True,
        )
    ours.settimeout(WAITING)
    atexit.register(_end_server, ours, child, folder)
    return _Server(ours, python)


def _end_server(ours: socket.socket, child: "subprocess.Popen[bytes]", folder: Path) -> None:
    ours.close()
    child.wait(WAITING)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
