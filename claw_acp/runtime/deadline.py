"""The last resort at the end of a process: in time, whatever hangs, with nothing left behind."""

import os
import threading
from typing import Final

from claw_acp.process.groups import kill_all_groups

POLITE: Final = 0.7  # seconds from the end that commands have to end by themselves; what they wrote is still kept
EXIT_TIMEOUT: Final = 1.7  # seconds from the end to the process's own; editors kill after two or three


class Deadline:
    """Whatever still hangs some time after the end (a command, a file system) must not keep the process alive."""

    def __init__(self) -> None:
        self._once = threading.Lock()

    def start(self) -> None:
        """The end has come. Callable from any thread; only the first call counts."""
        if self._once.acquire(blocking=False):
            for seconds, act in ((POLITE, kill_all_groups), (EXIT_TIMEOUT, _leave)):
                timer = threading.Timer(seconds, act)
                timer.daemon = True
                timer.start()


def _leave() -> None:
    kill_all_groups()
    os._exit(0)
