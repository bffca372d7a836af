"""Options of bubblewrap."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from claw_acp.contracts.launch import Launch
from claw_acp.contracts.sandbox import SandboxProfile
from claw_acp.sandbox.bubblewrap.mounts import PRIVATE, TEMPORARY, Kind, is_directory
from claw_acp.sandbox.unix_sockets import VARIABLES

_UNSET: Final = (*VARIABLES, "TMPDIR", "TMP", "TEMP")
_FOR_ALL: Final = "1777"
_ONLY_THROUGH: Final = "0111"
_CLOSED: Final = "0000"


def mount_options(mounts: Sequence[tuple[Path, Kind]], *, temporary: Path | None, hidden: Path) -> Iterator[str]:
    """The mounts.

    Args:
        mounts: The mounts, from the root of the disk downwards.
        temporary: The directory for temporary files; None: one in memory.
        hidden: An unreadable file, to put in place of others.
    """
    closed: list[Path] = []
    for path, kind in mounts:
        match kind:
            case "private" if temporary is not None and path in TEMPORARY:
                yield from ("--bind", str(temporary), str(path))
            case "private":
                yield from ("--perms", _FOR_ALL, "--tmpfs", str(path))
            case "writable" | "entry":
                yield from ("--bind", str(path), str(path))
            case "readable" | "read_only":
                yield from ("--ro-bind", str(path), str(path))
            case "unreadable" if is_directory(path):
                passed = any(path in other.parents for other, _ in mounts)
                yield from ("--perms", _ONLY_THROUGH if passed else _CLOSED, "--tmpfs", str(path))
                closed.append(path)
            case "unreadable":
                yield from ("--ro-bind", str(hidden), str(path))
    for path in closed:  # only now: mounts inside them had to be made first
        yield from ("--remount-ro", str(path))


def link_options(cwd: Path) -> Iterator[str]:
    """The link that a working directory is reached by, where the directory that holds it is replaced."""
    for path in (*reversed(cwd.parents), cwd):
        if path.is_symlink():
            if any(path.is_relative_to(private) for private in PRIVATE):
                yield from ("--symlink", str(path.resolve()), str(path))
            return


def variable_options(environ: Mapping[str, str]) -> Iterator[str]:
    """Changes of the environment: nothing leads to sockets and temporary files that are not there.

    The shell that starts bubblewrap loses variables that a shell cannot have, such as functions that bash exports.
    """
    for name in _UNSET:
        yield from ("--unsetenv", name)
    for name, value in environ.items():
        if not (name.isascii() and name.isidentifier()):
            yield from ("--setenv", name, value)


def needed_paths(launch: Launch, *, cwd: Path, profile: SandboxProfile) -> Iterator[Path]:
    """What a program needs of the directories that are replaced: programs, its working directory, names of hosts."""
    program = os.path.dirname(launch.argv[0])  # noqa: PTH120 - it is empty for a name without a directory
    yield from (Path(os.path.normpath(entry)) for entry in (program, *launch.env.get("PATH", "").split(os.pathsep)))
    yield cwd.resolve()
    if profile.network == "open":
        yield Path("/etc/resolv.conf").resolve()
    if profile.proxy is not None:  # our own last stage is a program, too
        yield from (Path(sys.prefix), Path(sys.base_prefix), Path(__file__).parents[2])
