"""The last resort at the end of a process: it ends in time, whatever hangs, and leaves nothing behind."""

import os
import threading
from typing import Final

from claw_acp.process.groups import kill_all_groups

POLITE: Final = 0.7  # seconds from the end that commands have to end by themselves; what they wrote is still kept
EXIT_TIMEOUT: Final = 1.7  # seconds from the end to the process's own; editors kill after two or three


class Deadline:
    """Kills the process if something still hangs (a command, a file system) some time after its end."""

    def __init__(self) -> None:
        self._once = threading.Lock()

    def start(self) -> None:
        """Start the countdown. Callable from any thread; only the first call counts."""
        if self._once.acquire(blocking=False):
            for seconds, act in ((POLITE, kill_all_groups), (EXIT_TIMEOUT, _leave)):
                timer = threading.Timer(seconds, act)
                timer.daemon = True
                timer.start()


def _leave() -> None:
    kill_all_groups()
    os._exit(0)
