"""The files of projects that the user trusts, by the text that they were shown, in one private file.

    {"/home/ada/project": {".claw/commands/fix.md": {"sha256": "...", "at": "2026-11-23T08:00:00Z", "text": "..."}}}

Several processes may use it. Each change is made under a lock and written atomically.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, cast

from claw_acp.config.atomic_file import only_writer, put_in_place
from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.core.errors import ConfigError
from claw_acp.core.private_directory import make_private
from claw_acp.core.value import Value, as_dict

LONGEST_KEPT: Final = 16 * 1024  # characters of a text that is kept, to show what has changed


class TrustedText(Value):
    """A text that was trusted.

    Attributes:
        sha256: Its SHA-256.
        at: The moment.
        text: The text; None where it is too long to be kept.
    """

    sha256: str
    at: str
    text: str | None = None


_Projects = dict[str, dict[str, TrustedText]]
_Stamp = tuple[int, int, int]


class TrustStore:
    """The file. It is read again when it has changed. What cannot be read is not trusted."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: tuple[_Stamp, Mapping[str, Mapping[str, TrustedText]]] | None = None

    def known(self, file: ProjectFile) -> TrustedText | None:
        """The text of a file that was trusted, which may be an older one; None: none was."""
        return self.projects().get(str(file.project), {}).get(file.path)

    def trusts(self, file: ProjectFile) -> bool:
        """Return whether exactly this text is trusted, at this place of this project."""
        known = self.known(file)
        return known is not None and known.sha256 == file.digest

    def projects(self) -> Mapping[str, Mapping[str, TrustedText]]:
        """All trusted texts, by project and by path in it."""
        try:
            status = self._path.stat()
            stamp = status.st_ctime_ns, status.st_size, status.st_ino
            if self._read is None or self._read[0] != stamp:
                self._read = stamp, _parsed(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return self._read[1]

    def add(self, files: Sequence[ProjectFile], *, at: str) -> None:
        """Trust the texts of files.

        Raises:
            ConfigError: The file cannot be written.
        """

        def change(projects: _Projects) -> None:
            for file in files:
                kept = file.text if len(file.text) <= LONGEST_KEPT else None
                entry = TrustedText(sha256=file.digest, at=at, text=kept)
                projects.setdefault(str(file.project), {})[file.path] = entry

        self._change(change)

    def remove(self, project: str) -> None:
        """Trust nothing of a project any more.

        Raises:
            ConfigError: The file cannot be written.
        """
        self._change(lambda projects: projects.pop(project, None))

    def _change(self, change: Callable[[_Projects], object]) -> None:
        try:
            make_private(self._path.parent)
            with only_writer(self._path):
                projects = {project: dict(files) for project, files in self.projects().items()}
                change(projects)
                entries = {
                    project: {path: as_dict(entry) for path, entry in files.items()}
                    for project, files in sorted(projects.items())
                }
                put_in_place(self._path, json.dumps(entries, indent=1) + "\n")
        except OSError as error:
            raise ConfigError(f"{self._path} cannot be written: {error.strerror or error}") from error


def _parsed(text: str) -> _Projects:
    """The entries of the file; those that are none are left out."""
    projects: _Projects = {}
    table: object = json.loads(text)
    for project, files in (cast("dict[str, object]", table) if isinstance(table, dict) else {}).items():
        for path, entry in (cast("dict[str, object]", files) if isinstance(files, dict) else {}).items():
            found = cast("dict[str, object]", entry) if isinstance(entry, dict) else {}
            digest, at, kept = found.get("sha256"), found.get("at"), found.get("text")
            if isinstance(digest, str) and isinstance(at, str) and (kept is None or isinstance(kept, str)):
                projects.setdefault(project, {})[path] = TrustedText(sha256=digest, at=at, text=kept)
    return projects
