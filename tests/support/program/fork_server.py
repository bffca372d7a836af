"""Processes of Python programs, forked from one that has loaded what they need.

The server is a child with one thread that never runs any of those programs itself, so each process begins as a fresh
one does; it has its own environment, directory, session and descriptors. What is loaded when, and how much memory that
takes, is another matter: tests about that are marked `spawned`.

Orders come from the process of the tests (`forked_process.py`), and from programs that start programs by the name of
their interpreter (`forked_python.py`). Who orders gets the process id, 0 for a program that has to be started as usual.
"""

import atexit
import fcntl
import gc
import os
import runpy
import select
import signal
import socket
import sys
import termios
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, distribution
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple, NoReturn

LOADED = (
    "claw_acp.acp.server",
    "claw_acp.acp.v1.prompt",
    "claw_acp.acp.v1.sessions",
    "claw_acp.acp.v2.prompt",
    "claw_acp.cli.main",
    "claw_acp.cli.run.command",
    "claw_acp.kit",
    "claw_acp.runtime.attempts",
    "claw_acp.runtime.discovery",
    "claw_acp.runtime.turns",
    "claw_acp.security.command_policy",
    "pydantic.type_adapter",
)
"""Besides tools, commands and providers: what most of our processes load."""

NEEDED: Mapping[str, Sequence[str]] = {
    "sdk_server.py": ("uvicorn", "mcp.server.mcpserver", "mcp.server.sse", "mcp.server.streamable_http_manager"),
}
"""What is loaded when a script of that name is asked for the first time."""

ALL_DESCRIPTORS = 1024


class Order(NamedTuple):
    """A program to start: the arguments of the interpreter, a directory, and an environment."""

    arguments: Sequence[str]
    cwd: str
    env: Mapping[str, str]

    def encoded(self) -> bytes:
        """Its length and its parts."""
        parts = [
            str(len(self.arguments)),
            *self.arguments,
            self.cwd,
            *(f"{name}={self.env[name]}" for name in self.env),
        ]
        data = b"\0".join(map(os.fsencode, parts))
        return len(data).to_bytes(4, "big") + data

    @classmethod
    def decoded(cls, data: bytes) -> "Order":
        """The same, without the length."""
        count, *parts = map(os.fsdecode, data.split(b"\0"))
        size = int(count)
        env = dict(part.split("=", 1) for part in parts[size + 1 :])
        return cls(arguments=parts[:size], cwd=parts[size], env=env)


def exactly(source: socket.socket, size: int) -> bytes:
    """Receive so many bytes."""
    data = b""
    while len(data) < size:
        piece = source.recv(size - len(data))
        if not piece:
            raise ConnectionError("the other side is gone")
        data += piece
    return data


