"""A check inside the sandbox that each mount is what it was meant to be.

Bubblewrap is given paths. While it starts, another program that may change the project can put a link in place of a
directory, and what that leads to would be mounted, where it can be written or although it is hidden. The kernel's list
of mounts tells what really came of each path.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from claw_acp.sandbox.mounts import Kind, is_below

_LISTED: Final = Path("/proc/self/mountinfo")
_DEVICE, _ROOT, _POINT = 2, 3, 4  # columns
_ESCAPED: Final = re.compile(r"[ \t\n\\]")
CHECKED: Final[frozenset[Kind]] = frozenset(("entry", "read_only", "writable"))

_CHECK: Final = """
seen='
'
while read -r _ _ device root point _; do seen="$seen$device $root $point
"; done < /proc/self/mountinfo
while [ "$1" != -- ]; do
case $seen in
*"
$1
"*) shift ;;
*) echo "claw-acp: ${1##* } was replaced while the sandbox was made, so the command did not run" >&2; exit 126 ;;
esac
done
shift
exec "$@"
"""
"""Only what a shell does by itself: programs may be the project's own."""


def with_checked_mounts(
    argv: Sequence[str], *, mounts: Sequence[tuple[str, Kind]], kinds: frozenset[Kind] = CHECKED
) -> tuple[str, ...]:
    """The command line, which does not run if a mount inside a writable directory is not what was at its path.

    Args:
        argv: The command line.
        mounts: The mounts.
        kinds: Those that the sandbox mounts onto themselves.
    """
    writable = [path for path, kind in mounts if kind == "writable"]
    inside = [
        path for path, kind in mounts if kind in kinds and any(is_below(path, directory) for directory in writable)
    ]
    return ("/bin/sh", "-c", _CHECK, "sh", *_lines(inside), "--", *argv) if inside else tuple(argv)


def _lines(paths: Sequence[str]) -> list[str]:
    """The lines of the kernel's list that mounting these paths onto themselves leads to: device, root, path."""
    rows = [line.split(" ", _POINT + 1) for line in _LISTED.read_text("utf-8", "surrogateescape").splitlines()]
    known = {row[_POINT]: (row[_DEVICE], row[_ROOT]) for row in rows}
    return [_line(_ESCAPED.sub(lambda found: f"\\{ord(found[0]):03o}", path), known) for path in paths]


def _line(path: str, known: dict[str, tuple[str, str]]) -> str:
    point = path
    while point not in known and point != os.sep:
        point = os.path.dirname(point)  # noqa: PTH120 - text
    device, root = known.get(point, ("", ""))
    return f"{device} {os.path.normpath(f'{root}/{path[len(point) :]}')} {path}".replace(" //", " /")
