"""Runs command lines as whoever it is itself, which must be somebody without rights. Standard library only.

A request is a line of JSON on stdin: {"line", "cwd", "shell", "seconds", "environment"}; the answer one on stdout:
{"code", "output", "late", "left"}: the exit code, what was printed, whether it took too long, and the programs that
were still there when the shell had ended.
"""

import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

GRACE = 0.3  # seconds in which what runs behind `&` or `<( )` may end by itself
MOST_OUTPUT = 200_000  # bytes
MEGABYTE = 2**20
LIMITS = (
    (resource.RLIMIT_NPROC, 60),
    (resource.RLIMIT_FSIZE, 16 * MEGABYTE),
    (resource.RLIMIT_CPU, 5),
    (resource.RLIMIT_AS, 4096 * MEGABYTE),
    (resource.RLIMIT_CORE, 0),
)
_CHILD_SUBREAPER = 36


def main() -> None:
    """Answer requests until there are no more."""
    ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)
    for request in sys.stdin:
        print(json.dumps(_run(json.loads(request))), flush=True)


def _run(request: dict[str, Any]) -> dict[str, Any]:
    output = os.memfd_create("output")
    child = os.fork()
    if child == 0:
        _become(request, output=output)
    late = not _ended(child, seconds=request["seconds"])
    if late:
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    left = () if late else _left()
    _kill_all()
    os.lseek(output, 0, os.SEEK_SET)
    printed = os.read(output, MOST_OUTPUT).decode("latin-1")
    os.close(output)
    return {"code": os.waitstatus_to_exitcode(status), "output": printed, "late": late, "left": left}


def _become(request: dict[str, Any], *, output: int) -> None:
    """Turn into the shell. Never returns."""
    try:
        os.setsid()
        for kind, most in LIMITS:
            resource.setrlimit(kind, (most, most))
        os.chdir(request["cwd"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.closerange(3, 64)
        shell = request["shell"]
        os.execve(shell, [shell, "-c", "--", request["line"]], request["environment"])
    finally:
        os._exit(126)


def _ended(child: int, *, seconds: float) -> bool:
    descriptor = os.pidfd_open(child)
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


def _left() -> Sequence[str]:
    """The programs that stay."""
    until = time.monotonic() + GRACE
    while (others := _others()) and time.monotonic() < until:
        time.sleep(0.01)
    return [_name(process) for process in others]


def _others() -> list[int]:
    """Processes of ours besides this one; those that ended are laid to rest."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    me, own = os.getpid(), os.getuid()
    names = [name for name in (path.name for path in Path("/proc").iterdir()) if name.isdecimal() and int(name) != me]
    return [int(name) for name in names if _runs(name, user=own)]


def _runs(process: str, *, user: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0]
        return state not in b"ZX" and Path(f"/proc/{process}").stat().st_uid == user
    except OSError:
        return False


def _name(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()[:200].replace(b"\0", b" ").decode("latin-1")
    except OSError:
        return "?"


def _kill_all() -> None:
    while others := _others():
        for process in others:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)


if __name__ == "__main__":
    main()