def take_terminal() -> None:
    """Make the terminal on stdin that of the new session, so that Ctrl-C reaches it."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class ForkServer:
    """Forks for whoever connects, until the process of the tests is gone."""

    def __init__(self, tests: socket.socket, programs: socket.socket) -> None:
        self._tests = tests
        self._programs = programs
        self._clients: dict[socket.socket, int] = {}  # who asked for which process; that dies with its client
        self._statuses: dict[int, int] = {}
        self._ended, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, _ignore)

    def serve(self) -> None:
        """Fork until the process of the tests is gone."""
        while True:
            sources = [self._tests, self._programs, *self._clients]
            ready = select.select([self._ended, *sources], [], [])[0]
            if self._ended in ready:
                os.read(self._ended, 4096)
                self._bury()
            for source in sources:
                if source in ready and not self._answer(source):
                    return

    def _answer(self, source: socket.socket) -> bool:
        """Take what somebody says; False when the process of the tests is gone."""
        if source is self._tests:
            return self._obey(source) is not None
        if source is self._programs:
            self._clients[source.accept()[0]] = 0
        elif self._clients[source]:
            self._leave(source)
        elif pid := self._obey(source):
            self._clients[source] = pid
        else:
            self._leave(source)
        return True

    def _obey(self, source: socket.socket) -> int | None:
        """Start a process; None when there is nobody to ask for it."""
        try:
            head, descriptors, _, _ = socket.recv_fds(source, 4, 4)
            if not head:
                return None
            order = Order.decoded(exactly(source, int.from_bytes(head, "big")))
        except ConnectionError:
            return None
        program = _program(order)
        pid = 0 if program is None else os.fork()
        if program is not None and pid == 0:
            _become(program, order, descriptors[:3])
        for number in descriptors[:3]:
            os.close(number)
        if pid:
            self._statuses[pid] = descriptors[3]
        else:
            os.close(descriptors[3])
        with suppress(ConnectionError):  # who asked is gone, which we hear next
            source.sendall(pid.to_bytes(4, "big"))
        return pid

    def _leave(self, client: socket.socket) -> None:
        """Forget a client, and kill what it started with its whole group, as whoever killed it would have."""
        pid = self._clients.pop(client)
        client.close()
        if pid in self._statuses:
            for kill in (os.kill, os.killpg):  # it may have no group yet
                with suppress(ProcessLookupError):
                    kill(pid, signal.SIGKILL)

    def _bury(self) -> None:
        while self._statuses:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            target = self._statuses.pop(pid)
            with suppress(BrokenPipeError):
                os.write(target, str(os.waitstatus_to_exitcode(status)).encode())
            os.close(target)


def _ignore(number: int, frame: object) -> None:
    """Do nothing: the wake-up descriptor reports the signal."""


# ---------------------------------------------------------------------- programs


class Module(NamedTuple):
    """`-m NAME ARGUMENTS`, of ours."""

    name: str
    arguments: Sequence[str]

    def run(self) -> None:
        """Run it as the main module."""
        sys.argv = ["claw-acp" if self.name == "claw_acp" else self.name, *self.arguments]
        runpy.run_module(self.name, run_name="__main__", alter_sys=True)


class Script(NamedTuple):
    """A file of Python, and its arguments."""

    path: str
    code: CodeType
    arguments: Sequence[str]

    def run(self) -> None:
        """Run it as the main module."""
        sys.path[0] = str(Path(self.path).parent)
        sys.argv = [self.path, *self.arguments]
        main = ModuleType("__main__")
        main.__file__ = self.path
        sys.modules["__main__"] = main
        exec(self.code, main.__dict__)  # what the interpreter was asked to run


def _program(order: Order) -> Module | Script | None:
    """The program of an order, with what it needs loaded; None if a fork would be different from a start."""
    if any(order.env.get(name) != os.environ.get(name) for name in ("TZ", "PYTHONHASHSEED")):
        return None
    match [argument for argument in order.arguments if argument not in {"-S", "-s"}]:
        case ["-m", "claw_acp" | "tests.support.servers.vendors_here" as name, *arguments]:
            return Module(name, arguments)
        case [path, *arguments] if path.endswith(".py"):
            _load(NEEDED.get(Path(path).name, ()))
            return Script(path, _compiled(path, Path(path).stat().st_mtime_ns), arguments)
        case _:
            return None


@cache
def _compiled(path: str, written: int) -> CodeType:
    return compile(Path(path).read_bytes(), path, "exec")


def _load(modules: Sequence[str]) -> None:
    if missing := [module for module in modules if module not in sys.modules]:
        for module in missing:
            import_module(module)
        gc.collect()
        gc.freeze()


def _extensions() -> Iterator[EntryPoint]:
    return (entry for entry in distribution("claw-acp").entry_points if entry.group.startswith("claw_acp."))


# ---------------------------------------------------------------------- the life of a process


def _become(program: Module | Script, order: Order, standard: Sequence[int]) -> NoReturn:
    """Run as a new process of the program to its end."""
    code = 1
    try:
        _take_place(order, standard)
        program.run()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException as error:  # noqa: BLE001 - as an interpreter shows it
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        _end(code)


def _take_place(order: Order, standard: Sequence[int]) -> None:
    """Take session, descriptors, environment and directory."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    for target, number in enumerate(standard):
        os.dup2(number, target)
    os.closerange(3, ALL_DESCRIPTORS)
    if os.isatty(0):
        take_terminal()
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ.clear()
    os.environ.update(order.env)
    os.chdir(order.cwd)
    sys.stdin = sys.__stdin__ = open(0)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w")  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", errors="backslashreplace")  # noqa: SIM115
    wanted = order.env.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = [order.cwd, *filter(None, wanted), *(path for path in sys.path[1:] if path not in paths)]


def _end(code: int) -> NoReturn:
    """Exit as an interpreter does."""
    threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)


def main(tests: int, programs: int, executable: str) -> None:
    """Serve on these sockets; started programs find `executable` where they look for their interpreter."""
    sys.executable = executable
    _load([*LOADED, *sorted({entry.module for entry in _extensions()})])
    ForkServer(socket.socket(fileno=tests), socket.socket(fileno=programs)).serve()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
