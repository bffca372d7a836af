"""The files of a project before a command runs, and what had changed when it ended. Everything here blocks.

Whatever the command may destroy must be somewhere else before: in git, as files that are as git has them are, or in the
content store. There go the files that the command names, and of the others those that are small, the newest first,
until the bounds are reached.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from claw_acp.core.events import PathChange, PathState
from claw_acp.core.value import replace
from claw_acp.store.contents import MAX_CONTENT, ContentStore
from claw_acp.workspace.git_blobs import TrackedFiles, git_directory, read_blobs
from claw_acp.workspace.path_states import OTHER, state_by_status, state_of
from claw_acp.workspace.tree_scan import PathStatus, TreeScan

MAX_FILE: Final = 1024 * 1024
"""Bytes of a file that is kept without being named."""
MOST_FILES: Final = 1_000
MOST_BYTES: Final = 32 * 1024 * 1024
"""Of files that are kept for one command without being named."""
MOST_CHANGES: Final = 5_000
"""Changes of one command that are recorded."""
_MOST_DURABLE: Final = 50  # named files that are written through to the disk, at a third of a millisecond each
_MOST_HASHED: Final = 256 * 1024 * 1024  # bytes of changed files that are looked into afterwards

_ENDANGERS_GIT: Final = re.compile(r"\.git(?![\w-])|\b(gc|prune|repack)\b")
_WORDS: Final = re.compile(r"[\s'\"=;|&<>(){}:,]+")


class Surveyor:
    """Makes the surveys of one session. What it has kept and read it does not keep and read again."""

    def __init__(self, store: ContentStore) -> None:
        self._store = store
        self._kept: dict[str, tuple[PathStatus, PathState]] = {}
        self._tracked: dict[str, tuple[object, TrackedFiles]] = {}

    def survey(self, roots: Sequence[Path], *, line: str, cwd: Path) -> "Survey":
        """The present state of all files below the roots, before this command line runs.

        Raises:
            ToolError: A content cannot be kept.
        """
        scan = TreeScan(roots, left_out=self._store.own)
        attributes = [path for path in scan.paths if path.endswith("/.gitattributes")]
        repositories = () if _ENDANGERS_GIT.search(line) else scan.repositories
        blobs: dict[str, tuple[str, str]] = {}
        for directory in repositories:
            files = self._tracked_in(directory, attributes, scan)
            git = str(files.git)
            blobs |= {path: (git, blob) for path, blob in files.found_in(scan.paths).items()}
        named = _named(line, cwd=cwd, scan=scan)
        home = Path.home()
        whole_home = any(home.is_relative_to(root) for root in roots)
        hidden = f"{home}/." if whole_home else "\0"  # keys and settings of the person, no part of a project
        loose = [
            path
            for path, status in scan.paths.items()
            if status.inode and path not in blobs and (path in named or not path.startswith(hidden))
        ]
        return Survey(scan=scan, blobs=blobs, kept=self._keep(loose, named, scan))

    def _tracked_in(self, directory: str, attributes: Sequence[str], scan: TreeScan) -> TrackedFiles:
        """The files that git has of a repository; read again only when its index was written."""
        stamp = (_stamp(git_directory(Path(directory)) / "index"), [scan.paths[path] for path in attributes])
        known = self._tracked.get(directory)
        if known is None or known[0] != stamp:
            known = self._tracked[directory] = stamp, TrackedFiles(directory, attributes=attributes)
        return known[1]

    def _keep(self, loose: Sequence[str], named: frozenset[str], scan: TreeScan) -> Mapping[str, PathState]:
        kept: dict[str, PathState] = {}
        files, size = 0, 0
        for path in sorted(loose, key=lambda path: (path not in named, -scan.paths[path].changed)):
            status = scan.paths[path]
            known = self._kept.get(path)
            if known is None or known[0] != status:
                limit = MAX_CONTENT if path in named else MAX_FILE
                if status.size > limit or files >= MOST_FILES or size + status.size > MOST_BYTES + limit:
                    continue
                files, size = files + 1, size + status.size
                known = (
                    status,
                    state_of(
                        Path(path),
                        store=self._store,
                        limit=limit,
                        durable=path in named and len(named) <= _MOST_DURABLE,
                    ),
                )
            kept[path] = known[1]
        self._kept = {path: (scan.paths[path], state) for path, state in kept.items()}
        return kept

    def changes(self, before: "Survey", roots: Sequence[Path]) -> tuple[PathChange, ...]:
        """The changes since a survey.

        Raises:
            ToolError: A content that only git had cannot be kept.
        """
        scan = TreeScan(roots, left_out=self._store.own)
        paths = sorted(before.scan.changed_until(scan))[:MOST_CHANGES]
        known = self._with_blobs({path: before.state(path) for path in paths}, before)
        room = _MOST_HASHED
        changes: list[PathChange] = []
        for path in paths:
            status = scan.paths.get(path)
            room -= 0 if status is None else status.size
            after = state_of(Path(path), limit=MAX_CONTENT if room > 0 else -1)
            if not after.same_as(known[path]):
                changes.append(PathChange(path=path, before=known[path], after=after))
        return tuple(changes)

    def _with_blobs(self, states: Mapping[str, PathState], before: "Survey") -> dict[str, PathState]:
        """The states, with contents that only git has moved to the store."""
        wanted: dict[str, dict[str, list[str]]] = {}
        for path in states:
            if path in before.blobs:
                git, blob = before.blobs[path]
                wanted.setdefault(git, {}).setdefault(blob, []).append(path)
        known = dict(states)
        for git, blobs in wanted.items():
            for blob, content in read_blobs(Path(git), list(blobs)).items():
                for path in blobs[blob]:
                    if len(content) == known[path].size:  # else it is another text on the disk: line ends
                        known[path] = replace(known[path], digest=self._store.put(content), kept=True)
        return known


class Survey:
    """The files of a project at one moment.

    Attributes:
        scan: All paths.
        blobs: The files that git has: its directory, and the name of the content there.
        kept: The states of those in the content store.
    """

    def __init__(self, *, scan: TreeScan, blobs: Mapping[str, tuple[str, str]], kept: Mapping[str, PathState]) -> None:
        self.scan = scan
        self.blobs = blobs
        self.kept = kept

    def state(self, path: str) -> PathState:
        """The state of a path then, as far as it is known."""
        status = self.scan.paths.get(path)
        if status is None:
            return PathState()
        known = self.kept.get(path)
        if known is not None:
            return known
        state = state_by_status(status.mode, status.size)
        return OTHER if state.kind == "directory" and path not in self.scan.listed else state

    def same_as(self, other: "Survey") -> bool:
        """Return whether two surveys found the same."""
        return (self.scan.paths, self.blobs, self.kept) == (other.scan.paths, other.blobs, other.kept)

    def packed(self) -> bytes:
        """The survey as bytes, to be kept; see `unpacked`."""
        stores = sorted({git for git, _ in self.blobs.values()})
        numbers = {git: number for number, git in enumerate(stores)}
        roots = [path for path in self.scan.listed if path not in self.scan.paths]
        rows = [json.dumps({"git": stores, "roots": roots, "complete": self.scan.complete})]
        for path, status in self.scan.paths.items():
            source = "-"
            if path in self.blobs:
                git, blob = self.blobs[path]
                source = f"{numbers[git]}:{blob}"
            elif path in self.kept:
                source = self.kept[path].digest or "-"
            elif path in self.scan.listed:
                source = "+"
            rows.append(f"{status.mode} {status.size} {status.changed} {status.touched} {status.inode} {source} {path}")
        return "\0".join(rows).encode("utf-8", "surrogateescape")

    @classmethod
    def unpacked(cls, content: bytes) -> "Survey":
        """A survey that was kept."""
        head, *rows = content.decode("utf-8", "surrogateescape").split("\0")
        facts = json.loads(head)
        scan = TreeScan(())
        scan.complete, scan.listed = facts["complete"], set(facts["roots"])
        blobs: dict[str, tuple[str, str]] = {}
        kept: dict[str, PathState] = {}
        for row in rows:
            *numbers, source, path = row.split(" ", 6)
            status = scan.paths[path] = PathStatus(*map(int, numbers))
            if source == "+":
                scan.listed.add(path)
            elif ":" in source:
                number, _, blob = source.partition(":")
                blobs[path] = facts["git"][int(number)], blob
            elif source != "-":
                kept[path] = replace(state_by_status(status.mode, status.size), digest=source, kept=True)
        return cls(scan=scan, blobs=blobs, kept=kept)


def _named(line: str, *, cwd: Path, scan: TreeScan) -> frozenset[str]:
    """The files that the words of a command line name, and those in directories that they name."""
    places = {os.path.normpath(cwd / word) for word in _WORDS.split(line) if word and "\0" not in word}
    files = {place for place in places if place in scan.paths}
    folders = tuple(f"{place}/" for place in files if place in scan.listed)
    return frozenset(files | {path for path in scan.paths if path.startswith(folders)} if folders else files)


def _stamp(path: Path) -> object:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
