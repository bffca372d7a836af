"""Disk work on resolved paths, by descriptors, without ever following a symbolic link.

Guaranteed: a path is opened one component at a time from the root, none of which may be a link. So the file that is
read or replaced is the one whose path was judged; when a component was swapped for a link in between, the operation
fails. Not guaranteed: hard links and mounts inside a root are indistinguishable from plain files, and a directory may
be moved elsewhere while its descriptor is held.

Everything here blocks and belongs in a worker thread.
"""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from claw_acp.core.errors import ToolError

# Platforms lack some of these; there the flag is empty and the guarantee is as good as the platform.
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)  # opening a named pipe must not wait for its other end
_BINARY = getattr(os, "O_BINARY", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", os.O_RDONLY) | _NOFOLLOW | _CLOEXEC
READ_FLAGS = os.O_RDONLY | _NOFOLLOW | _NONBLOCK | _CLOEXEC | _BINARY
CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOEXEC | _BINARY

_CHUNK = 1 << 20
_NO_SECOND_NAMES = frozenset({errno.EPERM, errno.EACCES, errno.EMLINK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})


def read(path: Path, *, limit: int) -> bytes:
    """The content of the regular file at a resolved path, at most `limit` bytes.

    Raises:
        ToolError: Missing, not a regular file, longer than `limit`, unreadable, or its path leads through a link.
    """
    with explained(path), in_directory(path.parent) as parent:
        descriptor = os.open(path.name or ".", READ_FLAGS, dir_fd=parent)
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            _refuse_unless_regular(path, os.fstat(descriptor))
            return read_all(path, file.fileno(), limit=limit)


def read_all(path: Path, descriptor: int, *, limit: int) -> bytes:
    """Read an open file to its end.

    Raises:
        ToolError: It has more than `limit` bytes.
    """
    content = bytearray()
    while chunk := os.read(descriptor, min(_CHUNK, limit + 1 - len(content))):
        content += chunk
        if len(content) > limit:
            raise ToolError(f"{path} is larger than {limit:,} bytes; read a part of it with a command instead.")
    return bytes(content)


def replace(path: Path, content: bytes, *, temporary: str, keep_prefix: bytes = b"") -> None:
    """Write `content` to a resolved path atomically; missing parent directories are created.

    The content goes to a file named `temporary` beside the target, which then takes its place: a reader sees the old or
    the new content, never a mixture, and a failure leaves the old. Permissions and (where allowed) the owner are kept,
    and so is `keep_prefix` (such as a byte order mark) when the old content starts with it. There is no fsync: after a
    power cut the old content may be back.

    Raises:
        ToolError: The file is read-only or not a regular file, or the directory cannot be written.
    """
    with explained(path), in_directory(path.parent, make=True) as parent:
        before = _replaceable(path, parent=parent)
        if keep_prefix and before is not None and _starts_with(path, keep_prefix, parent=parent):
            content = keep_prefix + content.removeprefix(keep_prefix)
        descriptor = os.open(temporary, CREATE_FLAGS, 0o666, dir_fd=parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                if before is not None:
                    _keep_identity(descriptor, before)
                file.write(content)
            os.replace(temporary, path.name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=parent)
            raise


def remove(path: Path) -> None:
    """Delete the file or symbolic link at a path whose parent is resolved; a link's target stays.

    Raises:
        ToolError: Missing, a directory, a device, or the directory cannot be written.
    """
    with explained(path), in_directory(path.parent) as parent:
        _refuse_unless_movable(path, parent=parent)
        os.unlink(path.name, dir_fd=parent)


def move(path: Path, target: Path) -> None:
    """Move the file or symbolic link at a path to another, where nothing is yet; missing directories are created.

    Both names exist for a moment, so that nothing that appears at the target meanwhile is replaced.

    Raises:
        ToolError: Missing, a directory, a device, the target exists, or it is on another file system.
    """
    with explained(path), in_directory(path.parent) as parent:
        _refuse_unless_movable(path, parent=parent)
        with explained(target), in_directory(target.parent, make=True) as other:
            try:
                os.link(path.name, target.name, src_dir_fd=parent, dst_dir_fd=other, follow_symlinks=False)
            except FileExistsError as error:
                raise ToolError(f"{target} exists already; nothing was moved.") from error
            except OSError as error:
                _rename(path, target, parent=parent, other=other, cause=error)
                return
        os.unlink(path.name, dir_fd=parent)


def _rename(path: Path, target: Path, *, parent: int, other: int, cause: OSError) -> None:
    """Move a file where there are no second names for one, or not for this one."""
    if cause.errno == errno.EXDEV:
        raise ToolError(f"{target} is on another file system than {path}; move it with a command.") from cause
    if cause.errno not in _NO_SECOND_NAMES:
        raise cause
    with suppress(FileNotFoundError):
        os.stat(target.name, dir_fd=other, follow_symlinks=False)
        raise ToolError(f"{target} exists already; nothing was moved.")
    os.rename(path.name, target.name, src_dir_fd=parent, dst_dir_fd=other)


def _refuse_unless_movable(path: Path, *, parent: int) -> None:
    status = os.stat(path.name or ".", dir_fd=parent, follow_symlinks=False)
    if not stat.S_ISLNK(status.st_mode):
        _refuse_unless_regular(path, status)


def _replaceable(path: Path, *, parent: int) -> os.stat_result | None:
    """The status of the file to replace, None when there is none yet."""
    if not path.name:
        raise ToolError(f"{path} is a directory, not a file.")
    try:
        status = os.stat(path.name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
    _refuse_unless_regular(path, status)
    if not os.access(path.name, os.W_OK, dir_fd=parent):
        raise ToolError(f"{path} is read-only; it was left as it is.")
    return status


def _starts_with(path: Path, prefix: bytes, *, parent: int) -> bool:
    try:
        descriptor = os.open(path.name, READ_FLAGS, dir_fd=parent)
    except PermissionError:  # writable but not readable: there is nothing to compare with
        return False
    with os.fdopen(descriptor, "rb") as file:
        return file.read(len(prefix)) == prefix


def _keep_identity(descriptor: int, before: os.stat_result) -> None:
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        with suppress(PermissionError):  # only root may give files away; everyone else owns what they write
            os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


@contextmanager
def in_directory(path: Path, *, make: bool = False) -> Generator[int]:
    """Open a directory for the block, following no link; with `make`, missing ones are created."""
    descriptor = os.open(path.anchor, _DIRECTORY)
    try:
        for part in path.parts[1:]:
            step = _enter(part, parent=descriptor, make=make)
            os.close(descriptor)
            descriptor = step
        yield descriptor
    finally:
        os.close(descriptor)


def _enter(part: str, *, parent: int, make: bool) -> int:
    try:
        return os.open(part, _DIRECTORY, dir_fd=parent)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):  # someone else made it meanwhile: as good
        os.mkdir(part, dir_fd=parent)
    return os.open(part, _DIRECTORY, dir_fd=parent)


def _refuse_unless_regular(path: Path, status: os.stat_result) -> None:
    mode = status.st_mode
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise ToolError(f"{path} is a directory, not a file.")
    if stat.S_ISLNK(mode):
        raise _link_on_the_way(path)
    raise ToolError(f"{path} is a device, pipe or socket, not a file with content.")


def _link_on_the_way(path: Path) -> ToolError:
    return ToolError(f"{path} passes through a symbolic link that was not there when it was checked; try again.")


@contextmanager
def explained(path: Path) -> Generator[None]:
    """Turn the system's errors about a path into sentences, as ToolError."""
    try:
        yield
    except FileNotFoundError as error:
        raise ToolError(f"{path} does not exist.") from error
    except IsADirectoryError as error:
        raise ToolError(f"{path} is a directory, not a file.") from error
    except NotADirectoryError as error:  # what O_DIRECTORY | O_NOFOLLOW reports for a link, too
        if any(parent.is_symlink() for parent in path.parents):
            raise _link_on_the_way(path) from error
        raise ToolError(f"{path} cannot exist: a part of its path is a file, not a directory.") from error
    except PermissionError as error:
        raise ToolError(f"{path} may not be accessed: permission denied.") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _link_on_the_way(path) from error
        raise ToolError(f"{path} cannot be accessed: {error.strerror or error}.") from error
