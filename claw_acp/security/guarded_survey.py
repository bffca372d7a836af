"""What other programs take commands from in a project, before and after a command that could change it.

A sandbox keeps commands from what is there. What a command adds (a repository with settings of its own, a bare one in
place of a folder, an editor's settings) is found here, before the person's own git or editor comes upon it.
"""

import os
import stat
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from typing import Final, Literal, TypeAlias

from claw_acp.core.value import Value
from claw_acp.security.guarded_names import protected_name
from claw_acp.security.read_only.repository import place_doubt

DEEPEST: Final = 5
"""Directories below a root that are looked into for everything; further down, for repositories only."""
MOST_ENTRIES: Final = 4_000
"""The most entries of the directories in a root to look at for everything, besides its own."""
MOST_NAMES: Final = 200_000
"""The most entries to look at for repositories."""
MOST_INSIDE: Final = 200
"""The most entries of a guarded directory to look at."""
ASIDE: Final = "claw-acp-aside"
"""The end of the name of what was moved aside."""

_NOT_LOOKED_INTO: Final = frozenset({"node_modules", "__pycache__", "target"})
_INTERPRETERS: Final = ("python", "python3", "node", "ruby")
_PARTIAL: Final = ("partialclone", "promisor")  # settings of git's own that only fetch

Kind: TypeAlias = Literal["guarded", "hook", "repository", "interpreter", "packages"]
_REASONS: Final[Mapping[Kind, str]] = {
    "guarded": "it can make other programs run commands",
    "hook": "git runs it",
    "interpreter": "it is the interpreter of an environment",
}


class GuardedPlace(Value):
    """One place. `state` differs whenever it may have changed; `doubt` is why a repository may run programs."""

    kind: Kind
    state: tuple[object, ...] = ()
    doubt: str = ""


Survey: TypeAlias = Mapping[Path, GuardedPlace]
_NONE: Final[Survey] = {}


class GuardedChange(Value):
    """A place that appeared or changed, and what is wrong with it."""

    path: Path
    kind: Kind
    reason: str
    appeared: bool


def survey(roots: Sequence[Path], *, known: Survey = _NONE) -> Survey:
    """All guarded places below the roots, as far as the limits go.

    Args:
        roots: The roots.
        known: A survey of before: the directories of these places are looked at in any case.
    """
    found = {path: place for root in roots for path, place in _below(root)}
    for folder in {path.parent for path in known if path not in found}:
        found.update(_in_folder(folder, _entries(folder)))
    return found


def changes(before: Survey, after: Survey) -> Sequence[GuardedChange]:
    """The places that appeared or changed so that other programs may run what they say."""
    found: list[GuardedChange] = []
    for path, now in after.items():
        old = before.get(path)
        if now.kind == "repository":
            if now.doubt and (old is None or old.doubt != now.doubt):
                found.append(GuardedChange(path=path, kind=now.kind, reason=now.doubt, appeared=old is None))
        elif old is None and now.kind not in ("interpreter", "packages"):
            found.append(GuardedChange(path=path, kind=now.kind, reason=_REASONS[now.kind], appeared=True))
        elif old is not None and old.state != now.state:
            found.append(GuardedChange(path=path, kind=now.kind, reason=_REASONS[now.kind], appeared=False))
    return found


def package_folders(found: Survey) -> Sequence[Path]:
    """The folders of installed packages."""
    return [path for path, place in found.items() if place.kind == "packages"]


def moved_aside(change: GuardedChange) -> Path | None:
    """Give a place that appeared a name under which nothing finds it; None if it stays: it was there, or is in use."""
    if not change.appeared or any(word in change.reason for word in _PARTIAL):
        return None
    bare = change.path / "HEAD" if change.kind == "repository" and change.path.name != ".git" else change.path
    number = 1
    while os.path.lexists(aside := bare.with_name(f"{bare.name}.{ASIDE}-{number}")):
        number += 1
    with suppress(OSError), ExitStack() as opened:
        folder = _opened(bare.parent, opened)
        os.rename(bare.name, aside.name, src_dir_fd=folder, dst_dir_fd=folder)
        return aside
    return None


