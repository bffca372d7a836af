"""The process groups that this program has started and that have not ended yet.

Process-wide on purpose: an exit path that can no longer await (a signal handler, an interpreter that is going down)
must be able to leave nothing behind, and so must an end that leaves us no time at all: the watchdog knows the same
groups. `child_process` and `blocking` track what they start; nothing else starts anything.
"""

import os
import signal
from collections.abc import Iterable, Sequence
from contextlib import suppress
from threading import Lock
from typing import Final

from claw_acp.process.watchdog import Announced, Watchdog

KILL: Final = getattr(signal, "SIGKILL", signal.SIGTERM)

_live: set[int] = set()
_watchdog = Watchdog()
_one_at_a_time = Lock()  # threads start programs too, and one watchdog is enough


def announced(argv: Sequence[str], *, names: Iterable[str]) -> Announced:
    """The launch of a program as the leader of a group, without stdin, that the watchdog knows from its start.

    Args:
        argv: The program and its arguments.
        names: The environment variables it gets.
    """
    with _one_at_a_time:
        return _watchdog.announced(argv, names=names, others=live_groups())


def track(group: int) -> None:
    """Add a group (the id of its leader) that was started."""
    with _one_at_a_time:
        _watchdog.began(group, others=live_groups())
        _live.add(group)


def forget(group: int) -> None:
    """Remove a group that has ended; its id may soon belong to another one."""
    with _one_at_a_time:
        _live.discard(group)
        _watchdog.ended(group)


def live_groups() -> frozenset[int]:
    """The groups that are tracked now."""
    return frozenset(_live)


def signal_group(group: int, number: int) -> None:
    """Send a signal to a whole group, which need not exist any more."""
    with suppress(ProcessLookupError, PermissionError):  # some systems report a group of zombies as not permitted
        os.killpg(group, number)


def kill_group(group: int) -> None:
    """Kill a whole group at once."""
    signal_group(group, KILL)


def kill_all_groups() -> None:
    """Kill every tracked group at once. Synchronous, callable from a signal handler."""
    for group in live_groups():
        kill_group(group)
