"""The mounts that make a profile: the whole disk read-only, and on it what a more specific path says.

Paths are plain text here: this runs before each command, and objects would take most of its time.
"""

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

TEMPORARY: Final = ("/tmp", "/var/tmp")  # noqa: S108 - these are replaced, not used
PRIVATE: Final = (*TEMPORARY, "/run")

_EMPTY: Final = ("private", "unreadable")
_WRITABLE: Final = ("writable", "entry")


def mounts_of(
    profile: SandboxProfile,
    *,
    needed: Iterable[str] = (),
    sockets: Iterable[str] = (),
    enters_all: bool = False,
    base: Literal["read_only", "private"] = "read_only",
) -> Sequence[tuple[str, Kind]]:
    """The mounts for a resolved profile, from the root of the disk downwards.

    Args:
        profile: The profile.
        needed: Paths that programs need; where the whole place is replaced, they are there nevertheless.
        sockets: The Unix sockets to hide.
        enters_all: The program may enter the closed directories of others. Else nothing has to be hidden there.
        base: What is there without any mount: the whole disk, or nothing of it, as in a container.
    """
    all_needed = base == "private"
    wanted: dict[str, Kind] = dict.fromkeys((path for path in needed if all_needed or is_private(path)), "readable")
    wanted |= dict.fromkeys(PRIVATE, "private")
    writable = [str(path) for path in profile.writable]
    wanted |= dict.fromkeys(writable, "writable")
    guarded = [str(path) for path in profile.read_only]
    hidden = (*sockets, *map(str, profile.unreadable))
    for path in (*guarded, *hidden):  # else it goes with a directory around it that is renamed
        for parent in _entries(path, writable):
            wanted.setdefault(parent, "entry")
    wanted |= dict.fromkeys(guarded, "read_only")
    wanted |= dict.fromkeys((path for path in hidden if enters_all or not out_of_reach(path)), "unreadable")
    return tuple(_effective(wanted, base=base))


def resolved(profile: SandboxProfile) -> SandboxProfile:
    """The profile with paths that no link is part of.

    A guarded link is guarded by what it leads to; one that leads to something unreadable does not open that.
    """
    known: dict[str, str] = {}

    def all_of(paths: Iterable[Path]) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(Path(_resolved(str(path), known)) for path in paths))

    unreadable = all_of(profile.unreadable)
    hidden = [str(path) for path in unreadable]

    def is_opened(path: Path) -> bool:
        found = _resolved(str(path), known)
        return found == str(path) or not any(found == place or is_below(found, place) for place in hidden)

    return replace(
        profile,
        writable=all_of(profile.writable),
        unreadable=unreadable,
        read_only=all_of(filter(is_opened, profile.read_only)),
        temporary=profile.temporary and profile.temporary.resolve(),
    )


def is_private(path: str) -> bool:
    """Return whether a path is in a directory that is replaced."""
    return any(is_below(path, place) for place in PRIVATE)


def is_below(path: str, directory: str) -> bool:
    """Return whether a path is below a directory, and not the directory itself."""
    return path.startswith(directory if directory.endswith(os.sep) else directory + os.sep) and path != directory


def out_of_reach(path: str) -> bool:
    """Return whether a path is in a directory of others that a superuser without capabilities cannot enter."""
    parent = os.path.dirname(path)  # noqa: PTH120 - text
    return parent != path and (out_of_reach(parent) or _is_closed(parent))


def is_directory(path: str) -> bool:
    """Return whether a path, not a link to it, is a directory."""
    return stat.S_ISDIR(os.lstat(path).st_mode)


def _is_closed(directory: str) -> bool:
    try:
        found = os.stat(directory)  # noqa: PTH116 - text
    except OSError:
        return True
    if found.st_uid == os.geteuid():
        return not found.st_mode & stat.S_IXUSR
    return not found.st_mode & (stat.S_IXGRP if found.st_gid == os.getegid() else stat.S_IXOTH)


def _resolved(path: str, known: dict[str, str]) -> str:
    """The path without links; `known` are those of directories, since many paths share theirs."""
    parent, name = os.path.split(path)
    if parent not in known:
        known[parent] = os.path.realpath(parent)
    found = os.path.join(known[parent], name)  # noqa: PTH118 - text
    return os.path.realpath(found) if os.path.islink(found) or name in ("", "..") else found  # noqa: PTH114 - text


def _entries(path: str, writable: Sequence[str]) -> Iterator[str]:
    """The directories between a path and the writable directory that it is in."""
    parent = os.path.dirname(path)  # noqa: PTH120 - text
    while parent not in writable and any(is_below(parent, root) for root in writable):
        yield parent
        parent = os.path.dirname(parent)  # noqa: PTH120 - text


def _effective(wanted: dict[str, Kind], *, base: Kind) -> Iterator[tuple[str, Kind]]:
    """The mounts that change what is at their path."""
    around: list[tuple[str, Kind]] = []
    for path, kind in sorted(wanted.items(), key=lambda mount: mount[0].replace(os.sep, "\0")):
        while around and not is_below(path, around[-1][0]):
            around.pop()
        above = around[-1][1] if around else base
        if _matters(path, kind, above=above):
            around.append((path, kind))
            yield path, kind


def _matters(path: str, kind: Kind, *, above: Kind) -> bool:
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
            return above not in _EMPTY and os.path.isdir(path) and not os.path.islink(path)  # noqa: PTH112, PTH114 - text
        case "writable":
            return True
