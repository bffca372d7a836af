"""The folders of prompt files, and the slash commands in them. Read again before each prompt."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from claw_acp.commands.prompt_file import BadPromptFile, PromptFile, Scope, read_prompt_file
from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.core.printable import printable

PROJECT_FOLDERS: Final = (Path(".claw", "commands"), Path(".claude", "commands"))
MOST_FILES: Final = 200  # of one folder; more are an accident, and every one is looked at before each prompt
MOST_ENTRIES: Final = 5_000  # files and folders of any kind that are passed by on the way
DEEPEST: Final = 4  # levels of sub-folders
MOST_TROUBLES: Final = 10  # that a person is told of at once; mending them brings up the next


class Folder(NamedTuple):
    """A folder of prompt files. Files of a project must lie inside `within`; a link could lead anywhere."""

    path: Path
    scope: Scope
    within: Path | None = None


def folders_for(roots: Sequence[Path], *, config_dir: Path, home: Path) -> Sequence[Folder]:
    """All folders in order of precedence: the user's own, then the session's.

    A project comes from strangers: it must not replace a command that the user knows.
    """
    project = [Folder(root / path, "project", root) for root in roots for path in PROJECT_FOLDERS]
    user = [Folder(config_dir / "commands", "user"), Folder(home / ".claude" / "commands", "user")]
    return [*user, *project]


def project_files(project: Path) -> tuple[Sequence[ProjectFile], Sequence[str]]:
    """The prompt files of a project, and the problems of those that are none."""
    folders = [Folder(project / path, "project", project) for path in PROJECT_FOLDERS]
    found = PromptFolders(lambda: folders, taken=tuple[str, ...])
    found.look()
    commands = found.commands.get("project", ())
    return [command.file for command in commands if command.file is not None], found.troubles


def watched(
    roots: Callable[[], Sequence[Path]], *, config_dir: Path, taken: Callable[[], Collection[str]]
) -> "PromptFolders":
    """The prompt files of a session in these folders, not yet read."""
    return PromptFolders(lambda: folders_for(roots(), config_dir=config_dir, home=Path.home()), taken=taken)


class _Seen(NamedTuple):
    """The state of a file on disk; a changed one is read again."""

    inode: int
    size: int
    written: int  # nanoseconds
    changed: int  # its permissions, say


class _Kept(NamedTuple):
    seen: _Seen
    command: PromptFile | None
    trouble: str | None


class PromptFolders:
    """The commands of some folders, as last read.

    Attributes:
        commands: By scope; of several with one name the first counts, in the order of the folders.
        troubles: Faults of files that make no command, and project files that the user's own hide; one line each.
    """

    def __init__(self, folders: Callable[[], Sequence[Folder]], *, taken: Callable[[], Collection[str]]) -> None:
        self._folders = folders
        self._taken = taken
        self._kept: Mapping[Path, _Kept] = {}
        self.commands: Mapping[str, Sequence[PromptFile]] = {}
        self.troubles: Sequence[str] = ()

    def look(self) -> bool:
        """Read the folders; True when the commands have changed. Blocks: for a worker thread."""
        kept: dict[Path, _Kept] = {}
        troubles: list[str] = []
        chosen: dict[str, Scope] = {}
        scopes: dict[str, list[PromptFile]] = {}
        taken = self._taken()
        for folder in self._folders():
            for path in _files(folder.path, troubles):
                entry = kept[path] = self._entry(path, folder)
                command, trouble = entry.command, entry.trouble
                if command is not None and command.name in taken:
                    trouble = f"/{command.name} is a command of this program; give the file another name"
                elif command is not None and command.name not in chosen:
                    chosen[command.name] = folder.scope
                    scopes.setdefault(folder.scope, []).append(command)
                elif command is not None and chosen[command.name] != folder.scope:
                    trouble = f"your own /{command.name} hides it; give one of them another name"
                if trouble:
                    troubles.append(printable(f"{path}: {trouble}"))
        changed = scopes != self.commands
        self._kept, self.commands, self.troubles = kept, scopes, _some(troubles)
        return changed

    def _entry(self, path: Path, folder: Folder) -> _Kept:
        """The entry of a file, which is read only if it has changed."""
        try:
            status = path.stat()
        except OSError as error:
            return _Kept(_Seen(0, 0, 0, 0), None, f"it cannot be read: {error.strerror}")
        seen = _Seen(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        known = self._kept.get(path)
        if known is not None and known.seen == seen:
            return known
        try:
            name = _name(path, folder.path)
            command = read_prompt_file(path, name=name, scope=folder.scope, project=folder.within)
            return _Kept(seen, command, None)
        except BadPromptFile as error:
            return _Kept(seen, None, str(error))


def _some(troubles: Sequence[str]) -> Sequence[str]:
    more = len(troubles) - MOST_TROUBLES
    left = "1 more prompt file" if more == 1 else f"{more} more prompt files"
    return tuple(troubles) if more <= 0 else (*troubles[:MOST_TROUBLES], f"{left} cannot be used as commands")


def _files(folder: Path, troubles: list[str]) -> Iterator[Path]:
    """The Markdown files of a folder and its sub-folders, in order, without hidden ones and links to folders."""

    def unreadable(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            troubles.append(printable(f"{error.filename}: it cannot be listed: {error.strerror}"))

    found = passed = 0
    for directory, names, files in os.walk(folder, onerror=unreadable):
        depth = len(Path(directory).relative_to(folder).parts)
        names[:] = sorted(name for name in names if not name.startswith(".")) if depth < DEEPEST else []
        passed += len(names) + len(files)
        for name in sorted(files):
            if name.startswith(".") or not name.lower().endswith(".md"):
                continue
            found += 1
            if found <= MOST_FILES:
                yield Path(directory, name)
        if found > MOST_FILES or passed > MOST_ENTRIES:
            troubles.append(
                printable(f"{folder}: it holds too many files; only the first {min(found, MOST_FILES)} files count")
            )
            return


def _name(path: Path, folder: Path) -> str:
    """The command name: `git/fix.md` is `git:fix`.

    Raises:
        BadPromptFile: It cannot be typed.
    """
    name = ":".join(path.relative_to(folder).with_suffix("").parts)
    if not name.isprintable() or any(character.isspace() for character in name):
        raise BadPromptFile("its name has white space or invisible characters; rename the file")
    return name
