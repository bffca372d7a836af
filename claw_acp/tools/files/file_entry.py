"""A file or link itself, not what a link leads to: what is deleted or moved."""

import os
import stat
from pathlib import Path
from typing import TypeAlias

import anyio.to_thread

from claw_acp.contracts.tool import ToolContext
from claw_acp.contracts.workspace import Workspace
from claw_acp.core.errors import FileConflict, ToolError
from claw_acp.core.value import Value
from claw_acp.tools.display import shown_path
from claw_acp.tools.files.seen_files import Stamps
from claw_acp.tools.files.unreadable import better_error
from claw_acp.tools.files.unsaved import require_no_unsaved

_Stamp: TypeAlias = tuple[int, int, int, int]


def entry_path(text: str, *, workspace: Workspace) -> Path:
    """The path that a text names, with all symbolic links followed but the last.

    Raises:
        ToolError: The text cannot be a path.
    """
    path = workspace.locate(text)
    above, name = os.path.split(text)
    return path if name in {"", ".", ".."} else workspace.locate(above or ".") / name


class FoundEntry(Value):
    """The present state of a file or link: its text (None: it is a link, or not text), its size, its stamp."""

    text: str | None
    size: int
    is_link: bool
    stamp: _Stamp


class FileEntry:
    """A file or link that a call will delete or move away."""

    def __init__(self, path: Path, *, context: ToolContext) -> None:
        self.path = path
        self.shown = shown_path(path, workspace=context.workspace)
        self._context = context
        self._agreed: FoundEntry | None = None

    async def look(self) -> FoundEntry:
        """The state for the preview; `present` compares with it.

        Raises:
            ToolError: There is no such file, or it was changed by somebody else.
        """
        self._agreed = await self.present()
        return self._agreed

    async def present(self) -> FoundEntry:
        """The present state.

        Raises:
            ToolError: There is no such file, or it was changed by somebody else.
        """
        workspace = self._context.workspace
        try:
            status = await anyio.to_thread.run_sync(os.lstat, self.path)
        except OSError as error:
            missing = ToolError(f"{self.shown} cannot be found: {error.strerror}.")
            raise await better_error(missing, path=self.path, workspace=workspace) from error
        if stat.S_ISDIR(status.st_mode):
            raise ToolError(f"{self.shown} is a directory; this tool takes one file. Use a command for directories.")
        found = FoundEntry(
            text=await self._text(status.st_mode),
            size=status.st_size,
            is_link=stat.S_ISLNK(status.st_mode),
            stamp=(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino),
        )
        if found.text is not None:
            await require_no_unsaved(self.path, found.text, shown=self.shown, context=self._context)
            Stamps.on(self._context.state).check(self.path, found.text, shown=self.shown)
        if self._agreed is not None and self._agreed != found:
            raise FileConflict(f"{self.shown} changed while this call waited for permission. Nothing was done.")
        return found

    async def _text(self, mode: int) -> str | None:
        if not stat.S_ISREG(mode):
            return None
        try:
            return await self._context.workspace.read_text(self.path)
        except ToolError:  # not text, or too long to be shown: then it is not in an editor either
            return None
