"""The files of a project before a command runs, and what had changed when it ended. Everything here blocks.

Whatever the command may destroy must be somewhere else before: in git, as files that are as git has them are, or in the
content store. There go the files that the command may be about (see `danger`), and of the others those that are small,
the newest first, until the bounds are reached.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from claw_acp.core.events import PathChange, PathState
from claw_acp.core.value import Value, replace
from claw_acp.session.checkpoints.danger import Danger, danger_of
from claw_acp.session.checkpoints.survey import GIT, Survey
from claw_acp.store.contents import MAX_CONTENT, ContentStore, digest_of
from claw_acp.workspace.git_blobs import TrackedFiles, git_directory, read_blobs
from claw_acp.workspace.path_states import ABSENT, OTHER, state_of
from claw_acp.workspace.tree_scan import PathStatus, TreeScan, content_key, is_file

MOST_CHANGES: Final = 5_000
"""Changes of one command that are recorded."""
_MOST_DURABLE: Final = 50  # named files that are written through to the disk, at a third of a millisecond each
_MOST_HASHED: Final = 256 * 1024 * 1024  # bytes of changed files that are looked into afterwards


class Bounds(Value):
    """The bounds of what is kept before one command: bytes of one file, and files and bytes in all."""

    size: int
    files: int
    total: int


_MIB: Final = 1024 * 1024
NAMED: Final = Bounds(size=MAX_CONTENT, files=20_000, total=256 * _MIB)
"""For files that the command names, or finds in directories that it names."""
THREATENED: Final = Bounds(size=8 * _MIB, files=20_000, total=128 * _MIB)
"""For the others, when the command removes files that it does not name."""
OTHERS: Final = Bounds(size=_MIB, files=1_000, total=32 * _MIB)


class _Room:
    """What is left of some bounds."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self._files = bounds.files
        self._total = bounds.total

    def takes(self, size: int) -> bool:
        """Return whether a file of this size still fits, and take its place."""
        if size > self.bounds.size or size > self._total or not self._files:
            return False
        self._files, self._total = self._files - 1, self._total - size
        return True


