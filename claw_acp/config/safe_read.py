"""Reading a file that may come from an attacker."""

import os
import stat
from pathlib import Path


def read_plain_file(path: Path, *, limit: int) -> bytes:
    """At most `limit` bytes of a regular file.

    Raises:
        OSError: It is missing, unreadable, or no regular file (`strerror` says what).
    """
    try:
        # Without O_NONBLOCK a named pipe of this name would hold the whole program.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError as error:
        raise OSError(0, "the path holds a NUL") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "it is not an ordinary file")
    with os.fdopen(descriptor, "rb") as file:
        return file.read(limit)
