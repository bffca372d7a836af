"""The one place where path texts become resolved paths, and where "inside a root" is decided.

A resolved path is absolute and passes through no symbolic link. Links are followed component by component, even if the
end of the path does not exist yet, so the location of a new file is known before it is created. `~` is not expanded, as
only shells do that; a path that starts with it is refused with the absolute path in the message. On a file system that
ignores case, another spelling of a root counts as outside: the safe side.
"""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from claw_acp.core.errors import InvalidRequest, ToolError

MAX_LINKS = 40
"""Symbolic links followed in one path before it counts as a loop; the kernel's own limit."""


def locate(text: str, *, cwd: Path) -> Path:
    """The resolved path that `text` names, taken from the absolute directory `cwd` when relative.

    Raises:
        ToolError: The text cannot be a path, starts with `~`, loops, or may not be accessed.
    """
    if not text:
        raise ToolError("The path is empty; give the path of a file or directory.")
    if "\0" in text:
        raise ToolError("The path contains a NUL character; no file can have such a name.")
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        raise ToolError(f"The path {text!r} holds characters that no file name can have.") from error
    _refuse_home_shorthand(text)
    return resolve(cwd / text)


def _refuse_home_shorthand(text: str) -> None:
    first, separator, _ = text.partition("/")
    if not first.startswith("~") or (first != "~" and not separator):
        return
    home = os.path.expanduser(first)  # noqa: PTH111 - Path.expanduser raises for an unknown user
    meant = f"write {home} instead" if home != first else "write the absolute path instead"
    raise ToolError(f"`~` is not expanded in the path {text}; {meant}, or ./{first} for a file of that name.")


def resolve(path: Path) -> Path:
    """An absolute path with every symbolic link followed and `..` taken after that, as the kernel does.

    Components that do not exist are kept as they are written.

    Raises:
        ToolError: Too many links, a name that is too long, or a directory that may not be searched.
    """
    if not path.is_absolute():
        raise ToolError(f"The path {path} is not absolute.")
    done = Path(path.anchor)
    pending = list(reversed(path.parts[1:]))
    links = 0
    while pending:
        part = pending.pop()
        if part == "..":
            done = done.parent
            continue
        target = _link_target(done / part, asked=path)
        if target is None:
            done /= part
            continue
        links += 1
        if links > MAX_LINKS:
            raise ToolError(f"The path {path} runs through a loop of symbolic links.")
        if target.is_absolute():
            done = Path(target.anchor)
            pending.extend(reversed(target.parts[1:]))
        else:
            pending.extend(reversed(target.parts))
    return done


def _link_target(path: Path, *, asked: Path) -> Path | None:
    try:
        return path.readlink() if stat.S_ISLNK(path.lstat().st_mode) else None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:  # not knowing whether it is a link, no answer would be safe
        raise ToolError(f"The path {asked} cannot be resolved at {path}: {error.strerror}.") from error


def contains(path: Path, *, roots: Sequence[Path]) -> bool:
    """Return whether `path` leads into one of the resolved `roots` (or is one); relative and unresolvable paths do not.

    The path is resolved again, so that one that was changed after `locate`, or never resolved, is judged by its present
    target.
    """
    try:
        resolved = resolve(path)
    except ToolError:
        return False
    return any(resolved.is_relative_to(root) for root in roots)


def session_root(text: str) -> Path:
    """The resolved working directory of a session.

    Raises:
        InvalidRequest: It is not absolute, does not exist, or is not a directory.
    """
    if not text or "\0" in text or not Path(text).is_absolute():
        raise InvalidRequest(f"The directory {text!r} must be an absolute path.")
    try:
        root = resolve(Path(text))
    except ToolError as error:
        raise InvalidRequest(error.message) from error
    try:
        if root.is_dir():
            return root
    except OSError as error:
        raise InvalidRequest(f"The directory {text} cannot be looked at: {error.strerror}.") from error
    raise InvalidRequest(f"{text} is not a directory." if root.exists() else f"The directory {text} does not exist.")
