"""The mounts that make a profile: the whole disk read-only, and on it what a more specific path says."""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

from claw_acp.contracts.sandbox import SandboxProfile
from claw_acp.core.value import replace

Kind: TypeAlias = Literal["private", "readable", "writable", "entry", "read_only", "unreadable"]
"""Mounts. private: an empty directory in memory. entry: a directory in a writable one, mounted onto itself, so that it
cannot be renamed with what is mounted below it.
"""

TEMPORARY: Final = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - these are replaced, not used
PRIVATE: Final = (*TEMPORARY, Path("/run"))

_EMPTY: Final = ("private", "unreadable")
_WRITABLE: Final = ("writable", "entry")


def mounts_of(
    profile: SandboxProfile,
    *,
    needed: Iterable[Path] = (),
    sockets: Iterable[Path] = (),
) -> Sequence[tuple[Path, Kind]]:
    """The mounts for a profile, from the root of the disk downwards.

    Args:
        profile: The profile.
        needed: Directories of programs; where the whole place is replaced, they are there nevertheless.
        sockets: The Unix sockets to hide.
    """
    wanted: dict[Path, Kind] = {}
    wanted.update((path, "readable") for path in needed if any(place in path.parents for place in PRIVATE))
    wanted.update((path, "private") for path in PRIVATE)
    wanted.update((path, "writable") for path in profile.writable)
    guarded = [path for path in profile.read_only if path not in profile.unreadable]
    for path in guarded:
        wanted.update((parent, "entry") for parent in _entries(path, profile.writable) if parent not in wanted)
    wanted.update((path, "read_only") for path in guarded)
    wanted.update((path, "unreadable") for path in (*sockets, *profile.unreadable))
    if profile.proxy is not None:
        wanted[profile.proxy] = "readable"
    return tuple(_effective(wanted))


def resolved(profile: SandboxProfile) -> SandboxProfile:
    """The profile with paths that no link is part of. A guarded link is guarded by what it leads to."""
    return replace(
        profile,
        writable=tuple(dict.fromkeys(path.resolve() for path in profile.writable)),
        unreadable=tuple(dict.fromkeys(path.resolve() for path in profile.unreadable)),
        read_only=tuple(dict.fromkeys(path.resolve() for path in profile.read_only)),
        temporary=profile.temporary and profile.temporary.resolve(),
    )


def is_directory(path: Path) -> bool:
    """Return whether a path, not a link to it, is a directory."""
    return stat.S_ISDIR(path.lstat().st_mode)


def _entries(path: Path, writable: Sequence[Path]) -> Iterator[Path]:
    """The directories between a path and the writable directory that it is in."""
    for parent in path.parents:
        if parent in writable:
            return
        if any(parent.is_relative_to(root) for root in writable):
            yield parent


def _effective(wanted: dict[Path, Kind]) -> Iterator[tuple[Path, Kind]]:
    """The mounts that change what is at their path."""
    around: list[tuple[Path, Kind]] = []
    for path, kind in sorted(wanted.items(), key=lambda mount: mount[0].parts):
        while around and not path.is_relative_to(around[-1][0]):
            around.pop()
        above = around[-1][1] if around else "read_only"
        if _matters(path, kind, above=above):
            around.append((path, kind))
            yield path, kind


def _matters(path: Path, kind: Kind, *, above: Kind) -> bool:
    match kind:
        case "unreadable":
            return above not in _EMPTY and os.path.lexists(path)
        case "readable":
            return above in _EMPTY and os.path.lexists(path)
        case "read_only":
            return above in (*_WRITABLE, *_EMPTY) and os.path.lexists(path)
        case "entry":
            return above in _WRITABLE and os.path.lexists(path)
        case "private":
            return above not in _EMPTY and path.is_dir() and not path.is_symlink()
        case "writable":
            return True
