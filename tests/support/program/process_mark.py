"""A mark in the environment that everything a program starts inherits, so that orphans can be found."""

import os
from contextlib import suppress
from pathlib import Path

MARK = "EDITOR_TEST_MARK"


def unmarked() -> dict[str, str]:
    """Our environment without the mark of a program that runs in this process, for processes that it does not start."""
    return {name: value for name, value in os.environ.items() if name != MARK}


def marked(mark: str) -> list[int]:
    """Live processes that inherited this mark; empty without /proc."""
    entry = f"{MARK}={mark}".encode()
    try:
        pids = [name for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208 - names only, often
    except FileNotFoundError:  # only Linux has /proc; elsewhere orphans are not looked for
        return []
    return [int(pid) for pid in pids if entry in _environment(pid)]


def command_of(pid: int) -> str:
    """The command line of a process."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return str(pid)


def _environment(pid: str) -> bytes:
    """Read a process's environment with few system calls, since every process is checked after every test."""
    with suppress(OSError):  # gone meanwhile, or somebody else's
        descriptor = os.open(f"/proc/{pid}/environ", os.O_RDONLY)
        try:
            return os.read(descriptor, 128 * 1024)
        finally:
            os.close(descriptor)
    return b""
