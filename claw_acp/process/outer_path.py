"""Programs that we start by their name, from directories of the PATH that no project controls.

The PATH of a person often begins with the programs of a project's environment, which commands of the project may write.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from claw_acp.core.environment import current_environment

_OF_THE_SYSTEM: Final = frozenset(
    (
        "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/run/wrappers/bin",
        "/run/current-system/sw/bin", "/nix/var/nix/profiles/default/bin", "/home/linuxbrew/.linuxbrew/bin",
        "/opt/homebrew/bin", "/opt/local/bin",
    )
)  # fmt: skip
"""Directories into which a person installs programs for all projects."""


def outer_path(roots: Sequence[Path]) -> str:
    """The directories of the PATH that no project controls."""
    places = os.get_exec_path(current_environment())
    return os.pathsep.join(name for name in places if Path(name).is_absolute() and not _is_inside(Path(name), roots))


def outer_program(name: str, *, roots: Sequence[Path]) -> str | None:
    """The path of a program that is in none of these projects; None: there is none."""
    found = shutil.which(name, path=outer_path(roots))
    return None if found is None or _is_inside(Path(found), roots) else found


def system_program(name: str) -> str | None:
    """The path of a program that no project can bring, whichever projects there are; None: there is none."""
    places = (place for place in os.get_exec_path(os.environ) if place in _OF_THE_SYSTEM)
    return shutil.which(name, path=os.pathsep.join(places))


def _is_inside(path: Path, roots: Sequence[Path]) -> bool:
    try:
        places = {path.absolute(), path.resolve()}
    except (OSError, RuntimeError):
        return True
    return any(place.is_relative_to(root) for place in places for root in roots)
