"""Trust in files of a project that have a say of their own: asked for where one would be used, bound to its text."""

from hashlib import sha256
from pathlib import Path
from typing import Protocol

from claw_acp.core.value import Value


class ProjectFile(Value):
    """A file of a project that does something of itself, such as to speak in the person's name.

    Attributes:
        kind: What it is, for people: `prompt file`.
        project: The resolved directory of the project.
        path: Its path in there.
        text: Its text, which is what is trusted.
    """

    kind: str
    project: Path
    path: str
    text: str

    @property
    def digest(self) -> str:
        """The SHA-256 of its text."""
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


class ProjectTrust(Protocol):
    """The trust that a person has in the files of a session's project."""

    async def question(self, file: ProjectFile) -> str:
        """The question to put to a person before the file may be used, as Markdown; empty: they trust its text."""
        ...

    async def accept(self, file: ProjectFile) -> bool:
        """Trust the text of a file, provided that it was shown in this session; return whether it was.

        Raises:
            ConfigError: It cannot be stored.
            AuditUnwritable: It cannot be recorded, so it is not stored.
        """
        ...
