"""The reason a path could not be used, with a hint at the right one."""

import os
from difflib import get_close_matches
from pathlib import Path

import anyio.to_thread

from claw_acp.contracts.workspace import Workspace
from claw_acp.core.errors import ToolError
from claw_acp.tools.display import printable, shown_path

MAX_NEIGHBOURS = 2_000  # names of a directory that are compared
MAX_SUGGESTIONS = 3


async def better_error(error: ToolError, *, path: Path, workspace: Workspace) -> ToolError:
    """The workspace's error, or a more helpful one if the path is a directory or is missing."""
    return await anyio.to_thread.run_sync(_diagnose, error, path, workspace)


async def exists(path: Path) -> bool:
    """Return whether anything exists at the path on disk, including a dangling symlink."""
    return await anyio.to_thread.run_sync(os.path.lexists, path)


async def require_directory(path: Path, *, workspace: Workspace) -> None:
    """Check that a directory exists.

    Raises:
        ToolError: There is none; the text says what is there instead, or what has a similar name.
    """
    if not await anyio.to_thread.run_sync(os.path.isdir, path):
        shown = shown_path(path, workspace=workspace)
        error = ToolError(f"{shown} is not a directory. Use read_file for a file.")
        raise await better_error(error, path=path, workspace=workspace)


def _diagnose(error: ToolError, path: Path, workspace: Workspace) -> ToolError:
    shown = shown_path(path, workspace=workspace)
    if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises where this answers False
        return ToolError(f"{shown} is a directory, not a file. Call list_files with this path to see what is in it.")
    if os.path.lexists(path):
        return error
    return ToolError(f"{shown} does not exist. {_advice(path, workspace)}")


def _advice(path: Path, workspace: Workspace) -> str:
    parent = path.parent
    if not os.path.isdir(parent):  # noqa: PTH112 - as above
        while parent != parent.parent and not os.path.isdir(parent):  # noqa: PTH112 - as above
            parent = parent.parent
        return f"Neither does its directory; the nearest one that exists is {shown_path(parent, workspace=workspace)}."
    near = _similar(path) if workspace.contains(parent) else []
    if near:
        names = " or ".join(shown_path(parent / name, workspace=workspace) for name in near)
        return f"Did you mean {names}?"
    return f"Call list_files with path {shown_path(parent, workspace=workspace)!r}, or glob, to find it."


def _similar(path: Path) -> list[str]:
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry, _ in zip(entries, range(MAX_NEIGHBOURS), strict=False)]
    except OSError:  # a directory that cannot be read has nothing to suggest
        return []
    wanted = path.name.casefold()
    folded = {name.casefold(): name for name in sorted(names)}
    near = [folded[name] for name in get_close_matches(wanted, folded, n=MAX_SUGGESTIONS)]
    same_stem = [name for name in sorted(names) if Path(name).stem.casefold() == path.stem.casefold()]
    return [printable(name) for name in dict.fromkeys(near + same_stem)][:MAX_SUGGESTIONS]
