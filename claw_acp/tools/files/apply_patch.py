"""Applying a patch to several files: all of it or nothing."""

from collections.abc import Sequence

import anyio.to_thread

from claw_acp.contracts.tool import CallDraft, CallView, Invocation, ToolContext, ToolResult
from claw_acp.core.errors import FileConflict, ToolError
from claw_acp.core.events import DiffContent, Location, ToolContent
from claw_acp.core.messages import TextPart
from claw_acp.tools.display import amount, shown_path
from claw_acp.tools.files.line_changes import changed_lines, spoken
from claw_acp.tools.files.line_window import lines_of
from claw_acp.tools.files.patch_plan import PatchedFile, PlannedChange, read_patch
from claw_acp.tools.files.patch_writing import PatchWriter
from claw_acp.tools.parameters import Parameters, TypedTool, argument


class PatchParameters(Parameters):
    """A patch."""

    patch: str = argument(
        min_length=1,
        max_length=2_000_000,
        description="The patch: between `*** Begin Patch` and `*** End Patch` sections `*** Update File: path` (hunks "
        "after @@, lines with a space, - or + in front; `*** Move to: path` to rename), `*** Add File: path` (lines "
        "with +), `*** Delete File: path`. Or a unified diff.",
    )


class ApplyPatch(TypedTool[PatchParameters]):
    """Applies a patch."""

    name = "apply_patch"
    draft = CallDraft(kind="edit", verb="Apply a patch")
    description = (
        "Change, add, delete and rename several text files by one patch: all of it or nothing. Unchanged and removed "
        "lines must be in the file exactly; line numbers may be wrong."
    )
    parameters = PatchParameters
    on_demand = True

    def bind(self, parameters: PatchParameters, context: ToolContext) -> Invocation:
        """The invocation of one patch."""
        return _Patching([PatchedFile(part, context=context) for part in read_patch(parameters.patch)], context)


class _Patching(Invocation):
    def __init__(self, files: Sequence[PatchedFile], context: ToolContext) -> None:
        self._files = files
        self._context = context
        self._agreed: Sequence[PlannedChange] | None = None
        self.accesses = tuple(access for file in files for access in file.accesses)
        paths = dict.fromkeys(path for file in files for path in (file.path, file.target) if path is not None)
        if len(paths) < sum(1 + (file.target is not None) for file in files):
            raise ToolError("The patch names a file twice. Put all hunks of a file together. Nothing was written.")
        shown = files[0].shown if len(files) == 1 else amount(len(files), "file")
        self.view = CallView(
            title=f"Patch {shown}", kind="edit", locations=tuple(Location(path=str(path)) for path in paths)
        )

    async def preview(self) -> tuple[ToolContent, ...]:
        """The diffs."""
        self._agreed = await self._planned()
        return tuple(diff for change in self._agreed for diff in _diffs(change))

    async def run(self) -> ToolResult:
        """Write, if all files still have the texts that the diffs were made from."""
        planned = await self._planned()
        if self._agreed is not None and self._agreed != planned:
            raise FileConflict(
                "A file of the patch changed while this call waited for permission. Nothing was written."
            )
        written = await PatchWriter(self._context).write(planned)
        rows = await anyio.to_thread.run_sync(lambda: [self._report(change) for change in written])
        return ToolResult(
            parts=(TextPart(text="\n".join(rows)),),
            content=tuple(diff for change in written for diff in _diffs(change)),
            raw={"files": [str(change.target or change.path) for change in written]},
        )

    async def _planned(self) -> Sequence[PlannedChange]:
        return [await file.planned() for file in self._files]

    def _report(self, change: PlannedChange) -> str:
        if change.new is None:
            return f"Deleted {change.shown}."
        if change.old is None:
            return f"Added {change.shown} ({amount(len(lines_of(change.new)), 'line')})."
        ranges = changed_lines(change.old, change.new)
        where = f": changed {spoken(ranges)}" if ranges else ""
        notes = f" ({'; '.join(change.notes)})" if change.notes else ""
        if change.target is None:
            return f"Updated {change.shown}{where}{notes}."
        return f"Moved {change.shown} to {shown_path(change.target, workspace=self._context.workspace)}{where}{notes}."


def _diffs(change: PlannedChange) -> Sequence[DiffContent]:
    """The diff for people; of a moved file that of its deletion, too."""
    if change.target is None:
        return (DiffContent(path=str(change.path), old_text=change.old, new_text=change.new),)
    return (
        DiffContent(path=str(change.path), old_text=change.old, new_text=None),
        DiffContent(path=str(change.target), old_text=None, new_text=change.new),
    )
