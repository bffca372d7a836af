"""The entry points of ours that installed packages have.

They are read without `importlib.metadata`, which brings the formats of archives and of mail, and reads the metadata of
all packages: a third of what the first session of a process takes.
"""

import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from claw_acp.core.value import Value
from claw_acp.registry.reference import Ref

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

log = logging.getLogger(__name__)

PREFIX: Final = "claw_acp."
_METADATA: Final = (".dist-info", ".egg-info")
_IN_ARCHIVES: "Ref[Callable[..., EntryPoints]]" = Ref("importlib.metadata:entry_points")


class InstalledPoint(Value):
    """An entry point: `NAME = VALUE` below `[GROUP]`."""

    group: str
    name: str
    value: str


@cache  # packages do not come and go
def installed_points() -> Sequence[InstalledPoint]:
    """Return the entry points of all installed packages whose group begins with `claw_acp.`."""
    try:
        return tuple(point for text in _texts() for point in _points(text))
    except NotADirectoryError:  # an archive of packages
        found = _IN_ARCHIVES.load()()
        points = (point for group in found.groups if group.startswith(PREFIX) for point in found.select(group=group))
        return tuple(InstalledPoint(group=point.group, name=point.name, value=point.value) for point in points)


def _texts() -> Iterator[str]:
    """The entry points of packages with some of ours; the first of several packages of one name counts."""
    seen: set[str] = set()
    for directory in sys.path:
        try:
            names = os.listdir(directory or ".")  # noqa: PTH208 - there are hundreds, and most are passed over
        except (FileNotFoundError, PermissionError):
            continue
        for name in names:
            package = name.partition("-")[0].lower().replace(".", "_")
            if name.endswith(_METADATA) and package not in seen:
                seen.add(package)
                yield from _text(Path(directory, name))


def _text(metadata: Path) -> Iterator[str]:
    try:
        data = (metadata / "entry_points.txt").read_bytes()
        if f"[{PREFIX}".encode() in data:
            yield data.decode()
    except (FileNotFoundError, NotADirectoryError):  # it has none; old packages have a file of metadata
        return
    except (OSError, UnicodeDecodeError) as error:
        log.warning("entry points cannot be read", extra={"folder": str(metadata), "reason": str(error)})


def _points(text: str) -> Iterator[InstalledPoint]:
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif group.startswith(PREFIX) and line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield InstalledPoint(group=group, name=name.strip(), value=value.strip())
