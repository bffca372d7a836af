"""The changes that a patch makes to files, computed before any is written."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from claw_acp.contracts.tool import Access, ReadsPath, ToolContext
from claw_acp.core.errors import ToolError
from claw_acp.core.value import Value, replace
from claw_acp.tools.display import shown_path
from claw_acp.tools.files.file_entry import entry_path
from claw_acp.tools.files.patch_envelope import BEGIN, read_envelope
from claw_acp.tools.files.patch_fit import Fitted, fitted
from claw_acp.tools.files.patch_parts import FilePatch
from claw_acp.tools.files.seen_files import Stamps
from claw_acp.tools.files.unified_diff import read_unified
from claw_acp.tools.files.unreadable import better_error, exists
from claw_acp.tools.files.unsaved import require_no_unsaved, require_saved, writing

MOST_FILES = 100


class PlannedChange(Value):
    """The change of one file: its text before and after (None: there is none), and its new path if it is moved."""

    path: Path
    shown: str
    old: str | None
    new: str | None
    target: Path | None = None
    notes: tuple[str, ...] = ()


def read_patch(text: str) -> Sequence[FilePatch]:
    """The files of a patch in either format.

    Raises:
        ToolError: It cannot be read; the text names the line.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    start = next((i for i, line in enumerate(lines) if line.strip() == BEGIN), None)
    if start is None:
        while lines and (not lines[-1].strip() or lines[-1].startswith("```")):
            lines.pop()
        files = read_unified(lines)
    else:
        files = read_envelope(lines, start=start + 1)
    if not files:
        raise ToolError(
            "The patch names no file. Write `*** Begin Patch`, then `*** Update File: path`, `*** Add File: path` or "
            "`*** Delete File: path` with its lines, then `*** End Patch`; or a unified diff with `--- a/path` and "
            "`+++ b/path`. Nothing was written."
        )
    if len(files) > MOST_FILES:
        raise ToolError(f"The patch changes {len(files):,} files; at most {MOST_FILES} at once. Nothing was written.")
    return files


class PatchedFile:
    """One file of a patch, found in the workspace."""

    def __init__(self, part: FilePatch, *, context: ToolContext) -> None:
        self.part = part
        self._context = context
        workspace = context.workspace
        stays = part.operation != "delete" and part.new_path is None
        self.path = workspace.locate(part.path) if stays else entry_path(part.path, workspace=workspace)
        self.shown = shown_path(self.path, workspace=workspace)
        self.target = None if part.new_path is None else entry_path(part.new_path, workspace=workspace)
        if part.operation == "update" and not part.hunks and self.target is None:
            raise ToolError(f"The patch has no hunk for {self.shown} (line {part.at} of it). Nothing was written.")

    @property
    def accesses(self) -> Sequence[Access]:
        """The effects on this file; its lines come back in error messages."""
        change = writing(self.path, shown=self.shown, context=self._context)
        if self.part.operation == "add":
            return (change,)
        if self.part.operation == "delete":
            return (ReadsPath(path=self.path), replace(change, operation="delete"))
        if self.target is None:
            return (ReadsPath(path=self.path), change)
        shown = shown_path(self.target, workspace=self._context.workspace)
        moved = writing(self.target, shown=shown, context=self._context)
        return (ReadsPath(path=self.path), replace(change, operation="delete"), moved)

    async def planned(self) -> PlannedChange:
        """The change.

        Raises:
            ToolError: It does not fit the file as it is now, or the person changed it.
        """
        if self.part.operation == "add":
            if await exists(self.path) or await self._is_open():
                raise ToolError(f"{self.shown} exists already, so it cannot be added. Nothing was written.")
            text = fitted("", self.part.hunks, shown=self.shown).text
            return PlannedChange(path=self.path, shown=self.shown, old=None, new=text)
        old = await self._present()
        if self.part.operation == "delete" or self.target is not None:
            await require_no_unsaved(self.path, old, shown=self.shown, context=self._context)
        if self.target is not None and await exists(self.target):
            shown = shown_path(self.target, workspace=self._context.workspace)
            raise ToolError(f"{shown} exists already, so {self.shown} cannot be moved there. Nothing was written.")
        result = await anyio.to_thread.run_sync(partial(fitted, old, self.part.hunks, shown=self.shown))
        return PlannedChange(
            path=self.path, shown=self.shown, old=old, new=self._left(result), target=self.target, notes=result.notes
        )

    def _left(self, result: Fitted) -> str | None:
        if self.part.operation == "update":
            return result.text
        if self.part.hunks and result.text:
            raise ToolError(f"{self.shown} has more lines than the patch deletes with it. Nothing was written.")
        return None

    async def _present(self) -> str:
        workspace = self._context.workspace
        try:
            text = await workspace.read_text(self.path)
        except ToolError as error:
            if await anyio.Path(self.path).is_symlink():
                raise ToolError(
                    f"{self.shown} is a symbolic link. Use delete_file or move_file for it. Nothing was written."
                ) from error
            raise await better_error(error, path=self.path, workspace=workspace) from error
        await require_saved(self.path, text, shown=self.shown, context=self._context)
        Stamps.on(self._context.state).check(self.path, text, shown=self.shown)
        return text

    async def _is_open(self) -> bool:
        """Return whether an editor has a text for this path, which was never saved."""
        try:
            await self._context.workspace.read_text(self.path)
        except ToolError:
            return False
        return True
