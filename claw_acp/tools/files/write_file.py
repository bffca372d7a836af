"""Creating a file, or replacing one that was read."""

from pathlib import Path

from claw_acp.contracts.tool import CallDraft, Invocation, ToolContext
from claw_acp.core.errors import FileConflict
from claw_acp.tools.display import amount
from claw_acp.tools.files.file_change import Change, FileChange
from claw_acp.tools.files.line_window import lines_of
from claw_acp.tools.files.seen_files import Stamps
from claw_acp.tools.files.text_shape import TextShape
from claw_acp.tools.parameters import Parameters, TypedTool, argument


class WriteParameters(Parameters):
    """A file and its whole text."""

    path: str = argument(min_length=1, description="File to write, absolute or relative to the session's directory.")
    content: str = argument(description="The whole text of the file.")


class WriteFile(TypedTool[WriteParameters]):
    """Replaces the whole text of a file."""

    name = "write_file"
    draft = CallDraft(kind="edit", verb="Write", subject="path", is_path=True)
    description = (
        "Create a file with this content (directories are made), or replace the whole text of one. "
        "A file that exists must have been read with read_file in this session and be unchanged since. "
        "For changes to a part of a file use edit_file. Line ends of a CRLF file are kept: write plain line feeds."
    )
    parameters = WriteParameters
    essential = True

    def bind(self, parameters: WriteParameters, context: ToolContext) -> Invocation:
        """The invocation of one write."""
        return _Writing(parameters, path=context.workspace.locate(parameters.path), context=context)


class _Writing(FileChange):
    creates = True

    def __init__(self, parameters: WriteParameters, *, path: Path, context: ToolContext) -> None:
        super().__init__(path=path, context=context, verb="Write")
        self._content = parameters.content

    def change(self, old: str | None) -> str:
        if old is None:
            return self._content
        if old and not Stamps.on(self._context.state).knows(self._path):
            raise FileConflict(
                f"{self._shown} exists and was not read in this session. Nothing was written. "
                "Call read_file on it first, then use edit_file for a part of it or write_file for all of it."
            )
        return TextShape.of(old).applied(self._content)

    def report(self, change: Change, *, lines: str) -> str:
        size = amount(len(lines_of(change.new)), "line")
        if change.old is None:
            return f"Created {self._shown} ({size})."
        if change.old == change.new:
            return f"{self._shown} already has exactly this content; nothing was written."
        return f"Replaced {self._shown} ({size}): {f'changed {lines}' if change.new else 'it is empty now'}."
