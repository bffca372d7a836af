"""Extensions: the entry points of installed packages under `[project.entry-points."claw_acp.<kind>"]`.

Built-in providers and tools are in the same list as those of other packages.
"""

import logging
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from claw_acp.core.errors import BrokenExtension
from claw_acp.registry.foreign_code import described
from claw_acp.registry.reference import Ref

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

log = logging.getLogger(__name__)

# Loaded on first use: it brings 2 MB of archive and mail formats, and a server without a session needs none of it.
ENTRY_POINTS: "Ref[Callable[..., EntryPoints]]" = Ref("importlib.metadata:entry_points")

_T = TypeVar("_T")


@cache
def discover(kind: str) -> Mapping[str, Ref[Any]]:
    """Return the references offered under `claw_acp.<kind>`, by name, in alphabetical order. Nothing is imported yet.

    Malformed and duplicate entries are left out with one line in the log; a built-in is never replaced.
    """
    found: dict[str, Ref[Any]] = {}
    offered = installed_points().select(group=f"claw_acp.{kind}")
    points = sorted(offered, key=lambda point: (not _built_in(point.value), point.name))
    for point in points:
        try:
            reference = Ref[Any](point.value)
        except BrokenExtension as error:
            log.warning("extension disabled", extra={"kind": kind, "extension": point.name, "reason": error.message})
            continue
        if found.setdefault(point.name, reference) != reference:
            reason = f"the name is taken by {found[point.name].text}"
            log.warning("extension disabled", extra={"kind": kind, "extension": point.name, "reason": reason})
    return MappingProxyType(dict(sorted(found.items())))


@cache  # reading the metadata of every installed package takes some 20 ms, and packages do not come and go
def installed_points() -> "EntryPoints":
    """The entry points of all installed packages."""
    return ENTRY_POINTS.load()()


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


def _built_in(value: str) -> bool:
    return value.startswith("claw_acp.")
