"""The Unix sockets of this machine: through one of them a confined program could have others act for it."""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

VARIABLES: Final = (
    "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "DISPLAY", "DOCKER_HOST", "GNOME_KEYRING_CONTROL",
    "GPG_AGENT_INFO", "NVIM", "SSH_AGENT_PID", "SSH_AUTH_SOCK", "TMUX", "VSCODE_IPC_HOOK_CLI", "WAYLAND_DISPLAY",
    "WSL_INTEROP", "XDG_RUNTIME_DIR",
)  # fmt: skip
"""Variables that lead programs to sockets, or to the directory of sockets."""

_LISTED: Final = Path("/proc/net/unix")
_MOUNTED: Final = Path("/proc/self/mountinfo")
_PATH_COLUMN: Final = 7
_MOUNT_COLUMN: Final = 4


def path_sockets(environ: Mapping[str, str]) -> Iterator[str]:
    """The sockets that have a path: those that are open now, those mounted from elsewhere, and those of variables."""
    for text in {*_mounts(), *_named(environ), *_open_sockets()}:
        with suppress(OSError, ValueError):
            if stat.S_ISSOCK(os.lstat(text).st_mode):
                yield os.path.realpath(text)


def _open_sockets() -> Iterator[str]:
    for line in _lines(_LISTED):
        columns = line.split(" ", _PATH_COLUMN)  # of fixed width, but for the path at the end
        path = columns[-1].lstrip() if len(columns) > _PATH_COLUMN else ""
        start = path.find("/")
        if start >= 0 and "@" not in path[:start]:
            yield path[start:]


def _mounts() -> Iterator[str]:
    """The mount points: a container is given the socket of its daemon by mounting it."""
    for line in _lines(_MOUNTED):
        yield line.split(" ", _MOUNT_COLUMN + 1)[_MOUNT_COLUMN].encode("latin-1").decode("unicode_escape")


def _named(environ: Mapping[str, str]) -> Iterator[str]:
    for name in VARIABLES:
        for part in environ.get(name, "").split(","):
            start = part.find("/")
            if start >= 0:
                yield "/" + part[start:].lstrip("/")


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:  # no such kernel
        return []
