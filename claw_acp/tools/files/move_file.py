"""Moving or renaming a file."""

import os

import anyio.to_thread

from claw_acp.contracts.tool import CallDraft, CallView, Invocation, ReadsPath, ToolContext, ToolResult
from claw_acp.core.errors import ToolError
from claw_acp.core.events import Location, PartContent, ToolContent
from claw_acp.core.messages import TextPart
from claw_acp.core.value import replace
from claw_acp.tools.display import shown_path
from claw_acp.tools.files.delete_file import described
from claw_acp.tools.files.file_entry import FileEntry, entry_path
from claw_acp.tools.files.seen_files import Stamps
from claw_acp.tools.files.unreadable import exists
from claw_acp.tools.files.unsaved import writing
from claw_acp.tools.parameters import Parameters, TypedTool, argument


class MoveParameters(Parameters):
    """A file and its new path."""

    path: str = argument(min_length=1, description="File to move, absolute or relative to the session's directory.")
    new_path: str = argument(min_length=1, description="Its whole new path, file name included; nothing may be there.")


class MoveFile(TypedTool[MoveParameters]):
    """Moves or renames one file or symbolic link."""

    name = "move_file"
    draft = CallDraft(kind="move", verb="Move", subject="path", is_path=True)
    description = (
        "Move or rename one file of any kind, or a symbolic link. Directories are made; nothing is replaced. "
        "References to the file in others stay as they are. The person can undo it."
    )
    parameters = MoveParameters
    on_demand = True

    def bind(self, parameters: MoveParameters, context: ToolContext) -> Invocation:
        """The invocation of one move."""
        return _Moving(parameters, context)


class _Moving(Invocation):
    def __init__(self, parameters: MoveParameters, context: ToolContext) -> None:
        workspace = context.workspace
        self._entry = entry = FileEntry(entry_path(parameters.path, workspace=workspace), context=context)
        self._target = entry_path(parameters.new_path, workspace=workspace)
        self._shown = shown_path(self._target, workspace=workspace)
        self._context = context
        self.accesses = (
            ReadsPath(path=entry.path),  # at its new path another rule may permit reading it
            replace(writing(entry.path, shown=entry.shown, context=context), operation="delete"),
            writing(self._target, shown=self._shown, context=context),
        )
        self.view = CallView(
            title=f"Move {entry.shown} to {self._shown}",
            kind="move",
            locations=(Location(path=str(entry.path)), Location(path=str(self._target))),
        )

    async def preview(self) -> tuple[ToolContent, ...]:
        """Both paths, and what is moved."""
        found = await self._entry.look()
        await self._require_free()
        return (PartContent(part=TextPart(text=f"{self._entry.shown} → {self._shown} ({described(found)})")),)

    async def run(self) -> ToolResult:
        """Move it, if it is still as it was shown."""
        found = await self._entry.present()
        await self._require_free()
        stamps = Stamps.on(self._context.state)
        await self._context.workspace.move_file(self._entry.path, target=self._target)
        if found.text is not None and stamps.knows(self._entry.path):
            stamps.saw(self._target, found.text)
        stamps.forget(self._entry.path)
        return ToolResult(
            parts=(TextPart(text=f"Moved {self._entry.shown} to {self._shown} ({described(found)})."),),
            raw={"path": str(self._entry.path), "newPath": str(self._target)},
        )

    async def _require_free(self) -> None:
        if await anyio.to_thread.run_sync(os.path.isdir, self._target):
            raise ToolError(
                f"{self._shown} is a directory. Give the whole new path: "
                f"{os.path.join(self._shown, self._entry.path.name)!r}."  # noqa: PTH118 - a text that stays relative
            )
        if await exists(self._target):
            raise ToolError(
                f"{self._shown} exists already; nothing was moved. Choose another path, or delete it first."
            )
