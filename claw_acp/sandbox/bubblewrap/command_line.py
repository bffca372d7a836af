"""Options of bubblewrap."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from claw_acp.contracts.launch import Launch
from claw_acp.contracts.sandbox import SandboxProfile
from claw_acp.sandbox.mounts import TEMPORARY, Kind, is_below, is_directory, is_private
from claw_acp.sandbox.unix_sockets import VARIABLES

_UNSET: Final = (*VARIABLES, "TMPDIR", "TMP", "TEMP")
_NODE: Final = "/node_modules/"
_PACKAGES: Final = str(Path(__file__).parents[2])
_FOR_ALL: Final = "1777"
_ONLY_THROUGH: Final = "0111"
_CLOSED: Final = "0000"


def mount_options(mounts: Sequence[tuple[str, Kind]], *, temporary: Path | None, hidden: Path) -> Iterator[str]:
    """The mounts.

    Args:
        mounts: The mounts, from the root of the disk downwards.
        temporary: The directory for temporary files; None: one in memory.
        hidden: An unreadable file, to put in place of others.
    """
    closed: list[str] = []
    for path, kind in mounts:
        match kind:
            case "private" if temporary is not None and path in TEMPORARY:
                yield from ("--bind", str(temporary), path)
            case "private":
                yield from ("--perms", _FOR_ALL, "--tmpfs", path)
            case "writable" | "entry":
                yield from ("--bind", path, path)
            case "readable" | "read_only":
                yield from ("--ro-bind", path, path)
            case "unreadable" if is_directory(path):
                passed = any(is_below(other, path) for other, _ in mounts)
                yield from ("--perms", _ONLY_THROUGH if passed else _CLOSED, "--tmpfs", path)
                closed.append(path)
            case "unreadable":
                yield from ("--ro-bind", str(hidden), path)
    for path in closed:  # only now: mounts inside them had to be made first
        yield from ("--remount-ro", path)


def link_options(cwd: Path) -> Iterator[str]:
    """The link that a working directory is reached by, where the directory that holds it is replaced."""
    for path in (*reversed(cwd.parents), cwd):
        if path.is_symlink():
            if is_private(str(path)):
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


def needed_paths(launch: Launch, *, cwd: Path, profile: SandboxProfile) -> Iterator[str]:
    """The parts of replaced directories that a program needs: programs, its working directory, names of hosts.

    A program that is reached by a link needs what is beside the file that the link leads to.
    """
    program = launch.argv[0]
    if os.path.isabs(program):  # noqa: PTH117 - text
        for path in (program, os.path.realpath(program)):
            yield _installation(os.path.dirname(path))  # noqa: PTH120 - text
    yield from map(_installation, launch.env.get("PATH", "").split(os.pathsep))
    yield os.path.realpath(cwd)
    if profile.network == "open":
        yield os.path.realpath("/etc/resolv.conf")
    yield from (sys.prefix, sys.base_prefix, _PACKAGES)  # programs of ours run in there, too


def _installation(directory: str) -> str:
    """The directory that belongs to programs: their virtual environment, their packages of Node, or their own."""
    directory = os.path.normpath(directory)
    if not is_private(directory):
        return directory
    before, packages, _ = f"{directory}/".partition(_NODE)
    around = os.path.dirname(directory)  # noqa: PTH120 - a text, for each command
    if packages:
        return before + packages.rstrip("/")
    return around if os.path.lexists(f"{around}/pyvenv.cfg") else directory
