"""The address of the hub: the Unix socket where a running `claw-acp serve` is found. Standard library only (boot path).

Programs of different installations, versions or stores never meet, because all three are part of the socket's name:
the version in front, so that hubs of other versions can be found.
"""

import os
import stat
from binascii import crc32
from collections.abc import Mapping
from typing import Final

from claw_acp.core.version import VERSION

LONGEST: Final = 100  # bytes of a path; 107 is where Linux ends, 103 where macOS does
SWITCH: Final = "CLAW_ACP_HUB"
"""The environment variable that, set to `off`, keeps a program from looking for a hub."""

_INSTALLATION: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - no pathlib
STORE: Final = (
    "CLAW_ACP_HOME", "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
)  # fmt: skip
"""The variables that decide where settings and sessions are kept."""


def hub_socket(environ: Mapping[str, str]) -> str:
    """The path of the socket; empty where the system has no Unix sockets. Nothing is created.

    It is `run/` below `CLAW_ACP_HOME`, else the user's runtime directory (XDG Base Directory Specification), also where
    an editor that was not started from a login lacks the variable; else a directory of the user's own in `/tmp`.
    """
    if not hasattr(os, "getuid"):
        return ""
    identity = "\0".join((_INSTALLATION, *(environ.get(name, "") for name in STORE)))
    name = f"{VERSION}-{crc32(identity.encode(errors='surrogateescape')):08x}.sock"
    for directory in _directories(environ):
        path = os.path.join(directory, name)  # noqa: PTH118 - no pathlib
        if len(os.fsencode(path)) <= LONGEST:
            return path
    return ""


def hub_path(environ: Mapping[str, str]) -> str | None:
    """The path of the socket if it is there; None too where looking for it is switched off, or others could lay it."""
    path = "" if environ.get(SWITCH) == "off" else hub_socket(environ)
    return path if path and os.path.exists(path) and is_private(path) else None  # noqa: PTH110 - no pathlib


def is_private(path: str) -> bool:
    """Return whether only this user can create files beside `path`, so that whoever listens there is this user."""
    try:
        facts = os.lstat(os.path.dirname(path))  # noqa: PTH120 - no pathlib
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid() and not facts.st_mode & 0o022


def _directories(environ: Mapping[str, str]) -> list[str]:
    own = f"/tmp/claw-acp-{os.getuid()}"  # noqa: S108 - its owner and mode are checked
    if home := environ.get("CLAW_ACP_HOME"):
        if home.startswith("~/"):
            home = environ.get("HOME", "") + home[1:]
        return [os.path.join(os.path.abspath(home), "run"), own]  # noqa: PTH100, PTH118 - no pathlib
    given = environ.get("XDG_RUNTIME_DIR", "")
    usual = f"/run/user/{os.getuid()}"
    runtime = next((place for place in (given, usual) if os.path.isabs(place) and os.path.isdir(place)), None)  # noqa: PTH112, PTH117
    return [own] if runtime is None else [f"{runtime}/claw-acp", own]
