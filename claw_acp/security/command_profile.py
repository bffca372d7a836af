"""The profile of the sandbox in which a command runs, from its reach and the session's directories."""

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from claw_acp.contracts.sandbox import NO_LIMITS, ProgramNeeds, SandboxLimits, SandboxProfile
from claw_acp.contracts.tool import Reach
from claw_acp.core.value import Value, replace
from claw_acp.security.command_paths import PolicyContext
from claw_acp.security.forbidden import forbidden_places
from claw_acp.security.git_settings import paths_in_settings
from claw_acp.security.guarded import runs_at_home
from claw_acp.security.guarded_names import protected_name
from claw_acp.security.read_only.repository import shared_repository

DEEPEST: Final = 5
"""Directories below a root in which guarded names are looked for."""
MOST_ENTRIES: Final = 4_000
"""The most entries of the directories in a root to look at, besides its own."""
MOST_GUARDED: Final = 300
"""The most paths of a root to protect: those of its own repository, those protected before, and then others."""

_GIT: Final = ("hooks", "config", "config.worktree", "commondir")
"""What git takes programs from, in the directory of a repository; the last two need not exist."""
_DEEPEST_NAME: Final = 10
"""The most parts of the name of a submodule, which is its path at first."""
_HOOKS: Final = "core.hookspath"
_ALIAS: Final = "alias."
_protected: Final[dict[Path, Sequence[Path]]] = {}
"""The paths of each root that this process protected last: one that has outgrown the limits since then keeps them."""
_too_large: Final[set[Path]] = set()
"""The roots of which this process did not look at everything the last time."""
_NOT_LOOKED_INTO: Final = frozenset({"node_modules", ".venv", "venv", ".tox", ".nox", "__pycache__", "target"})


class ExtraPaths(Value):
    """Paths that a person, or our own work, adds to a profile.

    Attributes:
        writable: Directories that commands may change.
        readable: Paths that they may read, although their directory is private.
        unreadable: Paths that they may not read.
        temporary: The directory for their temporary files.
        limits: Their limits.
    """

    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    unreadable: tuple[Path, ...] = ()
    temporary: Path | None = None
    limits: SandboxLimits = NO_LIMITS


def command_profile(reach: Reach, *, context: PolicyContext, extra: ExtraPaths) -> SandboxProfile:
    """The profile for a reach within a sandbox. It looks at the disk."""
    unreadable = tuple(forbidden_places(home=context.home, protected=context.protected))
    hidden = (*unreadable, *extra.unreadable)
    repositories = [found for root in context.roots if (found := _elsewhere(root)) is not None]
    if reach == "reading":
        visible = (*context.roots, *repositories, *extra.readable)
        return SandboxProfile(read_only=visible, unreadable=hidden, temporary=extra.temporary, limits=extra.limits)
    roots = [root for root in context.roots if root != Path(root.anchor)]  # the whole disk is no project
    guarded = [path for root in (*roots, *repositories) for path in guarded_paths(root, home=context.home)]
    guarded += _guarded_at_home(context.home, roots=roots)
    ours = Path(sys.prefix).resolve()  # this program, if it is installed in the project: it starts outside
    guarded += [ours] if any(ours.is_relative_to(root) for root in roots) else []
    return SandboxProfile(
        writable=(*roots, *repositories, *(path for path in extra.writable if path.is_dir())),
        read_only=(*guarded, *extra.readable),
        unreadable=hidden,
        temporary=extra.temporary,
        limits=extra.limits,
    )


def fitted(profile: SandboxProfile, needs: ProgramNeeds, *, protected: Sequence[Path], changes: bool) -> SandboxProfile:
    """The profile with what a program of the settings needs; without `changes`, nothing else is writable."""
    own = tuple(path.resolve() for path in needs.writable if path.is_dir())
    hidden = [path for path in profile.unreadable if path in protected or not any(map(path.is_relative_to, own))]
    return replace(
        profile,
        writable=(*(profile.writable if changes else ()), *own),
        unreadable=tuple(hidden),
        network="open" if needs.open_network else profile.network,
    )


