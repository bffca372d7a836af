"""A listing of directories by the status of every path, to find what changed between two. Everything here blocks.

Left out are the inner files of git, and directories whose content programs make again: caches that say so
(CACHEDIR.TAG), environments of Python, installed packages of Node.js.
"""

import os
import stat
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

MOST_PATHS: Final = 50_000
"""The most paths of one scan; directories near the root come first."""

_LEFT_OUT: Final = frozenset({".git", "node_modules", "__pycache__", ".venv", ".tox", ".nox"})
_KIND: Final = 0o170000
_MARKS: Final = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})


PathStatus: TypeAlias = tuple[int, int, int, int, int]
"""The status of a path: its mode, its size, when its content and when anything was changed (nanoseconds), its inode.

Two that are equal stand for the same content. A plain tuple, of which there are ten thousands: no work for the garbage
collector.
"""


def is_file(status: PathStatus) -> bool:
    """Return whether it is the status of a regular file."""
    return stat.S_ISREG(status[0])


def content_key(status: PathStatus) -> tuple[int, int, int]:
    """What is the same for a content after its file was moved, linked, or got another mode."""
    _, size, changed, _, inode = status
    return inode, size, changed


class TreeScan:
    """The paths below some roots at one moment.

    Attributes:
        paths: All that were found, with their status.
        listed: The directories that were looked into.
        repositories: Those of them that are git repositories.
        attributes: The files in which git is told how to convert contents.
        complete: False when there were too many paths.
    """

    def __init__(self, roots: Sequence[Path], *, left_out: Sequence[Path] = (), most: int = MOST_PATHS) -> None:
        self.paths: dict[str, PathStatus] = {}
        self.listed: set[str] = set()
        self.repositories: list[str] = []
        self.attributes: list[str] = []
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
        # Ten thousand paths: with their names instead of `scandir`, and little else, it takes a third less.
        below: list[str] = []
        try:
            names = os.listdir(directory)  # noqa: PTH208
        except OSError:
            return below
        if directory not in self._roots and not _MARKS.isdisjoint(names):
            return below
        self.listed.add(directory)
        paths, lstat = self.paths, os.lstat
        before = directory if directory.endswith(os.sep) else f"{directory}{os.sep}"
        for name in names:
            if name == ".git":
                self.repositories.append(directory)
                continue
            path = before + name
            try:
                status = lstat(path)
            except OSError:
                continue
            mode = status.st_mode
            if mode & _KIND == stat.S_IFDIR:
                # the times of a directory tell only that an entry came or went, which the entries tell themselves
                paths[path] = mode, 0, 0, 0, 0
                if name not in _LEFT_OUT and path not in self._left_out:
                    below.append(path)
            else:
                paths[path] = mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
                if name == ".gitattributes":
                    self.attributes.append(path)
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
        return (status is None or not stat.S_ISDIR(status[0])) and self.knows(parent)
