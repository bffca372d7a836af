"""The folders of a repository above and below a session's folder."""

import os
from collections.abc import Sequence
from pathlib import Path

from claw_acp.security.untrusted_text import PACKAGES


def repository_root(folder: Path) -> Path:
    """The root of the repository that a folder is in; the folder itself where it is in none.

    A repository that somebody else keeps above the folder does not count, as for git: on a shared machine anybody can
    make one of `/tmp`.
    """
    root = next((place for place in (folder, *folder.parents) if os.path.lexists(place / ".git")), folder)
    try:
        return root if root.stat().st_uid in {folder.stat().st_uid, os.getuid()} else folder
    except OSError:  # a folder that was removed meanwhile
        return folder


def folders_down_to(folder: Path) -> Sequence[Path]:
    """The folders from the root of its repository down to a folder, both included."""
    root = repository_root(folder)
    return [place for place in reversed((folder, *folder.parents)) if place.is_relative_to(root)]


def folders_between(root: Path, folder: Path) -> Sequence[Path]:
    """The folders below `root` down to `folder`, as far as they hold words of the same project.

    Packages, and repositories inside of this one, were written by others.
    """
    found: list[Path] = []
    for part in folder.relative_to(root).parts:
        place = (found[-1] if found else root) / part
        if part in PACKAGES or part.startswith(".") or os.path.lexists(place / ".git"):
            break
        found.append(place)
    return found
