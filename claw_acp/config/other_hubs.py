"""Hubs of other versions that run on after an update: editors of this version do without them."""

import fcntl
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from claw_acp.config.hub_socket import hub_socket, is_private
from claw_acp.core.version import VERSION

REPLACING: Final = f"Editors of version {VERSION} do without it; `claw-acp serve --detach --replace` starts this one."


def other_hubs(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The running hubs of the same installation and store: version by the path of the socket."""
    own = Path(hub_socket(environ))
    if not own.name or not is_private(str(own)):
        return {}
    ending = own.name.removeprefix(VERSION)
    found = {str(each): each.name.removesuffix(ending) for each in own.parent.glob(f"*{ending}")}
    return {path: version for path, version in found.items() if version != VERSION and _is_owned(path)}


def _is_owned(path: str) -> bool:
    """Return whether a process holds the lock of a socket."""
    try:
        lock = os.open(f"{path}.lock", os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False
