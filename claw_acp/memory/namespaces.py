"""The namespaces of memories: one for the person, one for each project."""

import os
from pathlib import Path
from typing import Final

from claw_acp.config.safe_read import read_plain_file
from claw_acp.memory.normalizing import one_line

USER: Final = "user"
"""The namespace of what holds in every project."""

_HISTORY: Final = "history:"
_MOST: Final = 8_192  # bytes of git's small files


def project_namespace(folder: Path) -> str:
    """The namespace of the project that a folder belongs to: its repository, which all worktrees share, or the folder.

    A few looks at the file system, no program.
    """
    place = Path(os.path.realpath(folder))
    for root in (place, *place.parents):
        git = root / ".git"
        if git.is_dir() and root.stat().st_uid in {place.stat().st_uid, os.getuid()}:
            return _named(root)
        if git.is_file():
            return _named(_main_worktree(git) or root)
    return _named(place)


def history_namespace(project: str) -> str:
    """The namespace of what left conversations in a project: found when it is looked for, never told unasked."""
    return f"{_HISTORY}{project.removeprefix('project:')}"


def visible(namespaces: tuple[str, str]) -> tuple[str, ...]:
    """All that a session may see, by the namespaces of its project and of its person."""
    return (*namespaces, history_namespace(namespaces[0]))


def _named(root: Path) -> str:
    return one_line(f"project:{root}")


def _main_worktree(git: Path) -> Path | None:
    """The folder of the repository that a worktree belongs to; None: it is none, or only says so.

    A foreign folder could name any repository to read its memories, so the repository must know the worktree, too.
    """
    own = _text(git).removeprefix("gitdir:").strip()
    if not own:
        return None
    directory = git.parent / own
    common, back = _text(directory / "commondir"), _text(directory / "gitdir")
    if not common or os.path.realpath(directory / back) != os.path.realpath(git):
        return None
    shared = Path(os.path.realpath(directory / common))
    return shared.parent if shared.name == ".git" else shared


def _text(file: Path) -> str:
    try:
        return read_plain_file(file, limit=_MOST).decode(errors="surrogateescape").strip()
    except OSError:
        return ""
