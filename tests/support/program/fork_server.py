"""Processes of the program, forked from one that has loaded it: real in everything but the start of the interpreter.

A fork costs some milliseconds where a start and all imports cost hundreds. The server is a child with one thread that
never runs any of the program itself, so each process begins as a fresh one does; it has its own environment, directory,
session and descriptors. What is loaded when, and how much memory that takes, is another matter: tests about that are
marked `spawned`.
"""

import atexit
import fcntl
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from tests.support.program.process_mark import unmarked

LOADED = (
    "claw_acp.acp.server",
    "claw_acp.acp.v1.prompt",
    "claw_acp.acp.v1.sessions",
    "claw_acp.acp.v2.prompt",
    "claw_acp.cli.main",
    "claw_acp.cli.run.command",
    "claw_acp.cli.serve.command",
    "claw_acp.providers.scripted",
)
FOLLOWED = ("TZ", "PYTHONPATH", "PYTHONHASHSEED")  # what an interpreter reads at its start, and never again
WAITING = 60.0  # seconds


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


def can_fork(env: Mapping[str, str]) -> bool:
    """Return whether a fork is equivalent to a start in this environment, as to the start of the interpreter itself."""
    return os.name == "posix" and all(env.get(name) == os.environ.get(name) for name in FOLLOWED)


def fork(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], descriptors: tuple[int, int, int]
) -> ForkedProcess:
    """`python -m claw_acp ARGUMENTS` in a session of its own, on these descriptors."""
    server = _server()
    status, theirs = os.pipe()
    try:
        order = json.dumps({"arguments": list(arguments), "cwd": str(cwd), "env": dict(env)}).encode()
        socket.send_fds(server, [len(order).to_bytes(4, "big")], [*descriptors, theirs])
        server.sendall(order)
        pid = int.from_bytes(_exactly(server, 4), "big")
    finally:
        os.close(theirs)
    return ForkedProcess(pid, status)


@cache
def _server() -> socket.socket:
    """The fork server of this process; it ends with us."""
    ours, theirs = socket.socketpair()
    with theirs:
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.support.program.fork_server", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            cwd=Path(__file__).parents[3],
            env=unmarked(),
            start_new_session=True,
        )
    atexit.register(_end_server, ours, child)
    ours.settimeout(WAITING)
    return ours


def _end_server(ours: socket.socket, child: "subprocess.Popen[bytes]") -> None:
    ours.close()
    child.wait(WAITING)


def take_terminal() -> None:
    """Make the terminal on stdin that of the new session, so that Ctrl-C reaches it."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


# ---------------------------------------------------------------------- the server


def serve(orders: socket.socket) -> None:
    """Fork for each order until the other side is gone."""
    for module in LOADED:
        import_module(module)
    gc.collect()
    gc.freeze()
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, _ignore)
    statuses: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([orders, ended], [], [])
        if ended in ready:
            os.read(ended, 4096)
            _bury(statuses)
        if orders in ready and not _obey(orders, statuses, inherited=(ended, wake)):
            return


def _ignore(number: int, frame: object) -> None:
    """Do nothing: the wake-up descriptor reports the signal."""


def _obey(orders: socket.socket, statuses: dict[int, int], *, inherited: Sequence[int]) -> bool:
    head, descriptors, _, _ = socket.recv_fds(orders, 4, 4)
    if not head:
        return False
    order = json.loads(_exactly(orders, int.from_bytes(head, "big")))
    *standard, status = descriptors
    pid = os.fork()
    if pid == 0:
        for number in (*inherited, *statuses.values(), orders.fileno(), status):
            os.close(number)
        _become(order, standard)
    for number in standard:
        os.close(number)
    statuses[pid] = status
    orders.sendall(pid.to_bytes(4, "big"))
    return True


def _bury(statuses: dict[int, int]) -> None:
    while statuses:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        target = statuses.pop(pid)
        os.write(target, str(os.waitstatus_to_exitcode(status)).encode())
        os.close(target)


def _become(order: Mapping[str, Any], standard: Sequence[int]) -> NoReturn:
    """Run as a new process of the program to its end."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        for target, number in enumerate(standard):
            os.dup2(number, target)
        for number in standard:
            os.close(number)
        if os.isatty(0):
            take_terminal()
        os.environ.clear()
        os.environ.update(order["env"])
        os.chdir(order["cwd"])
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", errors="backslashreplace")  # noqa: SIM115
        sys.path[0] = order["cwd"]
        sys.argv = ["claw-acp", *order["arguments"]]
        runpy.run_module("claw_acp", run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:  # noqa: BLE001 - as an interpreter shows it
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        _end(code)


def _end(code: int) -> NoReturn:
    """Exit as an interpreter does."""
    atexit.unregister(_end_server)
    threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)


def _exactly(source: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = source.recv(size - len(data))
        if not piece:
            raise ConnectionError("the fork server is gone")
        data += piece
    return data


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
