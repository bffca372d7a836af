"""Files of a project from which programs of this machine run commands, so that writing them is as good as running them.

They are asked about in every mode. They take effect without a build or test of the project: when an editor or an agent
opens the folder, a shell enters it, a version manager or package manager runs, git reads its state, or a program of an
environment is called by its bare name.

Not included, although they hold commands: the project's own code, build files and tests (Makefile, package.json,
conftest.py), which run when the person or an allowed command builds or tests; files for other machines
(.github/workflows); .gitattributes and .gitmodules, which only choose among programs that git's settings name. Asking
about those would make every other edit a question, and questions that always come are answered without reading.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from claw_acp.security.command_paths import PolicyContext
from claw_acp.security.git_settings import paths_in_settings
from claw_acp.security.guarded_names import guarded_by_name, guarded_name

MOST_ENTRIES: Final = 1_000
"""The most directory entries of a root to check for links."""
DEEPEST: Final = 3  # directories below a root
_OPEN_AT_HOME: Final = frozenset({".cache", ".trash"})
_RUN_AT_HOME: Final = frozenset({"library", "bin"})


def guarded(*paths: Path, context: PolicyContext) -> str | None:
    """The reason a write to one of these resolved paths inside the roots is asked about in every mode, or None."""
    inside = [(path, root) for path in paths if (root := _root_of(path, context))]
    for path, root in inside:
        reason = guarded_by_name(path.relative_to(root)) or _guarded_by_place(path, root=root)
        reason = reason or _guarded_at_home(path, root=root, home=context.home)
        if reason:
            return reason
    if not inside:
        return None
    for place, reason in _led_to(context):
        if any(path.is_relative_to(place) for path, _ in inside):
            return reason
    folders = {_real(root / entry) for root in context.roots for entry in context.search_path}
    found = next((path for path, _ in inside if {path, path.parent} & folders), None)
    return f"programs in {found.parent.name} are called by their bare names" if found else None


def _root_of(path: Path, context: PolicyContext) -> Path | None:
    """The innermost root around a path."""
    around = [root for root in context.roots if path.is_relative_to(root)]
    return max(around, key=lambda root: len(root.parts), default=None)


def _guarded_by_place(path: Path, *, root: Path) -> str | None:
    """The reason found by place: bare repositories and environments have any name, but typical contents."""
    folder, top = str(path), str(root)  # as texts: paths as objects take ten times as long, for each word of a command
    while True:
        name = os.path.basename(folder)  # noqa: PTH119
        if all(os.path.exists(f"{folder}/{entry}") for entry in ("HEAD", "objects", "refs")):  # noqa: PTH110 - never raises
            return f"{name} is a git repository, with commands that git runs"
        if any(os.path.exists(f"{folder}/{entry}") for entry in ("pyvenv.cfg", "conda-meta")):  # noqa: PTH110
            return f"{name} is an environment, whose programs are called by their bare names"
        if folder == top:
            return None
        folder = os.path.dirname(folder)  # noqa: PTH120


def _guarded_at_home(path: Path, *, root: Path, home: Path) -> str | None:
    """The reason in a home directory that is a project: programs may read any file whose name begins with a dot."""
    if not home.is_relative_to(root) or not path.is_relative_to(home) or path == home:
        return None
    first = path.relative_to(home).parts[0].casefold()
    return f"{first} in the home directory is read or run by programs when they start" if runs_at_home(first) else None


def runs_at_home(name: str) -> bool:
    """Return whether programs read or run what has this name in a home directory."""
    first = name.casefold()
    return first in _RUN_AT_HOME or (first.startswith(".") and first not in _OPEN_AT_HOME)


def _led_to(context: PolicyContext) -> Iterator[tuple[Path, str]]:
    """Paths of any name that a guarded name or a setting leads to, each with the reason."""
    for root in context.roots:
        for link in _guarded_links(root):
            yield _real(link), f"{link.name} leads there, which can make other programs run commands"
        for key, place in paths_in_settings(root, home=context.home):
            real = _real(place)
            if real not in {root, *root.parents}:
                yield real, f"git's setting {key} leads there, with commands that git runs"


def _guarded_links(root: Path) -> Iterator[Path]:
    level: Sequence[str] = [str(root)]
    seen = 0
    for _ in range(DEEPEST):
        below: list[str] = []
        for directory in level:
            for entry in _entries(directory):
                seen += 1
                if seen > MOST_ENTRIES:
                    return
                if entry.is_symlink() and guarded_name(entry.name):
                    yield Path(entry.path)
                elif entry.is_dir(follow_symlinks=False) and not guarded_name(entry.name):
                    below.append(entry.path)
        level = below


def _entries(directory: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            return [entry for entry, _ in zip(entries, range(MOST_ENTRIES), strict=False)]
    except OSError:
        return []


def _real(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError, RecursionError):
        return path
