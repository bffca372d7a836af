"""Files in which a project, or a person, tells agents how to work: found, read with their imports, and bounded."""

import logging
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from claw_acp.config.safe_read import OutsideDirectory, read_plain_file, read_resolved
from claw_acp.core.value import Record, Value, made_by
from claw_acp.workspace.repository import folders_down_to

log = logging.getLogger(__name__)

NAMES: Final = (
    "SOUL.md", "USER.md", "TOOLS.md", "AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md",
)  # fmt: skip
"""The files of a folder, in the order in which models are shown them."""
LONGEST: Final = 20_000  # characters of one file, with what it imports
LONGEST_TOGETHER: Final = 60_000  # characters of all files
LONGEST_TOLD: Final = 8_000  # characters of one that is told with a tool's result
_LEAST: Final = 500  # characters; less of a file is of no use
_READ: Final = 4 * LONGEST + 4  # bytes: enough to see that there are more
HOPS: Final = 4  # files that import files
MOST_IMPORTS: Final = 50
MOST_TRIED: Final = 1_000  # names in one file that could be those of others
_DOCUMENTS: Final = frozenset({".md", ".markdown", ".mdx", ".mdc", ".txt", ".rst", ".adoc", ""})
"""Suffixes of what can be imported. Settings may hold keys, and a project's text must not send those to a model."""
_AGENTS_OWN: Final = frozenset({".claude", ".claw", ".agents", ".github", ".cursor"})

MayRead: TypeAlias = Callable[[Path], bool]

_IMPORT: Final = r"(?<![\w@/.`])@((?:~/|\.{1,2}/|/)?[\w.][\w./-]*[\w-])"
_FENCE: Final = r"\s{0,3}(`{3,}|~{3,})"


class InstructionFile(Value):
    """A file of instructions.

    Attributes:
        path: Where it is.
        text: Its text with what it imports; shortened where it is too long.
        of_person: It is the person's own, and of no project.
        cut: The characters that were left out.
    """

    path: Path
    text: str
    of_person: bool = False
    cut: int = 0


class _Place(Value):
    """A file that may be there, and the directory that it must not lead out of; None: it is the person's own."""

    path: Path
    within: Path | None


class _Reading(Record):
    """The files read so far, and what one file imports."""

    standing: frozenset[str]
    may_read: MayRead | None
    tried: int = 0
    imports: int = 0
    chain: list[str] = made_by(default_factory=list[str])


def instruction_files(
    folder: Path, *, own: Sequence[Path] = (), may_read: MayRead | None = None
) -> Sequence[InstructionFile]:
    """The files for work in a folder: those of the person, then of each folder from the repository's root down to it.

    The same text is not returned twice. Of too much text, the farthest is left out first. Blocks.

    Args:
        folder: The working folder.
        own: The files of the person, where there are such; `~` is their home.
        may_read: Returns whether rules let a model read a file of the project, which holds for what is imported, too.
    """
    levels = folders_down_to(folder)
    groups = [[_Place(path=path.expanduser(), within=None)] for path in own]
    groups += [[_Place(path=level / name, within=levels[0]) for name in NAMES] for level in levels]
    standing = frozenset(_real(place.path) for group in groups for place in group)
    taken: set[str] = set()
    nearest_first: list[InstructionFile] = []
    room = LONGEST_TOGETHER
    for group in reversed(groups):
        found = list(_new_ones(group, taken=taken, standing=standing, may_read=may_read))
        for file in reversed(found):
            kept = _shortened(file, most=min(LONGEST, room))
            room -= len(kept.text)
            nearest_first.append(kept)
    return nearest_first[::-1]


def folder_files(folder: Path, *, within: Path, may_read: MayRead | None) -> Sequence[InstructionFile]:
    """The files of one folder of a project, each bounded as a part of a tool's result. Blocks."""
    group = [_Place(path=folder / name, within=within) for name in NAMES]
    standing = frozenset(_real(place.path) for place in group)
    found = _new_ones(group, taken=set(), standing=standing, may_read=may_read)
    return [_shortened(file, most=LONGEST_TOLD) for file in found]


def _new_ones(
    group: Sequence[_Place], *, taken: set[str], standing: frozenset[str], may_read: MayRead | None
) -> Iterator[InstructionFile]:
    """The files of a group that are there, are not empty, and have a text that was not taken yet."""
    for place in group:
        real = _real(place.path)
        text = _text(place, real)
        if text is None or real in taken or not _is_open(real, place=place, may_read=may_read):
            continue
        reading = _Reading(standing=standing, may_read=may_read, chain=[real])
        whole = _with_imports(text, place=place, reading=reading).strip()
        if whole and whole not in taken:
            taken |= {real, whole}
            yield InstructionFile(path=place.path, text=whole, of_person=place.within is None)


