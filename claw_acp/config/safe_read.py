"""Reading a file that may come from an attacker."""

import os
import stat
from pathlib import Path

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # a named pipe of this name would else hold the whole program


class OutsideDirectory(OSError):
    """A path leads out of the directory in which it was expected, or was swapped while it was read."""

    def __init__(self, root: Path) -> None:
        super().__init__(0, f"it is a link out of {root}")


def read_plain_file(path: Path, *, limit: int) -> bytes:
    """At most `limit` bytes of a regular file.

    Raises:
        OSError: It is missing, unreadable, or no regular file (`strerror` says what).
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except ValueError as error:
        raise OSError(0, "the path holds a NUL") from error
    return _content(descriptor, limit=limit)


def read_inside(root: Path, path: Path, *, limit: int) -> bytes:
    """At most `limit` bytes of a regular file of a directory. Links may lead to it from inside of that, not out of it.

    The path is resolved once; what is opened then, one name after the other, may be no link any more. So it is the file
    that was judged, however fast a program of the project swaps what lies there.

    Raises:
        OutsideDirectory: The path leads out of `root`.
        OSError: It is missing, unreadable, or no regular file (`strerror` says what).
    """
    return read_resolved(root, Path(os.path.realpath(path)), limit=limit)


def read_resolved(root: Path, path: Path, *, limit: int) -> bytes:
    """At most `limit` bytes of a regular file of a directory, whose path was resolved and judged: no link leads to it.

    Raises:
        OutsideDirectory: The path leads out of `root`.
        OSError: It is missing, unreadable, no regular file, or its path leads through a link by now.
    """
    top = os.path.realpath(root)
    found = str(path)
    if ".." in path.parts or (found != top and not found.startswith(top.rstrip("/") + "/")):
        raise OutsideDirectory(root)
    *folders, name = Path(found).relative_to(top).parts or (".",)
    folder = os.open(top, _FLAGS | os.O_DIRECTORY)
    try:
        for part in folders:
            below = os.open(part, _FLAGS | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
        descriptor = os.open(name, _FLAGS | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)
    return _content(descriptor, limit=limit)


def _content(descriptor: int, *, limit: int) -> bytes:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "it is not an ordinary file")
    with os.fdopen(descriptor, "rb") as file:
        return file.read(limit)
