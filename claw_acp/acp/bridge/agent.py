"""The agent's process behind a bridge: a running hub, else a child of our own."""

import json
import os
import socket
import struct
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final, cast

from claw_acp.config.hub_socket import SWITCH, hub_path
from claw_acp.core.version import VERSION
from claw_acp.rpc.message import Request, decode, result_line

GREETING: Final = 5.0  # seconds for a hub to introduce itself; one that hangs costs every start as much
RETURN: Final = 3.0  # seconds for a hub that ended to be there again
PAUSE: Final = 0.05  # seconds between two looks
PROCESSES: Final = "claw_acp.process.own_program"
SAME: Final = ("TZ",)
"""Variables that act on a whole process, and not only on what it starts: a hub with other values serves others."""


class Agent:
    """A connected agent process.

    Attributes:
        input_fd: Read for its frames.
        output_fd: Written with ours.
    """

    def __init__(self, input_fd: int, output_fd: int, *, owner: Any) -> None:  # noqa: ANN401 - a socket, or a Popen that is loaded only then
        self.input_fd = input_fd
        self.output_fd = output_fd
        self._owner = owner  # a socket, or a child process
        self._told = False

    def end_output(self) -> None:
        """Tell it that no more will come. Idempotent."""
        if self._told:
            return
        self._told = True
        if isinstance(self._owner, socket.socket):
            try:
                self._owner.shutdown(socket.SHUT_WR)
            except OSError:
                return  # it has ended meanwhile
        else:
            self._owner.stdin.close()

    def close(self) -> None:
        """Close the connection."""
        if isinstance(self._owner, socket.socket):
            self._owner.close()
        else:
            self.end_output()
            self._owner.stdout.close()


def running_hub(environ: Mapping[str, str]) -> Agent | None:
    """The hub of this installation and store, if it is running and may serve this editor."""
    about = {
        "protocolVersion": 1,
        "role": "editor",
        "endpointInfo": {"name": "claw-acp", "version": VERSION},
        "process": {"pid": os.getpid(), "environment": dict(environ)},
    }
    connection = connected_hub(environ, about)
    if connection is None:
        return None
    connection.settimeout(0)
    return Agent(connection.fileno(), connection.fileno(), owner=connection)


def connected_hub(
    environ: Mapping[str, str], about: Mapping[str, Any], *, path: str | None = None
) -> socket.socket | None:
    """A connection to the hub of this installation and store, or to the one at `path`, which was told `about` us.

    None if no hub is running, or it cannot do for an editor what a process of its own would do.
    """
    path = path or hub_path(environ)
    if path is None:
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(GREETING)
        connection.connect(path)
        if _is_own(connection) and _introduced(connection, environ, about):
            return connection
    except OSError:  # nobody listens any more, or it hangs
        pass
    connection.close()
    return None


def next_agent(environ: Mapping[str, str], *, hub: bool) -> Agent:
    """The agent after the last one ended: with `hub`, the hub if it comes back soon; else a process of our own.

    Raises:
        OSError: No process can be started.
    """
    until = time.monotonic() + RETURN
    while hub and time.monotonic() < until:
        if (agent := running_hub(environ)) is not None:
            return agent
        time.sleep(PAUSE)
    child = cast("Callable[[Mapping[str, str]], Any]", import_module(PROCESSES).start_agent)({**environ, SWITCH: "off"})
    return Agent(child.stdout.fileno(), child.stdin.fileno(), owner=child)


def _is_own(connection: socket.socket) -> bool:
    """Return whether the listener runs under our user: it is about to get our environment, with its keys."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True  # macOS: the directory has been looked at
    size = struct.calcsize("3i")
    _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return uid == os.getuid()


def _introduced(connection: socket.socket, environ: Mapping[str, str], about: Mapping[str, Any]) -> bool:
    """Take part in the greeting. False if this hub serves others."""
    line = b""
    while not line.endswith(b"\n"):
        piece = connection.recv(64 * 1024)
        if not piece:
            return False
        line += piece
    greeting = decode(line)
    if not isinstance(greeting, Request) or not isinstance(greeting.params, Mapping):
        return False
    hub = greeting.params.get("process")
    if about["role"] == "editor" and not (isinstance(hub, Mapping) and _is_alike(hub, environ)):
        return False
    connection.sendall(result_line(greeting.id, about))
    return True


def facts(environ: Mapping[str, str]) -> dict[str, Any]:
    """The facts about a process in which an editor's own agent and the hub must be alike."""
    mask = os.umask(0o077)
    os.umask(mask)
    return {"umask": mask, **{name: environ.get(name, "") for name in SAME}}


def _is_alike(hub: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
    own = json.loads(json.dumps(facts(environ)))
    return all(hub.get(name) == value for name, value in own.items())
