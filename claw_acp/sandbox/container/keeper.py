"""Runs a container, and ends it when this program ends, however that happens.

    python -I -S keeper.py us|editor RECORD WORD ... -- WORD ...

The words before the dashes end the container, those after them run it. A container is a child of other programs than
the one that asked for it, and goes on when that is killed. So a second process waits, in a session of its own, for the
end of a pipe that only the first one holds. It has the record locked until the container is gone, and removes it.
"""

import ctypes
import os
import sys
from fcntl import LOCK_EX, flock
from signal import SIG_IGN, SIGHUP, SIGINT, SIGKILL, SIGPIPE, SIGTERM, SIGXFSZ, signal

POLITE = (SIGHUP, SIGINT, SIGTERM)
DEATH_SIGNAL = 1
TRIES = 5  # the program that runs containers may be busy with the one to end
CANNOT_RUN = 126  # an exit code of shells


def main(started_by: str, record: str, *words: str) -> None:
    """Run the container; the exit code is that of its program."""
    middle = words.index("--")
    if started_by == "us":
        die_with_parent()
    ready, reading, writing = kept(record, words[:middle])
    if os.read(ready, 1):
        for number in POLITE:  # those reach the other program, too, which passes them on
            signal(number, passed_over)
        code = run(words[middle + 1 :])
        if code >= 0:
            os.write(writing, b"+")
    else:
        code = CANNOT_RUN
    os.close(writing)
    os.close(reading)
    os.wait()
    os._exit(code if code >= 0 else 128 - code)


def kept(record: str, ends: tuple[str, ...]) -> tuple[int, int, int]:
    """Start the process that ends the container: a pipe that says when it waits, and both ends of what it waits for."""
    reading, writing = os.pipe()
    ready, waits = os.pipe()
    if os.fork() == 0:
        try:
            os.close(writing)
            keep(record, ends, reading=reading, waits=waits)
        finally:
            os._exit(0)
    os.close(waits)
    return ready, reading, writing


def keep(record: str, ends: tuple[str, ...], *, reading: int, waits: int) -> None:
    """Wait for the end of the other process; end the container unless that has ended by itself."""
    os.setsid()
    for number in POLITE:
        signal(number, SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    flock(os.open(record, os.O_RDWR | os.O_CLOEXEC), LOCK_EX)
    os.write(waits, b"+")
    os.close(waits)
    if not os.read(reading, 1):
        for _ in range(TRIES):
            if run(ends) == 0:
                break
    os.unlink(record)  # noqa: PTH108 - pathlib takes longer than all the rest


def run(words: tuple[str, ...]) -> int:
    """Run a program to its end; its exit code, negative for a signal."""
    try:
        child = os.posix_spawn(words[0], words, os.environ, setsigdef=[*POLITE, SIGPIPE, SIGXFSZ])
    except OSError as error:
        os.write(2, f"claw-acp: {words[0]} cannot be run: {error.strerror}\n".encode())
        return CANNOT_RUN
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def passed_over(_number: int, _frame: object) -> None:
    """Do nothing with a signal; what is started later does not inherit that, as it would if it were ignored."""


def die_with_parent() -> None:
    """End when the process that started this one ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DEATH_SIGNAL, SIGKILL, 0, 0, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
