"""A call that changes the text of one file: shown as a diff first, written only if the file has not changed since."""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import anyio.to_thread

from claw_acp.contracts.tool import CallView, Invocation, Progress, ToolContext, ToolResult
from claw_acp.core.errors import FileConflict, ToolError
from claw_acp.core.events import DiffContent, Location, ToolContent
from claw_acp.core.messages import TextPart
from claw_acp.core.value import Value
from claw_acp.tools.display import shown_path
from claw_acp.tools.files.line_changes import LineRange, changed_lines, excerpt, spoken
from claw_acp.tools.files.seen_files import Stamps
from claw_acp.tools.files.unreadable import better_error, exists
from claw_acp.tools.files.unsaved import require_saved, require_shown, writing


class Change(Value):
    """A file's text before (None: there is no file) and after."""

    old: str | None
    new: str


class FileChange(Invocation):
    """Reads, changes in memory, writes. Subclasses define the change, and whether the file may be missing."""

    creates: ClassVar[bool] = False

    def __init__(self, *, path: Path, context: ToolContext, verb: str) -> None:
        self._path = path
        self._context = context
        self._shown = shown_path(path, workspace=context.workspace)
        self._agreed: Change | None = None
        self.accesses = (writing(path, shown=self._shown, context=context),)
        self.view = CallView(title=f"{verb} {self._shown}", kind="edit", locations=(Location(path=str(path)),))

    @abstractmethod
    def change(self, old: str | None) -> str:
        """The new text for the old one (None: no such file, only if `creates`). Runs in a worker thread.

        Raises:
            ToolError: The change does not fit the text.
        """

    @abstractmethod
    def report(self, change: Change, *, lines: str) -> str:
        """The result for the model; `lines` names the changed lines, empty when only line ends changed."""

    async def preview(self) -> tuple[ToolContent, ...]:
        """The diff."""
        self._agreed = await self._planned()
        return (self._diff(self._agreed),)

    async def run(self) -> ToolResult:
        """Write, if the file still has the text that the diff was made from."""
        change = await self._planned()
        if self._agreed is not None and self._agreed != change:
            raise FileConflict(
                f"{self._shown} changed while this change waited for permission. Nothing was written. "
                "Call read_file on it again and base the change on its present text."
            )
        workspace = self._context.workspace
        if change.old != change.new:
            await workspace.write_text(self._path, change.new)
        landed = Change(old=change.old, new=await self._landed(change))
        Stamps.on(self._context.state).saw(self._path, landed.new)
        ranges = await anyio.to_thread.run_sync(changed_lines, landed.old or "", landed.new)
        if ranges:
            await self._context.progress(Progress(locations=(Location(path=str(self._path), line=ranges[0].first),)))
        return self._result(change, landed, ranges)

    async def _planned(self) -> Change:
        old = await self._present()
        await require_saved(self._path, old, shown=self._shown, context=self._context)
        if old is not None:
            Stamps.on(self._context.state).check(self._path, old, shown=self._shown)
        return Change(old=old, new=await anyio.to_thread.run_sync(self.change, old))

    async def _present(self) -> str | None:
        workspace = self._context.workspace
        try:
            return await workspace.read_text(self._path)
        except ToolError as error:
            if not self.creates or await exists(self._path):
                raise await better_error(error, path=self._path, workspace=workspace) from error
            return None

    async def _landed(self, change: Change) -> str:
        """The present text of the file: an editor may format on saving, and the next change must build on that."""
        try:
            now = await self._context.workspace.read_text(self._path)
        except ToolError:  # it was written; that it cannot be read back (moved, deleted) is the next call's news
            return change.new
        if now != change.new:
            await require_shown(self._path, before=change.old, now=now, shown=self._shown, context=self._context)
        return now

    def _diff(self, change: Change) -> DiffContent:
        return DiffContent(path=str(self._path), old_text=change.old, new_text=change.new)

    def _result(self, change: Change, landed: Change, ranges: Sequence[LineRange]) -> ToolResult:
        text = self.report(change, lines=spoken(ranges) if ranges else "")
        if landed.new != change.new:
            text += " The editor changed the file while saving it (a formatter?); this is how it looks now."
        if ranges and landed.old is not None:
            text += f"\n\n{excerpt(landed.new, ranges)}"
        return ToolResult(
            parts=(TextPart(text=text),),
            content=(self._diff(landed),) if landed.old != landed.new else None,
            raw={
                "path": str(self._path),
                "created": landed.old is None,
                "changedLines": [[item.first, item.last] for item in ranges],
            },
        )
