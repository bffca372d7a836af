"""The workspace on this machine: its disk, its shell."""

import codecs
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread

from claw_acp.contracts.workspace import Command, RunningProcess, UnsavedChanges, Workspace
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.core.errors import ToolError
from claw_acp.workspace import files, paths
from claw_acp.workspace.process_host import ProcessHost

MAX_TEXT = 10 * 1024 * 1024
"""Bytes of the largest file that is read as text."""

_SNIFFED = 8192  # bytes looked at to tell text from binary, as git and grep do


class LocalWorkspace:
    """Files below `roots` and programs run by `processes`.

    Text is UTF-8. A leading byte order mark is not part of the text: reading drops it, and writing puts it back when
    the file being replaced has one. Line ends are never changed.

    Args:
        roots: Absolute directories; the first is the session's `cwd`. They are resolved here.
        processes: Runs and owns programs; without it, `start` refuses.
    """

    def __init__(
        self, roots: Sequence[Path], *, processes: ProcessHost | None = None, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        if not roots:
            raise ValueError("a workspace needs at least one root")
        self._roots = tuple(paths.resolve(root) for root in roots)
        self._processes = processes
        self._clock = clock

    @property
    def roots(self) -> Sequence[Path]:
        """Resolved directories the session works in; the first is its `cwd`."""
        return self._roots

    @property
    def unsaved_changes(self) -> UnsavedChanges:
        """See `Workspace`."""
        return "kept"

    def locate(self, path: str) -> Path:
        """The resolved path that a text names; see `paths.locate`."""
        return paths.locate(path, cwd=self._roots[0])

    def contains(self, path: Path) -> bool:
        """Return whether a path leads into a root; see `paths.contains`."""
        return paths.contains(path, roots=self._roots)

    async def read_text(self, path: Path) -> str:
        """The whole text of a resolved path, line ends as they are.

        Raises:
            ToolError: Missing, not a file, binary, not UTF-8, or larger than 10 MiB.
        """
        return await to_thread.run_sync(_read_text, path, abandon_on_cancel=True)

    async def read_bytes(self, path: Path, *, limit: int) -> bytes:
        """Raw bytes of a resolved path.

        Raises:
            ToolError: Missing, not a file, or longer than `limit`.
        """
        return await to_thread.run_sync(partial(files.read, path, limit=limit), abandon_on_cancel=True)

    async def write_text(self, path: Path, text: str) -> None:
        """Replace or create the file at a resolved path atomically, parents too; see `files.replace`.

        A symbolic link is written through by locating it first: `locate` leads to its target.

        Raises:
            ToolError: The text is not valid Unicode, or the file cannot be written.
        """
        # Not abandoned when cancelled: a write is either not begun or whole, and the caller knows it is over.
        await to_thread.run_sync(partial(_write_text, path, text, temporary=self._temporary()))

    async def write_bytes(self, path: Path, content: bytes) -> None:
        """Replace or create the file at a resolved path atomically, parents too; see `files.replace`.

        Raises:
            ToolError: The file cannot be written.
        """
        await to_thread.run_sync(partial(files.replace, path, content, temporary=self._temporary()))

    def _temporary(self) -> str:
        return f".claw-acp-{self._clock.random_bytes(8).hex()}.tmp"

    async def delete_file(self, path: Path) -> None:
        """Delete a file or link; see `files.remove`.

        Raises:
            ToolError: Missing, a directory, or the directory cannot be written.
        """
        await to_thread.run_sync(files.remove, path)

    async def move_file(self, path: Path, *, target: Path) -> None:
        """Move a file or link; see `files.move`.

        Raises:
            ToolError: Missing, a directory, the target exists, or it is on another file system.
        """
        await to_thread.run_sync(files.move, path, target)

    async def start(self, command: Command) -> RunningProcess:
        """Start a program in its own process group.

        Raises:
            ToolError: It cannot be started, or this workspace runs none.
        """
        if self._processes is None:
            raise ToolError("This workspace runs no programs.")
        return await self._processes.start(command)


def _read_text(path: Path) -> str:
    content = files.read(path, limit=MAX_TEXT)
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ToolError(f"{path} is UTF-16 text; only UTF-8 is read. Convert it with: iconv -f UTF-16 -t UTF-8")
    if b"\0" in content[:_SNIFFED]:
        raise ToolError(f"{path} is a binary file ({len(content):,} bytes), not text.")
    try:
        return content.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ToolError(
            f"{path} is not UTF-8 text: byte 0x{content[error.start]:02x} in line {line} fits no character."
        ) from error


def _write_text(path: Path, text: str, *, temporary: str) -> None:
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ToolError(
            f"The text for {path} holds half a character at {error.start}; {path} was not written."
        ) from error
    files.replace(path, content, temporary=temporary, keep_prefix=codecs.BOM_UTF8)


if TYPE_CHECKING:
    _conforms: type[Workspace] = LocalWorkspace
