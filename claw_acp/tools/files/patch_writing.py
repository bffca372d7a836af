"""Writing the changes of a patch: all of them, or none."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import anyio

from claw_acp.contracts.tool import ToolContext
from claw_acp.core.errors import ToolError
from claw_acp.core.value import replace
from claw_acp.tools.files.patch_plan import PlannedChange
from claw_acp.tools.files.seen_files import Stamps
from claw_acp.tools.files.unsaved import require_shown

ROLLBACK: Final = 60.0  # seconds to take back what was written; an editor may need time for each file

_Undo = Callable[[], Awaitable[None]]


class PatchWriter:
    """Writes changes one after another; where one fails, those before it are taken back."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._undo: list[tuple[str, _Undo]] = []

    async def write(self, changes: Sequence[PlannedChange]) -> Sequence[PlannedChange]:
        """Write all changes; returns them with the texts that the files have now, as editors may format them.

        Raises:
            ToolError: One failed. The text says what could not be taken back, if anything.
        """
        landed: list[PlannedChange] = []
        try:
            for change in sorted(changes, key=lambda change: change.new is None):  # what exists no more comes last
                landed.append(await self._write(change))  # noqa: PERF401 - those so far count when one fails
        except BaseException as error:
            with anyio.move_on_after(ROLLBACK, shield=True):
                left = await self._take_back()
                if isinstance(error, ToolError):
                    raise self._failed(error, left=left, several=len(changes) > 1) from error
            raise
        return landed

    async def _write(self, change: PlannedChange) -> PlannedChange:
        workspace = self._context.workspace
        stamps = Stamps.on(self._context.state)
        path, target = change.path, change.target
        if change.new is None:
            await workspace.delete_file(path)
            self._undo.append((change.shown, lambda: workspace.write_text(path, change.old or "")))
            stamps.forget(path)
            return change
        if target is not None:
            await workspace.move_file(path, target=target)
            self._undo.append((change.shown, lambda: workspace.move_file(target, target=path)))
            stamps.forget(path)
        there = replace(change, path=target or path)
        if change.new != change.old:
            self._undo.append((change.shown, lambda: self._restore(there)))
            await workspace.write_text(there.path, change.new)
        now = await self._landed(there)
        stamps.saw(there.path, now)
        return replace(change, new=now)

    async def _landed(self, change: PlannedChange) -> str:
        assert change.new is not None
        try:
            now = await self._context.workspace.read_text(change.path)
        except ToolError:  # it was written; that it cannot be read back is the next call's news
            return change.new
        if now != change.new:
            await require_shown(change.path, before=change.old, now=now, shown=change.shown, context=self._context)
        return now

    async def _restore(self, change: PlannedChange) -> None:
        """Give a file its old text again; one that was added, and really was written, goes."""
        workspace = self._context.workspace
        if change.old is not None:
            await workspace.write_text(change.path, change.old)
        elif await anyio.Path(change.path).exists():
            await workspace.delete_file(change.path)

    async def _take_back(self) -> list[str]:
        """Take back what was written, the last first. Returns the files for which that failed."""
        left: list[str] = []
        for shown, undo in reversed(self._undo):
            try:
                await undo()
            except ToolError:
                left.append(shown)
        return left

    def _failed(self, error: ToolError, *, left: Sequence[str], several: bool) -> ToolError:
        if left:
            names = ", ".join(dict.fromkeys(left))
            return ToolError(f"{error} The other changes could not all be taken back: look at {names}.")
        return ToolError(f"{error} None of the patch was applied.") if several else error
