"""Keeps other programs of the same user from reading our memory and environment, where our keys are."""

import ctypes
import logging
import resource
import sys

_SET_DUMPABLE = 4  # PR_SET_DUMPABLE of linux/prctl.h

log = logging.getLogger(__name__)


def make_unreadable() -> None:
    """From now on no other program of this user can attach to us or read `/proc/PID/environ` and `mem`.

    Nor is a core file written when we crash. Programs that we start are not concerned: they become readable again when
    they are executed, so that debuggers work on them. Against the superuser nothing helps, nor before this was called.
    Linux only; elsewhere only core files are turned off.
    """
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        refused = sys.platform == "linux" and ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0) != 0
    except (OSError, ValueError, AttributeError) as error:
        log.warning("core files or readers cannot be kept off", extra={"reason": str(error)})
    else:
        if refused:
            log.warning("other programs of this user can read our memory")
