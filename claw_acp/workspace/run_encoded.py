"""Runs a command line that came in base64: a word that no shell takes apart. A program of its own, it imports no other.

    python -IS run_encoded.py SHELL ENCODED_LINE

It ends as the command does, and kills everything the command started when it gets a signal to end, or when its parent
is gone: a shell in between passes no signal on.
"""

import os
import signal
import subprocess
import sys
from base64 import urlsafe_b64decode
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread

ENDINGS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
LOOKS = 0.5  # seconds between looks for the parent


def main(shell: str, encoded: str) -> int:
    """Run the command line and return its exit code; its death by a signal is repeated."""
    parent = os.getppid()
    line = os.fsdecode(urlsafe_b64decode(encoded))
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)  # until there is something to end
    process = subprocess.Popen(
        [shell, "-c", "--", line],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS),  # noqa: PLW1509 - there is one thread
    )

    def end(*_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    for number in ENDINGS:
        signal.signal(number, end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
    Thread(target=_follow, args=(parent, end), daemon=True).start()
    status = process.wait()
    end()  # what it left running
    if status < 0:
        with suppress(OSError):  # SIGKILL has no handler to take away
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


def _follow(parent: int, end: Callable[[], object]) -> None:
    while os.getppid() == parent:
        Event().wait(LOOKS)
    end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
