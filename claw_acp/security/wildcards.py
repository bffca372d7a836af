"""The files that a wildcard of a command line matches, with a bound on how much of the disk is looked at."""

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

MOST_MATCHES: Final = 2_000
MOST_ENTRIES: Final = 10_000
"""Names in directories that are compared with the parts of one pattern."""


def wildcard_matches(pattern: str, *, base: Path) -> list[str] | None:
    """Names as the shell writes them, relative to `base`; None where there are too many to be looked at.

    Only `*` and `?` are known. `**` is `*`; a leading dot is matched only by a dot; links to directories are followed.
    """
    found, seen = [""], 0
    parts = pattern.split("/")
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        names: list[str] = []
        for prefix in found:
            for name in _names(base / prefix, part):
                seen += 1
                if seen > MOST_ENTRIES:
                    return None
                if name is not None:
                    names.append(f"{prefix}{name}" if last else f"{prefix}{name}/")
        found = names
        if len(found) > MOST_MATCHES:
            return None
    return found


def _names(directory: Path, part: str) -> Iterator[str | None]:
    """Each entry of a directory that fits one part of a pattern; None for each that does not."""
    if "*" not in part and "?" not in part:
        yield part if os.path.lexists(directory / part) else None
        return
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                hidden = entry.name.startswith(".") and not part.startswith(".")
                yield entry.name if not hidden and fnmatchcase(entry.name, part) else None
    except OSError:
        return
