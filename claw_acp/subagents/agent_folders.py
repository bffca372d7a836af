"""The folders in which agents lie as Markdown files, and the agents in them. Looked at again before each prompt."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from claw_acp.config.kept_files import KeptFiles
from claw_acp.config.safe_read import read_inside, read_plain_file
from claw_acp.contracts.delegation import AgentFile
from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.core.printable import printable
from claw_acp.core.value import Value
from claw_acp.skills.head import BadHead
from claw_acp.subagents.agent_file import parse_agent
from claw_acp.workspace.repository import folders_down_to

PROJECT_FOLDERS: Final = (Path(".claw", "agents"), Path(".claude", "agents"))
LARGEST: Final = 64 * 1024  # bytes; instructions, not a book
MOST_FILES: Final = 100  # of one folder
MOST_ENTRIES: Final = 2_000  # files and folders of any kind that are passed by on the way
DEEPEST: Final = 4  # levels of sub-folders

_Read: TypeAlias = AgentFile | str
"""An agent, or why a file is none."""


class AgentFolder(Value):
    """A folder of agents; `project` is the directory that its files belong to, and must not lead out of."""

    path: Path
    project: Path | None = None


class FoundAgents(Value):
    """The agents of some folders, the nearest first, and the faults of what is none, a line each."""

    agents: tuple[AgentFile, ...] = ()
    troubles: tuple[str, ...] = ()


def folders_for(roots: Sequence[Path], *, config_dir: Path, environ: Mapping[str, str]) -> Sequence[AgentFolder]:
    """The folders for work in these roots: those of the project, the nearest first, then the person's."""
    places = dict.fromkeys(place for root in roots for place in reversed(folders_down_to(root)))
    home = Path(environ.get("HOME") or Path.home())
    return [
        *(AgentFolder(path=place / below, project=place) for place in places for below in PROJECT_FOLDERS),
        AgentFolder(path=config_dir / "agents"),
        AgentFolder(path=home / ".claude/agents"),
    ]


def project_files(project: Path) -> tuple[Sequence[ProjectFile], Sequence[str]]:
    """The agents of a project as files, and the problems of those that are none."""
    folders = [AgentFolder(path=project / below, project=project) for below in PROJECT_FOLDERS]
    found = AgentFolders(lambda: folders).look()
    return [agent.file for agent in found.agents if agent.file is not None], found.troubles


class AgentFolders:
    """The agents of some folders. A file is read again only when it has changed."""

    def __init__(self, folders: Callable[[], Sequence[AgentFolder]]) -> None:
        self._folders = folders
        self._kept: KeptFiles[_Read] = KeptFiles()

    def look(self) -> FoundAgents:
        """Read what is new. Blocks: for a worker thread."""
        troubles: list[str] = []
        files: dict[Path, Callable[[], _Read]] = {}
        for folder in self._folders():
            for path in _files(folder.path, troubles):
                files.setdefault(path, partial(_read, path, folder.project))
        agents: list[AgentFile] = []
        for path, read in self._kept.look(files).items():
            if isinstance(read, AgentFile):
                agents.append(read)
            else:
                reason = f"it cannot be read: {read.strerror}" if isinstance(read, OSError) else read
                troubles.append(f"{path}: {reason}")
        return FoundAgents(agents=tuple(agents), troubles=tuple(printable(trouble) for trouble in troubles))


def _files(folder: Path, troubles: list[str]) -> Iterator[Path]:
    """The Markdown files of a folder and its sub-folders, in order, without hidden ones and links to folders."""
    if not os.path.isdir(folder):  # noqa: PTH112 - before each prompt, for a dozen of folders that mostly are not there
        return
    found = passed = 0
    for directory, names, files in os.walk(folder):
        depth = len(Path(directory).relative_to(folder).parts)
        names[:] = sorted(name for name in names if not name.startswith(".")) if depth < DEEPEST else []
        passed += len(names) + len(files)
        for name in sorted(files):
            if name.endswith(".md") and not name.startswith(".") and name not in {"README.md", "AGENTS.md"}:
                found += 1
                if found <= MOST_FILES:
                    yield Path(directory, name)
        if found > MOST_FILES or passed > MOST_ENTRIES:
            troubles.append(f"{folder}: it holds too many files; only the first {min(found, MOST_FILES)} agents count")
            return


def _read(path: Path, project: Path | None) -> _Read:
    try:
        if project is None:
            data = read_plain_file(path, limit=LARGEST + 1)
        else:
            data = read_inside(project, path, limit=LARGEST + 1)
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
        if len(data) > LARGEST:
            return f"it is larger than {LARGEST // 1024} KiB"
        if project is None:
            return parse_agent(text, name=path.stem, scope="user")
        file = ProjectFile(kind="agent", project=project, path=str(path.relative_to(project)), text=text)
        return parse_agent(text, name=path.stem, scope="project", file=file)
    except BadHead as error:
        return str(error)
    except UnicodeDecodeError as error:
        return f"it is not UTF-8 text (byte {error.start})"
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
