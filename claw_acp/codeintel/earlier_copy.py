"""A copy of a project as it was before a turn, in which a check can be run again."""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Final

from claw_acp.codeintel.changed_files import ChangedFile, DeletedFile

MOST_FILES: Final = 10_000
MOST_BYTES: Final = 200 * 1024 * 1024

_LINKED: Final = frozenset({"node_modules", ".venv", "venv"})
_LEFT_OUT: Final = frozenset({".git", ".hg", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", "target"})


def copy_before(root: Path, files: Sequence[ChangedFile | DeletedFile], *, to: Path, stop: Event) -> bool:
    """Copy a project with the old texts of these files. Installed packages are linked, and not copied. Blocks.

    Returns:
        False, and the copy is of no use, if it is too large, or `stop` was set.
    """
    size = 0
    for number, (source, target) in enumerate(_plan(root, to)):
        size += source.lstat().st_size
        if number > MOST_FILES or size > MOST_BYTES or stop.is_set():
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.name in _LINKED:
            target.symlink_to(source)
        else:
            shutil.copy2(source, target, follow_symlinks=False)
    for file in files:
        target = to / file.path.relative_to(root)
        if file.before is None or (isinstance(file, ChangedFile) and file.origin is not None):
            target.unlink(missing_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(file.before, encoding="utf-8", newline="")
    return True


def _plan(root: Path, to: Path) -> Iterator[tuple[Path, Path]]:
    """What is copied or linked, and where to."""
    for above, folders, names in os.walk(root):
        here = to / Path(above).relative_to(root)
        for name in _LINKED.intersection(folders):
            yield Path(above, name), here / name
        folders[:] = [name for name in folders if name not in _LINKED | _LEFT_OUT]
        for name in (*folders, *names):
            source = Path(above, name)
            if source.is_symlink() or source.is_file():  # no socket, no pipe
                yield source, here / name
