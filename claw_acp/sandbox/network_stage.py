"""The last stage before a confined command that may reach the network: gives our proxy a door inside.

The command has a network of its own, in which nothing is reachable. This stage listens there on loopback, and hands
the listening socket to the proxy over a Unix socket; then it becomes the command. So nothing has to relay inside, and
nothing of ours runs beside the command. An isolated Python runs it as a file: 8 ms, as long as little is imported.
"""

import _socket
import os
import sys
from _signal import (  # pyright: ignore[reportMissingImports] - `signal` would take 4 ms
    SIG_DFL,  # pyright: ignore[reportUnknownVariableType]
    SIGPIPE,  # pyright: ignore[reportUnknownVariableType]
    SIGXFSZ,  # pyright: ignore[reportUnknownVariableType]
    signal,  # pyright: ignore[reportUnknownVariableType]
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

ENTRANCE = "/run/claw-acp/proxy"
"""The place of the proxy's Unix socket inside: in a directory that is new for each command, so no other one sees it."""

BACKLOG = 512  # connections that wait until the proxy accepts them
CANNOT_RUN, NOT_FOUND = 126, 127  # exit codes of shells

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
DIRECT = ("NO_PROXY", "no_proxy")
OWN_LOOPBACK = "localhost,127.0.0.1,::1"


def behind_proxy(argv: tuple[str, ...], *, socket: str = ENTRANCE, python: str = "") -> tuple[str, ...]:
    """The command line that runs another one behind the proxy with this Unix socket; for a network of its own.

    Args:
        argv: The other command line.
        socket: The Unix socket of the proxy.
        python: A Python of a place where our files are not; empty: our own one.
    """
    if not python:
        return sys.executable, "-I", "-S", __file__, socket, *argv
    with open(__file__, encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes longer than all the rest
        return python, "-I", "-S", "-c", file.read(), socket, *argv


def main(socket: str, *command: str) -> None:
    """Become `command`, behind the proxy."""
    try:
        port = open_door(socket)
    except OSError as error:
        leave(f"the proxy for the network cannot be reached: {error.strerror}", CANNOT_RUN)
    environment = {**original_environment(), **variables(port)}
    # Python ignores these, and what is ignored stays so in the next program.
    signal(SIGPIPE, SIG_DFL)
    signal(SIGXFSZ, SIG_DFL)
    try:
        os.execvpe(command[0], command, environment)  # noqa: S606 - no shell is wanted
    except OSError as error:
        code = NOT_FOUND if isinstance(error, FileNotFoundError) else CANNOT_RUN
        leave(f"{command[0]} cannot be run: {error.strerror}", code)


def open_door(path: str) -> int:
    """Hand a listening socket to the proxy; returns its port."""
    listening = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    listening.bind(("127.0.0.1", 0))
    listening.listen(BACKLOG)
    proxy = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    proxy.connect(path)
    descriptor = listening.fileno().to_bytes(4, sys.byteorder)
    proxy.sendmsg([b"\0"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptor)])
    port = listening.getsockname()[1]
    proxy.close()
    listening.close()  # the proxy has it
    return port


def variables(port: int) -> dict[bytes, bytes]:
    """The variables by which programs find the proxy."""
    address = f"http://127.0.0.1:{port}".encode()
    found = {name.encode(): address for name in PROXIES}
    found |= {name.encode(): OWN_LOOPBACK.encode() for name in DIRECT}
    return {**found, b"NODE_USE_ENV_PROXY": b"1"}


def original_environment() -> dict[bytes, bytes]:
    """The variables that this process was started with: Python itself adds one where there is no locale."""
    with open("/proc/self/environ", "rb") as file:  # noqa: PTH123 - pathlib takes longer than all the rest
        entries = file.read().split(b"\0")
    return {name: value for name, sign, value in (entry.partition(b"=") for entry in entries) if sign}


def leave(message: str, code: int) -> "NoReturn":
    """End with a message."""
    os.write(2, f"claw-acp: {message}\n".encode())
    os._exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