class Surveyor:
    """Makes the surveys of one session. What it has kept and read it does not keep and read again."""

    def __init__(self, store: ContentStore, *, most: int, others: Bounds) -> None:
        self._store = store
        self._most = most
        self._others = others
        self._kept: dict[str, tuple[PathStatus, PathState]] = {}
        self._tracked: dict[str, tuple[object, TrackedFiles]] = {}
        self._last: tuple[list[TrackedFiles], Mapping[str, PathStatus], dict[str, tuple[str, str]]] | None = None

    def scan(self, roots: Sequence[Path]) -> TreeScan:
        """All paths below the roots."""
        return TreeScan(roots, left_out=self._store.own, most=self._most)

    def survey(self, scan: TreeScan, roots: Sequence[Path], *, line: str, cwd: Path) -> Survey:
        """The present state of all files, before this command line runs.

        Raises:
            ToolError: A content cannot be kept.
        """
        repositories = [*scan.repositories, *_repositories_above(roots)]
        danger = danger_of(line, cwd=cwd, scan=scan, roots=roots, repositories=repositories)
        blobs = self._blobs(scan, roots, [each for each in repositories if each not in danger.repositories])
        home = Path.home()
        whole_home = any(home.is_relative_to(root) for root in roots)
        hidden = f"{home}/." if whole_home else "\0"  # keys and settings of the person, no part of a project
        loose = [
            path
            for path in scan.paths.keys() - blobs.keys()
            if not stat.S_ISDIR(scan.paths[path][0]) and (path in danger.named or not path.startswith(hidden))
        ]
        heads = {directory: _history(git_directory(Path(directory))) for directory in repositories}
        return Survey(scan=scan, blobs=blobs, kept=self._keep(loose, danger, scan), heads=heads)

    def _blobs(
        self, scan: TreeScan, roots: Sequence[Path], repositories: Sequence[str]
    ) -> Mapping[str, tuple[str, str]]:
        """The files that git has; looked up again for those that have changed, while git's indexes have not."""
        tracked = [self._tracked_in(directory, scan, roots) for directory in repositories]
        blobs: dict[str, tuple[str, str]] = {}
        changed: Iterable[str] = scan.paths
        if self._last is not None and self._last[0] == tracked:
            _, paths, blobs = self._last
            blobs = {path: blob for path, blob in blobs.items() if paths[path] == scan.paths.get(path)}
            changed = [path for path, status in scan.paths.items() if paths.get(path) != status]
        for files in tracked:
            files.find(changed, scan.paths, blobs)
        self._last = tracked, scan.paths, blobs
        return blobs

    def _tracked_in(self, directory: str, scan: TreeScan, roots: Sequence[Path]) -> TrackedFiles:
        """The files that git has of a repository; read again only when its index was written."""
        top = Path(directory)
        above = [place for root in roots for place in root.parents if place.is_relative_to(top)]
        attributes = [*scan.attributes, *(str(place / ".gitattributes") for place in above)]
        stamp = (_stamp(git_directory(top) / "index"), [_stamp(Path(path)) for path in attributes])
        known = self._tracked.get(directory)
        if known is None or known[0] != stamp:
            known = self._tracked[directory] = stamp, TrackedFiles(directory, attributes=attributes)
        return known[1]

    def _keep(self, loose: Sequence[str], danger: Danger, scan: TreeScan) -> Mapping[str, PathState]:
        kept: dict[str, PathState] = {}
        named, others = _Room(NAMED), _Room(THREATENED if danger.vague else self._others)
        durable = danger.named if len(danger.named) <= _MOST_DURABLE else frozenset[str]()
        for path in sorted(loose, key=lambda path: (path not in danger.named, -scan.paths[path][2])):
            status = scan.paths[path]
            known = self._kept.get(path)
            if known is None or known[0] != status:
                room = named if path in danger.named else others
                if not room.takes(status[1]):
                    continue
                size = room.bounds.size
                known = status, state_of(Path(path), store=self._store, limit=size, durable=path in durable)
            kept[path] = known[1]
        self._kept = {path: (scan.paths[path], state) for path, state in kept.items()}
        return kept

    def changes(self, before: "Survey", scan: TreeScan) -> tuple[PathChange, ...]:
        """The changes from a survey to a later scan. For a repository whose history changed, that of its `.git`.

        Raises:
            ToolError: A content that only git had cannot be kept.
        """
        paths = sorted(before.scan.changed_until(scan))[:MOST_CHANGES]
        known = self._with_blobs({path: before.state(path) for path in paths}, before)
        self._find_again(known, before.scan, scan)
        room = _MOST_HASHED
        changes: list[PathChange] = []
        for path in paths:
            status = scan.paths.get(path)
            room -= 0 if status is None else status[1]
            after = ABSENT if status is None else state_of(Path(path), limit=MAX_CONTENT if room > 0 else -1)
            if not after.same_as(known[path]):
                changes.append(PathChange(path=path, before=known[path], after=after))
        for directory, head in before.heads.items():
            now = _history(git_directory(Path(directory)))
            if now != head:
                states = (replace(OTHER, digest=head), replace(OTHER, digest=now))
                changes.append(PathChange(path=f"{directory}/{GIT}", before=states[0], after=states[1]))
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

    def _find_again(self, states: dict[str, PathState], before: TreeScan, now: TreeScan) -> None:
        """Keep those contents of which there is no copy, but which are still there: the file was moved, or linked."""
        lost: dict[tuple[int, int, int], list[str]] = {}
        for path, state in states.items():
            if _is_lost(state):
                lost.setdefault(content_key(before.paths[path]), []).append(path)
        if not lost:
            return
        room = _Room(NAMED)
        for path, status in now.paths.items():
            if is_file(status) and content_key(status) in lost and room.takes(status[1]):
                found = state_of(Path(path), store=self._store, durable=False)
                for old in lost.pop(content_key(status)) if found.kept else ():
                    states[old] = replace(states[old], digest=found.digest, kept=True)


def _is_lost(state: PathState) -> bool:
    return state.kind == "file" and not state.kept


def _repositories_above(roots: Sequence[Path]) -> Iterator[str]:
    """The directories of the git repositories that the roots are inside of."""
    for root in roots:
        above = next((place for place in root.parents if os.path.lexists(place / ".git")), None)
        if above is not None and not os.path.lexists(root / ".git"):
            yield str(above)


def _history(git: Path) -> str:
    """A mark that changes with the commits, the branch and the stash; empty when there is no repository any more."""
    if not git.is_dir():
        return ""
    places = (git / "HEAD", git / "logs/HEAD", git / "logs/refs/stash", git / "refs/heads")
    return digest_of(repr([_stamp(place) for place in places]).encode())


def _stamp(path: Path) -> object:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