def guarded_paths(root: Path, *, home: Path) -> Sequence[Path]:
    """The paths below a root that its commands may not change."""
    own = list(_repository(root)) if _is_repository(root) else []
    own += _repository(root / ".git") if (root / ".git").is_dir() else ()
    found = dict.fromkeys((*_guarded_below(root), *_named_by_git(root, home=home)))
    kept = [path for path in _protected.get(root, ()) if path in found or os.path.lexists(path)]
    every = tuple(dict.fromkeys((*own, *kept, *found)))
    if len(every) > MOST_GUARDED:
        _too_large.add(root)
    _protected[root] = every[:MOST_GUARDED]
    return _protected[root]


def too_large(root: Path) -> bool:
    """Return whether a root holds too much, so that not all that it has of guarded paths is kept from commands."""
    return root in _too_large


def _guarded_at_home(home: Path, *, roots: Sequence[Path]) -> Iterator[Path]:
    """What programs read or run from a home directory that is, or lies in, a project."""
    if any(home.is_relative_to(root) for root in roots):
        yield from (Path(entry.path) for entry in _entries(str(home)) if runs_at_home(entry.name))


def _named_by_git(root: Path, *, home: Path) -> Iterator[Path]:
    """What git's settings make it run in the project, or read as further settings."""
    for key, place in paths_in_settings(root, home=home):
        path = Path(os.path.realpath(place))
        if path == root or not path.is_relative_to(root):
            continue
        executed = os.access(path, os.X_OK) or not key.startswith(_ALIAS)  # else words of its command line are, too
        if path.is_dir() if key == _HOOKS else path.is_file() and executed:
            yield path


def _guarded_below(root: Path) -> Iterator[Path]:
    _too_large.discard(root)
    level, seen = [str(root)], 0
    for depth in range(DEEPEST):
        below: list[str] = []
        for directory in level:
            within = os.path.basename(directory)  # noqa: PTH119 - text
            for entry in _entries(directory, most=MOST_ENTRIES + 1 if depth else None):
                seen += 1 if depth else 0  # nobody hides what is in the root itself among many others
                if seen > MOST_ENTRIES:
                    _too_large.add(root)
                    return
                folder = entry.is_dir(follow_symlinks=False)
                if entry.name == ".git":
                    yield from _repository(Path(entry.path)) if folder else (Path(entry.path),)
                elif protected_name(entry.name, within=within):
                    yield Path(entry.path)
                elif folder and entry.name not in _NOT_LOOKED_INTO:
                    below.append(entry.path)
        level = below


def _repository(git: Path) -> Iterator[Path]:
    """The guarded paths of a repository, and of those of its submodules and worktrees."""
    yield from (git / name for name in _GIT)
    for inner in _entries(str(git / "worktrees")):
        yield from (Path(inner.path, name) for name in ("commondir", "gitdir", "config.worktree"))
    yield from _modules(git / "modules", depth=_DEEPEST_NAME)


def _modules(folder: Path, *, depth: int) -> Iterator[Path]:
    for entry in _entries(str(folder)) if depth else ():
        module = Path(entry.path)
        if _is_repository(module):
            yield from _repository(module)
        elif entry.is_dir(follow_symlinks=False):
            yield from _modules(module, depth=depth - 1)


def _is_repository(folder: Path) -> bool:
    return all((folder / name).exists() for name in ("HEAD", "objects", "refs"))


def _elsewhere(root: Path) -> Path | None:
    """The directory of the repository that a linked worktree belongs to, if it knows that worktree; else None."""
    link = root / ".git"
    if not link.is_file() or link.is_symlink():
        return None
    try:
        common = shared_repository(link)
    except (OSError, ValueError):
        return None
    return common if _is_repository(common) else None


def _entries(directory: str, *, most: int | None = MOST_ENTRIES) -> Sequence[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            return list(islice(entries, most))
    except OSError:
        return ()
