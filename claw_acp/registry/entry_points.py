"""Extensions: the entry points of installed packages under `[project.entry-points."claw_acp.<kind>"]`.

Built-in providers and tools are in the same list as those of other packages.
"""

import logging
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final, TypeVar

from claw_acp.core.errors import BrokenExtension
from claw_acp.registry.foreign_code import described
from claw_acp.registry.installed_points import PREFIX, installed_points
from claw_acp.registry.reference import Ref

log = logging.getLogger(__name__)

ON_DEMAND: Final = "tools_on_demand"
"""Built-in tools that most conversations do not need."""

TOOLS: Final = ("tools", ON_DEMAND)
"""The kinds that are tools."""

_T = TypeVar("_T")


@cache
def discover(*kinds: str) -> Mapping[str, Ref[Any]]:
    """Return the references offered under `claw_acp.<kind>`, by name, in alphabetical order. Nothing is imported yet.

    Malformed and duplicate entries are left out with one line in the log; a built-in is never replaced.
    """
    found: dict[str, Ref[Any]] = {}
    groups = {f"{PREFIX}{kind}" for kind in kinds}
    offered = (point for point in installed_points() if point.group in groups)
    points = sorted(offered, key=lambda point: (not is_built_in(point.value), point.name))
    for point in points:
        kind = point.group.removeprefix(PREFIX)
        try:
            reference = Ref[Any](point.value)
        except BrokenExtension as error:
            log.warning("extension disabled", extra={"kind": kind, "extension": point.name, "reason": error.message})
            continue
        if found.setdefault(point.name, reference) != reference:
            reason = f"the name is taken by {found[point.name].text}"
            log.warning("extension disabled", extra={"kind": kind, "extension": point.name, "reason": reason})
    return MappingProxyType(dict(sorted(found.items())))


def load_extension(reference: Ref[_T], *, kind: str, name: str) -> _T | None:
    """The extension, or None when its module is broken: it disables itself with one line in the log."""
    try:
        return reference.load()
    except BrokenExtension as error:
        reason = error.message
    except BaseException as error:  # noqa: BLE001 - a wall: importing a stranger's module may raise anything
        reason = described(error)
    log.warning("extension disabled", extra={"kind": kind, "extension": name, "reason": reason})
    return None


def is_built_in(value: str) -> bool:
    """Return whether a reference is to a module of this package."""
    return value.startswith(PREFIX)
