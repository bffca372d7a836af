"""The state of paths on disk: read, stored, and restored. Everything here blocks.

As in `files`, no link is ever followed: a path is opened component by component.
"""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from claw_acp.core.errors import ToolError
from claw_acp.core.events import PathKind, PathState
from claw_acp.core.value import replace
from claw_acp.store.contents import MAX_CONTENT, ContentStore, digest_of
from claw_acp.workspace.files import CREATE_FLAGS, READ_FLAGS, explained, in_directory, read_all

ABSENT: Final = PathState()
OTHER: Final = PathState(kind="other")


def state_of(
    path: Path, *, store: ContentStore | None = None, limit: int = MAX_CONTENT, durable: bool = True
) -> PathState:
    """The present state of an absolute path; contents up to `limit` bytes go to the store, if given.

    Anything unreadable, or behind a link, is `other`.

    Raises:
        ToolError: The content cannot be stored.
    """
    try:
        with in_directory(path.parent) as parent:
            status = os.stat(path.name, dir_fd=parent, follow_symlinks=False)
            state = state_by_status(status.st_mode, status.st_size)
            content = _content(path, state, parent=parent, limit=limit)
    except FileNotFoundError:
        return ABSENT
    except NotADirectoryError:
        return OTHER if any(above.is_symlink() for above in path.parents) else ABSENT
    except (OSError, ToolError):
        return OTHER
    if content is None:
        return state
    digest = digest_of(content) if store is None else store.put(content, durable=durable)
    return replace(state, size=len(content), digest=digest, kept=store is not None)


def state_by_status(mode: int, size: int) -> PathState:
    """The part of a path's state that its status shows."""
    kinds: dict[int, PathKind] = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}
    kind = kinds.get(stat.S_IFMT(mode), "other")
    permissions = 0 if kind == "link" else stat.S_IMODE(mode)
    return PathState(kind=kind, mode=permissions, size=size if kind in {"file", "link"} else 0)


def _content(path: Path, state: PathState, *, parent: int, limit: int) -> bytes | None:
    """The bytes of a file or the target of a link; None for anything else, and for longer ones than `limit`."""
    if state.kind == "link":
        return os.fsencode(os.readlink(path.name, dir_fd=parent))
    if state.kind != "file" or state.size > limit:
        return None
    with _readable(path.name, state, parent=parent):
        descriptor = os.open(path.name, READ_FLAGS, dir_fd=parent)
    try:
        return read_all(path, descriptor, limit=limit)
    finally:
        os.close(descriptor)


@contextmanager
def _readable(name: str, state: PathState, *, parent: int) -> Generator[None]:
    """Let the owner of a file read it for the block, whatever its mode: what nobody may read can be lost, too."""
    if state.mode & 0o400 or os.access(name, os.R_OK, dir_fd=parent):
        yield
        return
    _change_mode(name, state.mode | 0o400, parent=parent)
    try:
        yield
    finally:
        _change_mode(name, state.mode, parent=parent)


def _change_mode(name: str, mode: int, *, parent: int) -> None:
    """Change the mode of a file or directory that may itself not be opened; links are not followed."""
    if os.chmod in os.supports_follow_symlinks:
        os.chmod(name, mode, dir_fd=parent, follow_symlinks=False)
        return
    descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        if stat.S_ISLNK(os.fstat(descriptor).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        Path(f"/proc/self/fd/{descriptor}").chmod(mode)
    finally:
        os.close(descriptor)


@contextmanager
def _writable(parent: int) -> Generator[None]:
    """Let the owner of a directory change its entries for the block, whatever its mode."""
    status = os.fstat(parent)
    if status.st_mode & 0o200 or status.st_uid != os.geteuid():
        yield
        return
    mode = stat.S_IMODE(status.st_mode)
    _change_mode(".", mode | 0o200, parent=parent)
    try:
        yield
    finally:
        _change_mode(".", mode, parent=parent)


def put_back(path: Path, state: PathState, *, content: bytes, temporary: str) -> None:
    """Restore an absolute path to a state; `content` is that of its file or link.

    A file or link is written atomically, through one named `temporary` beside it; one that a killed program left behind
    is replaced. A directory is removed only when it is empty.

    Raises:
        ToolError: It cannot be done; the text says why.
    """
    if state.kind == "absent" and not os.path.lexists(path.parent):
        return
    with explained(path), in_directory(path.parent, make=True) as parent, _writable(parent):
        match state.kind:
            case "absent":
                _remove(path, parent=parent)
            case "directory":
                if _is_directory(path, parent=parent) is False:
                    _remove(path, parent=parent)
                _make_directory(path, state, parent=parent)
            case "file" | "link":
                if _is_directory(path, parent=parent):
                    _remove(path, parent=parent)
                _replace(path, state, content, temporary=temporary, parent=parent)
            case "other":
                raise ToolError(f"{path} was neither a file nor a directory nor a link.")


def _status(path: Path, *, parent: int) -> os.stat_result | None:
    try:
        return os.stat(path.name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _is_directory(path: Path, *, parent: int) -> bool | None:
    status = _status(path, parent=parent)
    return None if status is None else stat.S_ISDIR(status.st_mode)


def _remove(path: Path, *, parent: int) -> None:
    status = _status(path, parent=parent)
    if status is None:
        return
    if not stat.S_ISDIR(status.st_mode):
        os.unlink(path.name, dir_fd=parent)
        return
    try:
        os.rmdir(path.name, dir_fd=parent)
    except OSError as error:
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
            raise
        raise ToolError(f"{path} is a directory that holds other files.") from error


def _make_directory(path: Path, state: PathState, *, parent: int) -> None:
    with suppress(FileExistsError):
        os.mkdir(path.name, dir_fd=parent)
    _change_mode(path.name, state.mode, parent=parent)


def _replace(path: Path, state: PathState, content: bytes, *, temporary: str, parent: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(temporary, dir_fd=parent)
    try:
        if state.kind == "link":
            os.symlink(content, temporary, dir_fd=parent)
        else:
            _write_new(temporary, state, content, before=_status(path, parent=parent), parent=parent)
        os.replace(temporary, path.name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=parent)
        raise


def _write_new(name: str, state: PathState, content: bytes, *, before: os.stat_result | None, parent: int) -> None:
    descriptor = os.open(name, CREATE_FLAGS, 0o600, dir_fd=parent)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        if before is not None:
            with suppress(PermissionError):  # only root may give files away
                os.fchown(descriptor, before.st_uid, before.st_gid)
        os.fchmod(descriptor, state.mode)
        file.flush()
        os.fsync(descriptor)
