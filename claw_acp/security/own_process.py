"""Protection of our memory and environment, which hold keys, from other programs of the same user."""

import ctypes
import logging
import resource
import sys

_SET_DUMPABLE = 4  # PR_SET_DUMPABLE of linux/prctl.h

log = logging.getLogger(__name__)


def make_unreadable() -> None:
    """Keep other programs of this user from attaching to us and from reading `/proc/PID/environ` and `mem`.

    A crash writes no core file either. Programs that we start are not affected: they become readable again when they
    are executed, so that debuggers work on them. This does not protect against the superuser, nor before the call.
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
