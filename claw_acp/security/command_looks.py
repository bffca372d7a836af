"""What commands that only read would read here: files, directories, repositories, and the programs themselves."""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Final

from claw_acp.security.command_paths import Places
from claw_acp.security.command_risk import Assessment, judge_touched
from claw_acp.security.forbidden import harmless_device, holds_forbidden
from claw_acp.security.looks.looking import Look
from claw_acp.security.looks.repository import repository_doubt, tracked_names
from claw_acp.security.shell_command import SimpleCommand

MOST_NAMES: Final = 20_000
"""Files and directories that are looked at before names are handed to a program."""

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.@%+=:,#~^][A-Za-z0-9_.@%+=:,#~^-]*")
_UNKNOWN = "which files it reads is known only when it runs"


def assess_looks(command: SimpleCommand, looks: Sequence[Look], *, places: Places, writes: bool) -> Assessment:
    """Judge a command that only reads.

    Args:
        command: The command.
        looks: What it consists of.
        places: Where it may run.
        writes: Whether the line also writes files, which may change what is found here.
    """
    paths: list[Path] = []
    doubts: list[str] = []
    for look in looks:
        inside = places.inside_of(look.directory)
        found, known = _named(look, inside)
        paths += found
        changes = writes and (look.repository or look.opens or look.chosen_by or _has_patterns(look))
        unknown = changes or not known or not inside.bases
        doubts += [_UNKNOWN] if unknown else list(_doubts(look, found, places=inside))
    return judge_touched(command, named=paths, places=places, doubt=doubts[0] if doubts else None)


def _has_patterns(look: Look) -> bool:
    return any(operand.pattern for operand in look.words.paths)


def _named(look: Look, places: Places) -> tuple[list[Path], bool]:
    """The files that a look names, and whether these are all."""
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
    """Why this look might do more here than it would elsewhere."""
    context = places.context
    directories = [path for path in named if path.is_dir()] or list(places.bases)
    if (look.words.whole or look.opens) and any(
        holds_forbidden(directory, home=context.home, protected=context.protected) for directory in directories
    ):
        yield "a search through these directories would read places that hold credentials"
    if look.files and any(path.is_dir() for path in named) and not look.opens:
        yield _UNKNOWN
    if look.opens and not all(_plain_below(directory, places=places) for directory in directories):
        yield "it is handed names of files, and one of those may be a link, or be taken for several words"
    if look.program and _inside_project(look.program, places=places):
        yield "it runs a program that lies in the project"
    for base in places.bases:
        if look.repository and (doubt := repository_doubt(base)):
            yield f"looks at a repository that may run programs: {doubt}"
        if look.tracked and not _plain_index(base):
            yield "the names that git would print cannot be checked"
        if any((above / name).exists() for name in look.chosen_by for above in (base, *base.parents)):
            yield "a file of the project chooses which program really runs"


def _inside_project(program: str, *, places: Places) -> bool:
    """Whether a bare name leads to a program in the project, as it does in an activated virtual environment."""
    if "/" in program:
        return False
    for entry, base in product(places.context.search_path, places.bases):
        directory = base / entry
        candidate = directory / program
        if os.access(candidate, os.X_OK):
            return places.context.inside(candidate.resolve()) or places.context.inside(directory.resolve())
    return False


def _plain_index(base: Path) -> bool:
    tracked = tracked_names(base)
    return tracked is not None and all(
        part and part != ".." and _PLAIN_NAME.fullmatch(part) for name in tracked for part in name.split("/")
    )


def _plain_below(directory: Path, *, places: Places) -> bool:
    """Whether all names below a directory are plain words, and no link there leads out of the project."""
    context = places.context
    waiting, seen = [directory], 0
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    seen += 1
                    if seen > MOST_NAMES or not _PLAIN_NAME.fullmatch(entry.name):
                        return False
                    if entry.is_symlink():
                        if not context.inside(Path(os.path.realpath(entry.path))):
                            return False
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
        except OSError:
            return False
    return True
