"""Deleting a file."""

from claw_acp.contracts.tool import CallDraft, CallView, Invocation, ToolContext, ToolResult
from claw_acp.core.events import DiffContent, Location, PartContent, ToolContent
from claw_acp.core.messages import TextPart
from claw_acp.core.value import replace
from claw_acp.tools.display import amount, byte_size
from claw_acp.tools.files.file_entry import FileEntry, FoundEntry, entry_path
from claw_acp.tools.files.line_window import lines_of
from claw_acp.tools.files.seen_files import Stamps
from claw_acp.tools.files.unsaved import writing
from claw_acp.tools.parameters import Parameters, TypedTool, argument


class DeleteParameters(Parameters):
    """A file."""

    path: str = argument(min_length=1, description="File to delete, absolute or relative to the session's directory.")


class DeleteFile(TypedTool[DeleteParameters]):
    """Deletes one file or symbolic link."""

    name = "delete_file"
    draft = CallDraft(kind="delete", verb="Delete", subject="path", is_path=True)
    description = "Delete one file of any kind, or a symbolic link (not what it leads to). The person can undo it."
    parameters = DeleteParameters
    on_demand = True

    def bind(self, parameters: DeleteParameters, context: ToolContext) -> Invocation:
        """The invocation of one deletion."""
        return _Deleting(FileEntry(entry_path(parameters.path, workspace=context.workspace), context=context), context)


class _Deleting(Invocation):
    def __init__(self, entry: FileEntry, context: ToolContext) -> None:
        self._entry = entry
        self._context = context
        self.accesses = (replace(writing(entry.path, shown=entry.shown, context=context), operation="delete"),)
        self.view = CallView(title=f"Delete {entry.shown}", kind="delete", locations=(Location(path=str(entry.path)),))

    async def preview(self) -> tuple[ToolContent, ...]:
        """The text that goes away."""
        return (self._shown(await self._entry.look()),)

    async def run(self) -> ToolResult:
        """Delete it, if it is still as it was shown."""
        found = await self._entry.present()
        await self._context.workspace.delete_file(self._entry.path)
        Stamps.on(self._context.state).forget(self._entry.path)
        return ToolResult(
            parts=(TextPart(text=f"Deleted {self._entry.shown} ({described(found)})."),),
            content=(self._shown(found),),
            raw={"path": str(self._entry.path)},
        )

    def _shown(self, found: FoundEntry) -> ToolContent:
        if found.text is not None:
            return DiffContent(path=str(self._entry.path), old_text=found.text, new_text=None)
        return PartContent(part=TextPart(text=f"{self._entry.shown}: {described(found)}"))


def described(found: FoundEntry) -> str:
    """`12 lines`, `a symbolic link`, `5.0 MB, not text`."""
    if found.is_link:
        return "a symbolic link"
    return f"{byte_size(found.size)}, not text" if found.text is None else amount(len(lines_of(found.text)), "line")
