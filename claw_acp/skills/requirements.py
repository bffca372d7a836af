"""What a skill needs and this machine lacks."""

import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from claw_acp.skills.skill import Needs

_SYSTEMS: Final = {"darwin": {"darwin", "macos"}, "win32": {"win32", "windows"}}


def missing(needs: Needs, *, environ: Mapping[str, str], tools: Collection[str]) -> Sequence[str]:
    """The needs that are not met, in words; none for most skills.

    Args:
        needs: What is needed.
        environ: The variables, with the PATH on which programs are looked for.
        tools: The names of tools.
    """
    path = environ.get("PATH", "")
    lacks = [f"the program {name}" for name in needs.programs if shutil.which(name, path=path) is None]
    if needs.any_program and not any(shutil.which(name, path=path) for name in needs.any_program):
        lacks.append(f"one of the programs {', '.join(needs.any_program)}")
    lacks += [f"the environment variable {name}" for name in needs.variables if not environ.get(name)]
    lacks += [f"the tool {name}" for name in needs.tools if name not in tools]
    if needs.systems and not _SYSTEMS.get(sys.platform, {sys.platform}).intersection(needs.systems):
        lacks.append(f"the system {' or '.join(needs.systems)}")
    return lacks
