"""The Unix socket as a file: one process at a time owns it, and nobody waits for one that is gone."""

import fcntl
import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from claw_acp.config.hub_socket import is_private
from claw_acp.config.locations import private_directory
from claw_acp.core.errors import ConfigError

_BACKLOG = 128  # connections that wait to be accepted


class HubRunning(ConfigError):
    """Another process is the hub of this installation and store."""


@contextmanager
def hub_listener(path: str) -> Generator[socket.socket]:
    """The listening socket at `path`, mode 0600, for the block.

    A lock on a file beside it decides who owns it, so a socket that a killed process left is replaced without a doubt.

    Raises:
        HubRunning: Another process owns it.
        ConfigError: Its directory is not private, or it cannot be created.
    """
    directory = private_directory(Path(path).parent)
    if not is_private(path):
        raise ConfigError(
            f"{directory} belongs to another user, or can be written to by others; a socket there would not be safe. "
            "Make it yours with mode 0700, or remove it"
        )
    lock_file = Path(f"{path}.lock")
    lock = _locked(lock_file)
    try:
        with _bound(path) as listening:
            yield listening
    finally:
        if _is_at(lock_file, lock):
            lock_file.unlink()
        os.close(lock)


def _locked(path: Path) -> int:
    """A descriptor that holds the lock on the very file at `path`."""
    while True:  # ends: each further round means that an owner has just left
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise ConfigError(f"the hub's lock {path} cannot be opened: {error.strerror}; remove it") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            raise HubRunning("a hub is running already; `claw-acp serve --status` tells about it") from error
        if _is_at(path, lock):
            return lock
        os.close(lock)


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def wait_for_end(path: str) -> None:
    """Wait until no process owns the socket at `path`."""
    try:
        lock = os.open(f"{path}.lock", os.O_RDWR)
    except FileNotFoundError:
        return  # its owner has left
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
    finally:
        os.close(lock)


@contextmanager
def _bound(path: str) -> Generator[socket.socket]:
    new = f"{path}.new"
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        Path(new).unlink(missing_ok=True)
        listening.bind(new)
        os.chmod(new, 0o600)  # noqa: PTH101 - nobody can connect before `listen`
        listening.listen(_BACKLOG)
        listening.settimeout(0)
        os.rename(new, path)  # noqa: PTH104 - over one that a killed process left
    except OSError as error:
        listening.close()
        raise ConfigError(f"the hub's socket {path} cannot be created: {error.strerror or error}") from error
    try:
        yield listening
    finally:
        listening.close()
        Path(path).unlink(missing_ok=True)
