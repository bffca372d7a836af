"""Paths that no tool call may touch, whatever the rules say."""

import fnmatch
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from claw_acp.security.private_places import CREDENTIALS, HISTORIES, KEYS, MOVED_BY

_KEYS = "it holds private keys"
_LOGINS = "it holds credentials"
_ACCOUNTS = "it holds the passwords of this machine"
_PROCESS = "it exposes the memory or the environment of programs"

_TYPED = "it holds what people typed, passwords among it"

# Below the home directory: the place itself and everything in it.
_HOME: tuple[tuple[str, str], ...] = tuple(
    (place, reason)
    for places, reason in ((KEYS, _KEYS), (CREDENTIALS, _LOGINS), (HISTORIES, _TYPED))
    for place in places
)
_FIRST_NAMES = tuple((place.partition("/")[0].casefold(), place) for place, _ in _HOME)
_DISK: tuple[tuple[str, str], ...] = (
    ("/etc/shadow*", _ACCOUNTS),
    ("/etc/gshadow*", _ACCOUNTS),
    ("/etc/sudoers*", _ACCOUNTS),
    ("/etc/master.passwd", _ACCOUNTS),
    ("/etc/ssh/ssh_host_*_key", _KEYS),
    ("/root/.ssh*", _KEYS),
    ("/proc/*/environ", _PROCESS),
    ("/proc/*/mem", _PROCESS),
    ("/proc/kcore", _PROCESS),
    ("/dev/mem", _PROCESS),
    ("/dev/kmem", _PROCESS),
    ("/run/docker.sock", "it gives control over the machine"),
    ("/var/run/docker.sock", "it gives control over the machine"),
)
_KEY_FILES = ("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk")
_SYSTEM = ("/etc", "/boot", "/bin", "/sbin", "/lib", "/lib64", "/usr", "/sys", "/proc", "/dev", "/system")
_SYSTEM_BUT_OPEN = ("/usr/local", "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd")
_HARMLESS_DEVICES = (
    "/dev/null",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/zero",
    "/dev/urandom",
    "/dev/random",
)


def forbidden(path: Path, *, home: Path, protected: Sequence[Path] = ()) -> str | None:
    """The reason a resolved path may be neither read nor written, or None.

    Args:
        path: The path.
        home: The user's home directory.
        protected: The agent's own configuration, permissions and journal.
    """
    text = _plain(path)
    for place in _plain_all(tuple(protected)):
        if _below(text, place):
            return "it belongs to the agent's own configuration and records"
    if path.name.casefold() in _KEY_FILES:
        return "it is a private key"
    if path.suffix == ".pub" and path.parent == home / ".ssh":
        return None
    for place, reason in _below_home(home):
        if _below(text, place):
            return reason
    return next((reason for pattern, reason in _DISK if fnmatch.fnmatchcase(text, pattern)), None)


def forbidden_to_write(path: Path, *, home: Path, roots: Sequence[Path], protected: Sequence[Path] = ()) -> str | None:
    """The reason a resolved path may not be written, or None."""
    reason = forbidden(path, home=home, protected=protected)
    if reason is not None or any(path.is_relative_to(root) for root in roots):
        return reason
    text = _plain(path)
    if any(_below(text, place) for place in _SYSTEM_BUT_OPEN):
        return None
    return "it belongs to the operating system" if any(_below(text, place) for place in _SYSTEM) else None


def holds_forbidden(path: Path, *, home: Path, protected: Sequence[Path] = ()) -> bool:
    """Return whether reading everything below `path` would read a forbidden path."""
    return any(place.is_relative_to(path) for place in (home / ".ssh", *protected))


def forbidden_places(*, home: Path, protected: Sequence[Path] = ()) -> Iterator[Path]:
    """The paths that exist and may not be read: everything in them, too. Those of programs and devices are left out."""
    own = (place for place in protected if place.exists())
    yield from (*own, *_existing_at_home(home), *_existing_on_disk())


def _existing_on_disk() -> Iterator[Path]:
    """The forbidden files of the machine that exist."""
    for folder in ("/etc", "/etc/ssh", "/root"):
        try:
            names = os.listdir(folder)  # noqa: PTH208 - names, for each command
        except OSError:  # nobody else may list it, either
            continue
        for pattern, _ in _DISK:
            if os.path.dirname(pattern) == folder:  # noqa: PTH120 - text
                found = fnmatch.filter(names, os.path.basename(pattern))  # noqa: PTH119 - text
                yield from (path for name in found if (path := Path(folder, name)).exists())


def _existing_at_home(home: Path) -> Iterator[Path]:
    """The forbidden places of a home that exist. Most do not: their first directory tells, without looking at each."""
    try:
        names = {name.casefold() for name in os.listdir(home)}  # noqa: PTH208 - names, for each command
    except OSError:  # it may be entered all the same
        names = None
    for first, place in _FIRST_NAMES:
        if names is None or first in names:
            path = os.path.join(home, place)  # noqa: PTH118 - text
            if os.path.exists(path):  # noqa: PTH110 - text
                yield Path(path)
    yield from (place for place, _ in moved_places(home) if os.path.exists(place))  # noqa: PTH110 - or out of reach


@lru_cache(maxsize=8)
def moved_places(home: Path) -> tuple[tuple[Path, str], ...]:
    """The places that variables moved away from a home, each with the reason. A process keeps its environment.

    Values that would hide a whole home, or a device, are not meant.
    """
    return tuple(dict.fromkeys(_moved(home)))


def _moved(home: Path) -> Iterator[tuple[Path, str]]:
    for variable, stands_for in MOVED_BY:
        for value in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            base = Path(os.path.realpath(value))
            if base.is_relative_to("/dev") or home.is_relative_to(base):
                continue
            for place, reason in _HOME:
                if _below(place, stands_for):
                    yield Path(base, place.removeprefix(stands_for).lstrip("/")), reason
                elif _below(stands_for, place):
                    yield base, reason


def harmless_device(path: str) -> bool:
    """Return whether a path is a harmless device, such as /dev/null."""
    return path in _HARMLESS_DEVICES


def _plain(path: Path) -> str:
    """The path in lower case and without the prefix of macOS system directories: some disks ignore both."""
    return path.as_posix().casefold().removeprefix("/private")


@lru_cache(maxsize=8)
def _plain_all(places: tuple[Path, ...]) -> tuple[str, ...]:
    return tuple(_plain(place) for place in places)


@lru_cache(maxsize=8)
def _below_home(home: Path) -> tuple[tuple[str, str], ...]:
    listed = ((home / place, reason) for place, reason in _HOME)
    return tuple((_plain(place), reason) for place, reason in (*listed, *moved_places(home)))


def _below(text: str, place: str) -> bool:
    return text == place or text.startswith(place.rstrip("/") + "/")
