"""A listing of directories by the status of every path, to find what changed between two. Everything here blocks.

Left out are the inner files of git, and directories whose content programs make again: caches that say so
(CACHEDIR.TAG), environments of Python, installed packages of Node.js.
"""

import os
import stat
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

MOST_PATHS: Final = 50_000
"""The most paths of one scan; directories near the root come first."""

_LEFT_OUT: Final = frozenset({".git", "node_modules", "__pycache__", ".venv", ".tox", ".nox"})
_MARKS: Final = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})


class PathStatus(NamedTuple):
    """The status of a path; two that are equal stand for the same content."""

    mode: int
    size: int
    changed: int  # nanoseconds, of the content
    touched: int  # nanoseconds, of anything
    inode: int

    @property
    def content(self) -> tuple[int, int, int]:
        """What is the same for a content after a file was moved, linked, or got another mode."""
        return self.inode, self.size, self.changed

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file."""
        return stat.S_ISREG(self.mode)


class TreeScan:
    """The paths below some roots at one moment.

    Attributes:
        paths: All that were found, with their status.
        listed: The directories that were looked into.
        complete: False when there were too many paths.
    """

    def __init__(self, roots: Sequence[Path], *, left_out: Sequence[Path] = (), most: int = MOST_PATHS) -> None:
        self.paths: dict[str, PathStatus] = {}
        self.listed: set[str] = set()
        self.repositories: list[str] = []
        self.complete = True
        self._left_out = {str(path) for path in left_out}
        self._roots = [str(root) for root in roots]
        waiting = deque(self._roots)
        while waiting:
            directory = waiting.popleft()
            if directory in self.listed:
                continue
            if len(self.paths) >= most:
                self.complete = False
                break
            waiting.extend(self._list(directory))

    def _list(self, directory: str) -> list[str]:
        below: list[str] = []
        try:
            with os.scandir(directory) as entries:
                found = list(entries)
        except OSError:
            return below
        if directory not in self._roots and any(entry.name in _MARKS for entry in found):
            return below
        self.listed.add(directory)
        for entry in found:
            if entry.name == ".git":
                self.repositories.append(directory)
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISDIR(status.st_mode):
                # the times of a directory tell only that an entry came or went, which the entries tell themselves
                self.paths[entry.path] = PathStatus(status.st_mode, 0, 0, 0, 0)
                if entry.name not in _LEFT_OUT and entry.path not in self._left_out:
                    below.append(entry.path)
            else:
                self.paths[entry.path] = PathStatus(
                    status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
                )
        return below

    def changed_until(self, later: "TreeScan") -> Iterator[str]:
        """The paths that came, went or changed until a later scan, as far as both looked."""
        for path, status in self.paths.items():
            if later.paths.get(path) != status and (path in later.paths or later.knows(path)):
                yield path
        for path in later.paths.keys() - self.paths.keys():
            if self.knows(path):
                yield path

    def knows(self, path: str) -> bool:
        """Return whether a path would have been found: its directory was looked into, or is not there at all."""
        parent = os.path.dirname(path)  # noqa: PTH120 - a hundred thousand paths
        if parent in self.listed or parent == path:
            return parent != path
        status = self.paths.get(parent)
        return (status is None or not stat.S_ISDIR(status.mode)) and self.knows(parent)