def _shortened(file: InstructionFile, *, most: int) -> InstructionFile:
    if len(file.text) <= most:
        return file
    most = most if most >= _LEAST else 0
    note = f"[cut: {len(file.text) - most:,} characters of {file.path} are left out]"
    kept = f"{file.text[:most]}\n{note}" if most else note
    return InstructionFile(path=file.path, text=kept, of_person=file.of_person, cut=len(file.text) - most)


def _real(path: Path) -> str:
    try:
        return os.path.realpath(path)
    except OSError:  # a link that was swapped while it was followed; nothing is read through links
        return str(path)


def _is_open(real: str, *, place: _Place, may_read: MayRead | None) -> bool:
    """Return whether rules let a model read a file; those of the person are theirs to send."""
    return place.within is None or may_read is None or may_read(Path(real))


def _text(place: _Place, real: str) -> str | None:
    """The text of a file; None where there is none, or none that may be read.

    Of a project's file the one at its resolved path is read, which rules judge: its name may lead elsewhere by now.
    """
    try:
        if place.within is None:
            data = read_plain_file(place.path, limit=_READ)
        else:
            data = read_resolved(place.within, Path(real), limit=_READ)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        level = logging.WARNING if isinstance(error, OutsideDirectory) else logging.INFO
        log.log(level, "instructions left out", extra={"path": str(place.path), "reason": error.strerror})
        return None
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def _with_imports(text: str, *, place: _Place, reading: _Reading) -> str:
    """A text in which each line that imports files is followed by them; in code, nothing is an import."""
    if "@" not in text:
        return text
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        lines.append(line)
        found = re.match(_FENCE, line)
        if found is not None:
            mark = found[1]
            if not fence:
                fence = mark
            elif mark[0] == fence[0] and len(mark) >= len(fence):
                fence = ""
        elif not fence and not line.startswith(("    ", "\t")):
            names = [found[1] for found in re.finditer(_IMPORT, _without_code(line))]
            lines += [block for name in names for block in _imported(name, place=place, reading=reading)]
    return "\n".join(lines)


def _without_code(line: str) -> str:
    """A line without what stands between as many backquotes at its beginning and at its end; one pass for all."""
    runs = [(found.start(), found.end()) for found in re.finditer("`+", line)]
    last = {end - start: index for index, (start, end) in enumerate(runs)}
    kept, done, index = list[str](), 0, 0
    while index < len(runs):
        start, length = runs[index][0], runs[index][1] - runs[index][0]
        if last[length] > index:
            index = next(at for at in range(index + 1, len(runs)) if runs[at][1] - runs[at][0] == length)
            kept.append(line[done:start])
            done = runs[index][1]
        index += 1
    return "".join((*kept, line[done:]))


def _imported(name: str, *, place: _Place, reading: _Reading) -> Iterator[str]:
    """The text of an imported file in a frame; none where it cannot be imported, or stands in the prompt anyway."""
    reading.tried += 1
    if reading.tried > MOST_TRIED:
        return
    path = Path(name).expanduser() if place.within is None and name.startswith("~/") else place.path.parent / name
    real = _real(path)
    if real in reading.standing or real in reading.chain or len(reading.chain) > HOPS:
        return
    within = place.within or place.path.parent
    if not _is_document(Path(real), within=Path(_real(within))) or reading.imports >= MOST_IMPORTS:
        return
    if not _is_open(real, place=place, may_read=reading.may_read):
        return
    imported = _Place(path=path, within=within)
    text = _text(imported, real)
    if text is None:
        return
    reading.imports += 1
    reading.chain.append(real)
    whole = _with_imports(text[:LONGEST], place=imported, reading=reading).strip()
    reading.chain.pop()
    yield f"[{name}]\n{whole}\n[end of {name}]"


def _is_document(path: Path, *, within: Path) -> bool:
    """Return whether a file is one that people write for readers, in a folder that is not hidden."""
    if not path.is_relative_to(within) or path.suffix.lower() not in _DOCUMENTS:
        return False
    return not any(part.startswith(".") and part not in _AGENTS_OWN for part in path.relative_to(within).parts)
