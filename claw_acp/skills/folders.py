"""The folders in which skills lie, and the skills in them. Looked at again before each prompt."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final

from claw_acp.config.kept_files import KeptFiles
from claw_acp.config.safe_read import read_inside, read_plain_file
from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.core.printable import printable
from claw_acp.core.value import Value
from claw_acp.skills.head import BadHead
from claw_acp.skills.skill import FILE, Scope, Skill, parse_skill
from claw_acp.workspace.repository import folders_down_to

PROJECT_FOLDERS: Final = (Path(".claw", "skills"), Path(".claude", "skills"), Path(".agents", "skills"))
BUILT_IN: Final = Path(__file__).parent / "builtin"
LARGEST: Final = 128 * 1024  # bytes of a SKILL.md
MOST_SKILLS: Final = 100  # of one folder


class SkillFolder(Value):
    """A folder of skills; `project` is the directory that its files belong to, and must not lead out of."""

    path: Path
    scope: Scope
    project: Path | None = None


class FoundSkills(Value):
    """The skills of some folders, the nearest first, and the faults of what is none, a line each."""

    skills: tuple[Skill, ...] = ()
    troubles: tuple[str, ...] = ()


def project_folders(roots: Sequence[Path], *, entered: Sequence[Path] = ()) -> Sequence[SkillFolder]:
    """The folders of a project, the nearest first; `entered` are further down, where the session came to."""
    places = dict.fromkeys(
        [*reversed(entered), *(place for root in roots for place in reversed(folders_down_to(root)))]
    )
    return [
        SkillFolder(path=place / below, scope="project", project=place) for place in places for below in PROJECT_FOLDERS
    ]


def folders_for(
    roots: Sequence[Path],
    *,
    entered: Sequence[Path] = (),
    config_dir: Path,
    environ: Mapping[str, str],
    more: Sequence[Path] = (),
) -> Sequence[SkillFolder]:
    """All folders for work in these roots, the nearest first.

    Args:
        roots: The working folders.
        entered: Folders below them that the work came to.
        config_dir: The directory of the person's configuration.
        environ: The variables of the person, with HOME.
        more: Further folders of the person.
    """
    home = Path(environ.get("HOME") or Path.home())
    own = own_folders(config_dir=config_dir, home=home)
    mine = [SkillFolder(path=path, scope="user") for path in more]
    return [*project_folders(roots, entered=entered), *own[:-1], *mine, own[-1]]


def own_folders(*, config_dir: Path, home: Path) -> Sequence[SkillFolder]:
    """The person's folders, and that of this program."""
    places = (config_dir / "skills", home / ".claude/skills", home / ".agents/skills")
    return [*(SkillFolder(path=path, scope="user") for path in places), SkillFolder(path=BUILT_IN, scope="built-in")]


def project_files(project: Path) -> tuple[Sequence[ProjectFile], Sequence[str]]:
    """The skills of a project, and the problems of those that are none."""
    found = SkillFolders(lambda: project_folders([project])).look()
    return [skill.file for skill in found.skills if skill.file is not None], found.troubles


class SkillFolders:
    """The skills of some folders. A file is read again only when it has changed."""

    def __init__(self, folders: Callable[[], Sequence[SkillFolder]]) -> None:
        self._folders = folders
        self._kept: KeptFiles[Skill | BadHead] = KeptFiles()

    def look(self) -> FoundSkills:
        """Read what is new. Blocks: for a worker thread."""
        troubles: list[str] = []
        built_in: list[Skill] = []
        files: dict[Path, Callable[[], Skill | BadHead]] = {}
        for folder in self._folders():
            if folder.scope == "built-in":
                built_in += _built_in(folder)
                continue
            for path in _files(folder.path, troubles):
                files.setdefault(path, partial(_read_or_why, path, folder))
        skills: list[Skill] = []
        for path, read in self._kept.look(files).items():
            if isinstance(read, Skill):
                skills.append(read)
            else:
                reason = f"it cannot be read: {read.strerror}" if isinstance(read, OSError) else read
                troubles.append(f"{path}: {reason}")
        return FoundSkills(skills=(*skills, *built_in), troubles=tuple(printable(trouble) for trouble in troubles))


@cache
def _built_in(folder: SkillFolder) -> Sequence[Skill]:
    """The skills of this program, which do not change."""
    return [_read(path, folder) for path in _files(folder.path, [])]


def _read_or_why(path: Path, folder: SkillFolder) -> Skill | BadHead:
    """The skill of a file, or why it is none."""
    try:
        return _read(path, folder)
    except BadHead as error:
        return error


def _files(folder: Path, troubles: list[str]) -> Iterator[Path]:
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if not entry.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        troubles.append(f"{folder}: it cannot be listed: {error.strerror}")
        return
    paths = [path for path in (folder / name / FILE for name in names) if os.path.lexists(path)]
    if len(paths) > MOST_SKILLS:
        troubles.append(f"{folder}: it holds too many skills; only the first {MOST_SKILLS} count")
    yield from paths[:MOST_SKILLS]


def _read(path: Path, folder: SkillFolder) -> Skill:
    try:
        if folder.project is None:
            data = read_plain_file(path, limit=LARGEST + 1)
        else:
            data = read_inside(folder.project, path, limit=LARGEST + 1)
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise BadHead(f"it cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadHead(f"it is not UTF-8 text (byte {error.start})") from error
    if len(data) > LARGEST:
        raise BadHead(f"it is larger than {LARGEST // 1024} KiB")
    file = None
    if folder.project is not None:
        place = str(path.relative_to(folder.project))
        file = ProjectFile(kind="skill", project=folder.project, path=place, text=text)
    return parse_skill(text, folder=path.parent, scope=folder.scope, file=file)