def _opened(folder: Path, opened: ExitStack) -> int:
    """A descriptor of a directory, reached without links: a program of the project may have put one there meanwhile."""
    descriptor = None
    for part in folder.parts:
        descriptor = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=descriptor)
        opened.callback(os.close, descriptor)
    assert descriptor is not None
    return descriptor


def _below(root: Path) -> Iterator[tuple[Path, GuardedPlace]]:
    level, seen = [root], 0
    for depth in range(DEEPEST + 1):
        below: list[Path] = []
        for index, folder in enumerate(level):
            entries = _entries(folder, most=MOST_ENTRIES if depth else None)
            seen += len(entries) if depth else 0  # nobody hides what is in the root itself among many others
            if seen > MOST_ENTRIES:
                yield from _repositories([*level[index:], *below])
                return
            yield from _in_folder(folder, entries)
            below += [
                Path(entry.path)
                for name, entry in entries.items()
                if name != ".git"
                and name not in _NOT_LOOKED_INTO
                and not protected_name(name, within=folder.name)
                and _is_folder(entry)
            ]
        level = below
    yield from _repositories(level)


def _repositories(folders: Sequence[Path]) -> Iterator[tuple[Path, GuardedPlace]]:
    """The repositories in these folders and all below: only names are looked at, so that many take little time."""
    left, seen = [str(folder) for folder in reversed(folders)], 0
    while left and seen < MOST_NAMES:
        folder = left.pop()
        try:
            with os.scandir(folder) as entries:
                folders_here = {entry.name: _is_folder(entry) for entry in islice(entries, MOST_NAMES - seen)}
        except OSError:
            continue
        seen += len(folders_here)
        if ".git" in folders_here or "HEAD" in folders_here:
            yield from _in_folder(Path(folder), _entries(Path(folder), most=None))
        left += [
            f"{folder}/{name}"
            for name, is_folder in folders_here.items()
            if is_folder and name != ".git" and name not in _NOT_LOOKED_INTO
        ]


def _in_folder(folder: Path, entries: Mapping[str, os.DirEntry[str]]) -> Iterator[tuple[Path, GuardedPlace]]:
    if "HEAD" in entries and len({"objects", "refs", "commondir"} & entries.keys()) > 0:
        yield folder, GuardedPlace(kind="repository", doubt=_doubt(folder))
    for name, entry in entries.items():
        path = folder / name
        if name == ".git":
            yield path, GuardedPlace(kind="repository", doubt=_doubt(folder))
            yield from _hooks(path / "hooks")
        elif name == "node_modules":
            yield path, GuardedPlace(kind="packages")
        elif protected_name(name, within=folder.name):
            yield path, GuardedPlace(kind="guarded", state=_state(path, inside=_is_folder(entry)))
    if "pyvenv.cfg" in entries:
        programs = (folder / "bin" / name for name in _INTERPRETERS)
        yield from ((path, GuardedPlace(kind="interpreter", state=_state(path))) for path in programs)
        yield folder / "lib", GuardedPlace(kind="packages")


def _hooks(folder: Path) -> Iterator[tuple[Path, GuardedPlace]]:
    for name, entry in _entries(folder).items():
        path = Path(entry.path)
        if not name.endswith(".sample") and os.access(path, os.X_OK):
            yield path, GuardedPlace(kind="hook", state=_state(path))


def _doubt(folder: Path) -> str:
    try:
        return place_doubt(folder, seen=set()) or ""
    except (OSError, ValueError, RecursionError, struct.error) as error:
        return f"its files cannot be read ({error})"


def _state(path: Path, *, inside: bool = False) -> tuple[object, ...]:
    """What tells a changed file, and with `inside` a changed directory, from the one before."""
    try:
        facts = path.lstat()
        target = path.readlink() if stat.S_ISLNK(facts.st_mode) else None
    except OSError:
        return ()
    if not inside:
        # the last time, which no program can choose, tells a text of the same length and date from the one before
        return facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_mode, target
    files = [Path(place, name) for place, _, names in os.walk(path) for name in names][:MOST_INSIDE]
    return tuple((str(file), _state(file)) for file in sorted(files))


def _entries(folder: Path, *, most: int | None = MOST_ENTRIES) -> Mapping[str, os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return {entry.name: entry for entry in islice(entries, most)}
    except OSError:
        return {}


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)
