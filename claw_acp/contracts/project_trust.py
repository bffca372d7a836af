"""Trust in files of a project that have a say of their own: asked for where one would be used, bound to its text."""

from collections.abc import Sequence
from importlib import import_module
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
        sha256 = import_module("hashlib").sha256  # with it comes a library of C, and most projects have no such file
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


class ProjectTrust(Protocol):
    """The trust that a person has in the files of a session's project."""

    def trusted(self, files: Sequence[ProjectFile]) -> tuple[ProjectFile, ...]:
        """Those files whose text the person trusts. Nobody is asked; cheap enough for each use."""
        ...

    async def question(self, files: Sequence[ProjectFile]) -> str:
        """The question to put to a person before the files may be used, as Markdown; empty: they trust all."""
        ...

    async def ask(self, files: Sequence[ProjectFile]) -> bool | None:
        """Ask the person about those that they do not trust yet, all at once; return whether they trust all now.

        None: nobody could be asked.

        Raises:
            ConfigError: The answer cannot be stored.
            AuditUnwritable: It cannot be recorded, so it is not stored.
        """
        ...

    async def accept(self, files: Sequence[ProjectFile]) -> bool:
        """Trust the texts of files, provided that all were shown in this session; return whether they were.

        Raises:
            ConfigError: They cannot be stored.
            AuditUnwritable: They cannot be recorded, so they are not stored.
        """
        ...


class _NoTrust:
    """The trust where nobody was ever asked."""

    def trusted(self, files: Sequence[ProjectFile]) -> tuple[ProjectFile, ...]:  # noqa: ARG002 - the contract's
        return ()

    async def question(self, files: Sequence[ProjectFile]) -> str:  # noqa: ARG002 - the contract's
        return "Nobody can be asked here."

    async def ask(self, files: Sequence[ProjectFile]) -> bool | None:
        """See `ProjectTrust`."""

    async def accept(self, files: Sequence[ProjectFile]) -> bool:  # noqa: ARG002 - the contract's
        return False


NO_TRUST: ProjectTrust = _NoTrust()
"""Trust in nothing."""
