"""The places of files that may hold hooks, and whether they have changed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from claw_acp.core.value import Value

OWN_FILE: Final = ".claw/hooks.json"
FOREIGN_FILES: Final = (".claude/settings.json", ".claude/settings.local.json", ".codex/hooks.json")


class HookFile(Value):
    """A file that may hold hooks; those of a project must lie inside of it."""

    path: Path
    project: Path | None = None


def hook_files(project: Path, *, config_dir: Path, home: Path, use: str) -> Sequence[HookFile]:
    """The files to look at, in order: the user's own, then the project's; none need exist."""
    if use == "off":
        return ()
    own = [HookFile(path=config_dir / "hooks.json")]
    if use == "own":
        return own
    users = [HookFile(path=home / name) for name in FOREIGN_FILES]
    projects = [HookFile(path=project / name, project=project) for name in (OWN_FILE, *FOREIGN_FILES)]
    known = {file.path for file in users}
    return [*own, *users, *(file for file in projects if file.path not in known)]


def states(files: Sequence[HookFile]) -> tuple[tuple[int, ...] | None, ...]:
    """The states of the files on disk, which change when they do; None for those that are missing."""
    return tuple(_state(file.path) for file in files)


def _state(path: Path) -> tuple[int, ...] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns  # no program can choose the last
