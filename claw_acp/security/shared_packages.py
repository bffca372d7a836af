"""The files of installed packages that other projects share, since they are hard links into a store (pnpm, uv, bun).

A sandbox decides by paths: a command that may change the file in the project changes the one in the store with it.
Which of them a command changed is found afterwards: there are thousands, and package managers have to write there.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

MOST_ENTRIES: Final = 50_000
"""The most entries of a folder of packages to look at."""
COARSE: Final = 0.01
"""Seconds by which the time of a change may lie before that of the clock."""

_unshared: Final[dict[Path, int]] = {}
"""The folders in which nothing was shared, with the time of their last change: package managers change them."""


def shared_changes(folders: Iterable[Path], *, since: float) -> Iterator[Path]:
    """The files that were changed and have names elsewhere, too. Blocks: it looks at each file of linked packages.

    Args:
        folders: The folders of packages.
        since: The moment, in seconds since the Unix epoch. A file keeps the time of a change, whatever a program sets.
    """
    for folder in folders:
        try:
            changed_at = folder.lstat().st_mtime_ns
        except OSError:
            continue
        if _unshared.get(folder) == changed_at:
            continue
        linked = [(path, found) for path, found in islice(_files(folder), MOST_ENTRIES) if found.st_nlink > 1]
        if not linked:
            _unshared[folder] = changed_at
        recent = [(path, found) for path, found in linked if found.st_ctime >= since - COARSE]
        names = Counter((found.st_dev, found.st_ino) for _, found in recent)
        yield from (Path(path) for path, found in recent if names[found.st_dev, found.st_ino] < found.st_nlink)


def _files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    waiting = [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        yield entry.path, entry.stat(follow_symlinks=False)
        except OSError:  # it went away, or is closed
            continue
