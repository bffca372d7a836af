"""Everything that read-only commands would read: files, directories, repositories, and the programs themselves."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import Final

from claw_acp.core.value import replace
from claw_acp.security.command_paths import Places, PolicyContext
from claw_acp.security.command_risk import Assessment, judge_touched
from claw_acp.security.forbidden import harmless_device, holds_forbidden
from claw_acp.security.read_only.commands import Look
from claw_acp.security.read_only.file_search import Fed
from claw_acp.security.read_only.repository import repository_doubt, tracked_files
from claw_acp.security.shell_command import SimpleCommand

MOST_NAMES: Final = 10_000
"""The most files and directories to check before names are passed to a program."""

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.@%+=:,#~^][A-Za-z0-9_.@%+=:,#~^-]*")
_PLAIN_PATH = re.compile(r"(?:/[A-Za-z0-9_.@%+=:,#~^][A-Za-z0-9_.@%+=:,#~^-]*)+")
_REPOSITORY = "looks at a repository that may run programs"
_UNKNOWN = "which files it reads is known only when it runs"


def assess_looks(
    command: SimpleCommand,
    looks: Sequence[Look],
    *,
    places: Places,
    writes: bool,
    limited: Callable[[Path], bool] | None,
) -> Assessment:
    """Judge a command that only reads.

    Args:
        command: The command.
        looks: Its program runs.
        places: Its possible directories.
        writes: Whether the line also writes files, which may change what is found.
        limited: Returns whether a rule limits reading a file; None without such rules.
    """
    paths: list[Path] = []
    doubts: list[str] = []
    for look in looks:
        inside = places.inside_of(look.directory)
        found, known = _named(look, inside)
        paths += found
        changes = writes and (look.repository or look.fed or look.chosen_by or _has_patterns(look))
        unknown = changes or not known or not inside.bases
        doubts += [_UNKNOWN] if unknown else list(_doubts(look, found, places=inside))
        if limited and (look.words.whole or look.fed) and _holds_limited(look, found, limited, places=inside):
            doubts.append("a rule of yours limits reading a file that it would look into")
    risk = judge_touched(command, named=paths, places=places, doubt=doubts[0] if doubts else None)
    return replace(risk, distrusted=any(doubt.startswith(_REPOSITORY) for doubt in doubts))


def with_repository(command: SimpleCommand, risk: Assessment, *, places: Places) -> Assessment:
    """`risk` of a command that may do more than read, with the findings about the repository that git would use."""
    if command.program != "git":
        return risk
    return replace(risk, distrusted=any(repository_doubt(base) for base in places.bases))


def _has_patterns(look: Look) -> bool:
    return any(operand.pattern for operand in look.words.paths)


def _named(look: Look, places: Places) -> tuple[list[Path], bool]:
    """The files that a run names, and whether these are all."""
    found: list[Path] = list(places.bases) if look.directory else []
    for operand in look.words.paths:
        if not operand.pattern and (harmless_device(operand.text) or len(operand.text) > 4_096 or "\0" in operand.text):
            continue
        matches = places.expand(operand.text) if operand.pattern else places.resolve(operand.text)
        if not matches:
            return found, False
        found += matches
    return found, True


def _doubts(look: Look, named: Sequence[Path], *, places: Places) -> Iterator[str]:
    """Reasons that this run might do more here than elsewhere."""
    context = places.context
    directories = [path for path in named if path.is_dir()] or list(places.bases)
    if (look.words.whole or look.fed) and any(
        holds_forbidden(directory, home=context.home, protected=context.protected) for directory in directories
    ):
        yield "a search through these directories would read places that hold credentials"
    if look.files and any(path.is_dir() for path in named) and look.fed is None:
        yield _UNKNOWN
    if look.fed and not _known_names(look.fed, directories, places=places):
        yield "it is handed names of files, and one of those may be a link, or be taken for several words"
    if look.program and _inside_project(look.program, places=places):
        yield "it runs a program that lies in the project"
    for base in places.bases:
        if look.repository and (doubt := repository_doubt(base)):
            yield f"{_REPOSITORY}: {doubt}"
        if any((above / name).exists() for name in look.chosen_by for above in (base, *base.parents)):
            yield "a file of the project chooses which program really runs"


def _holds_limited(look: Look, named: Sequence[Path], limited: Callable[[Path], bool], *, places: Places) -> bool:
    """True if a directory read as a whole holds a file with a limiting rule, or too many files to check."""
    if look.repository:
        tracked = [tracked_files(base) for base in places.bases]
        return any(found is None or any(limited(found[0] / name) for name in found[1]) for found in tracked)
    waiting, seen = [path for path in named if path.is_dir()] or list(places.bases), 0
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    seen += 1
                    if seen > MOST_NAMES or limited(Path(entry.path)):
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
        except OSError:
            return True
    return False


def _inside_project(program: str, *, places: Places) -> bool:
    """Return whether a bare name leads to a program in the project, as in an activated virtual environment."""
    if "/" in program:
        return False
    for entry, base in product(places.context.search_path, places.bases):
        directory = base / entry
        candidate = directory / program
        if os.access(candidate, os.X_OK):
            return places.context.inside(candidate.resolve()) or places.context.inside(directory.resolve())
    return False


def _known_names(fed: Fed, directories: Sequence[Path], *, places: Places) -> bool:
    """Return whether all names that a program gets are plain words, and lead to files of the project."""
    if fed.tracked:
        return all(_known_tracked(base, context=places.context) for base in places.bases)
    return all(_known_below(directory, fed, context=places.context) for directory in directories)


def _known_tracked(base: Path, *, context: PolicyContext) -> bool:
    """The same for the names in git's index, relative to the work tree or to the command's directory."""
    tracked = tracked_files(base)
    if tracked is None or not all(_PLAIN_PATH.fullmatch(f"/{name}") and ".." not in name for name in tracked[1]):
        return False
    paths = {place / name for place in (tracked[0], base) for name in tracked[1]}
    folders = {path.parent for path in paths}
    return all(context.inside(folder.resolve()) for folder in folders) and all(
        _leads_inside(path, context) for path in paths
    )


def _leads_inside(path: Path, context: PolicyContext) -> bool:
    return not path.is_symlink() or context.inside(Path(os.path.realpath(path)))


def _known_below(directory: Path, fed: Fed, *, context: PolicyContext) -> bool:
    waiting, seen = [directory], 0
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    seen += 1
                    folder = entry.is_dir(follow_symlinks=False)
                    if folder and not fed.dotted and entry.name.startswith("."):
                        continue
                    counts = folder or all(fnmatchcase(entry.name, glob) for glob in fed.globs)
                    if seen > MOST_NAMES or (counts and not _known_entry(entry, fed, context=context)):
                        return False
                    if folder:
                        waiting.append(Path(entry.path))
        except OSError:
            return False
    return True


def _known_entry(entry: os.DirEntry[str], fed: Fed, *, context: PolicyContext) -> bool:
    if fed.split and not _PLAIN_NAME.fullmatch(entry.name):
        return False
    return fed.regular or not entry.is_symlink() or _leads_inside(Path(entry.path), context)
