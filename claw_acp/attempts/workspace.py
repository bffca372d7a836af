"""The files and programs of one attempt: paths of the project lead to its copy."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from claw_acp.contracts.workspace import Command, RunningProcess, UnsavedChanges, Workspace
from claw_acp.core.value import replace


class AttemptWorkspace:
    """A workspace in a copy of a project. The conversation names files of the project; here they are those of the copy.

    Args:
        inner: The files and programs of the copy.
        project: The folder that was copied.
        copy: The copy.
        environment: Variables of its programs.
    """

    def __init__(self, inner: Workspace, *, project: Path, copy: Path, environment: Mapping[str, str]) -> None:
        self._inner = inner
        self._project = project
        self._copy = copy
        self._environment = environment

    @property
    def roots(self) -> Sequence[Path]:
        """See `Workspace`."""
        return self._inner.roots

    @property
    def unsaved_changes(self) -> UnsavedChanges:
        """See `Workspace`."""
        return self._inner.unsaved_changes

    def locate(self, path: str) -> Path:
        """See `Workspace`."""
        return self._copied(self._inner.locate(path))

    def contains(self, path: Path) -> bool:
        """See `Workspace`."""
        return self._inner.contains(path)

    async def read_text(self, path: Path) -> str:
        """See `Workspace`."""
        return await self._inner.read_text(path)

    async def read_bytes(self, path: Path, *, limit: int) -> bytes:
        """See `Workspace`."""
        return await self._inner.read_bytes(path, limit=limit)

    async def write_text(self, path: Path, text: str) -> None:
        """See `Workspace`."""
        await self._inner.write_text(path, text)

    async def write_bytes(self, path: Path, content: bytes) -> None:
        """See `Workspace`."""
        await self._inner.write_bytes(path, content)

    async def delete_file(self, path: Path) -> None:
        """See `Workspace`."""
        await self._inner.delete_file(path)

    async def move_file(self, path: Path, *, target: Path) -> None:
        """See `Workspace`."""
        await self._inner.move_file(path, target=target)

    async def start(self, command: Command) -> RunningProcess:
        """See `Workspace`. The command's own variables win: those of one that may only read tame git."""
        inside = replace(command, cwd=self._copied(command.cwd), env={**self._environment, **command.env})
        return await self._inner.start(inside)

    def _copied(self, path: Path) -> Path:
        if path.is_relative_to(self._copy) or not path.is_relative_to(self._project):
            return path
        return self._inner.locate(str(self._copy / path.relative_to(self._project)))


if TYPE_CHECKING:
    _conforms: type[Workspace] = AttemptWorkspace
