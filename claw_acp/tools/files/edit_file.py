"""Changing parts of a file by exact replacement."""

from pathlib import Path

from claw_acp.contracts.tool import CallDraft, Invocation, ReadsPath, ToolContext
from claw_acp.core.errors import ToolError
from claw_acp.tools.display import amount
from claw_acp.tools.files.file_change import Change, FileChange
from claw_acp.tools.files.replacement import Replacement, replaced
from claw_acp.tools.parameters import Parameters, TypedTool, argument


class EditEntry(Parameters):
    """One replacement."""

    old_text: str = argument(
        min_length=1,
        description="Text to replace, exactly as it is in the file (indentation too), without line numbers. "
        "It must occur once; add neighbouring lines if it does not.",
    )
    new_text: str = argument(description="Text to put there; empty to delete.")
    all: bool = argument(default=False, description="Replace every occurrence instead of exactly one.")


class EditParameters(Parameters):
    """A file and its replacements."""

    path: str = argument(min_length=1, description="File to change, absolute or relative to the session's directory.")
    edits: list[EditEntry] = argument(
        min_length=1,
        max_length=100,
        description="Replacements, applied in order, each to the text the one before left. All of them or none.",
    )


class EditFile(TypedTool[EditParameters]):
    """Replaces exact pieces of a file."""

    name = "edit_file"
    draft = CallDraft(kind="edit", verb="Edit", subject="path", is_path=True)
    description = (
        "Change parts of a text file by exact replacement: old_text must be in the file once, character for "
        "character. Several edits are applied in order, all or none. If the file changed since you read it, nothing "
        "is written. Line ends (CRLF) and byte order mark are kept: write plain line feeds."
    )
    parameters = EditParameters
    essential = True

    def bind(self, parameters: EditParameters, context: ToolContext) -> Invocation:
        """The invocation of one edit."""
        return _Editing(parameters, path=context.workspace.locate(parameters.path), context=context)


class _Editing(FileChange):
    def __init__(self, parameters: EditParameters, *, path: Path, context: ToolContext) -> None:
        super().__init__(path=path, context=context, verb="Edit")
        self._edits = [
            Replacement(old=edit.old_text, new=edit.new_text, everywhere=edit.all) for edit in parameters.edits
        ]
        # the text comes back in error messages and excerpts, so who may not read the file may not edit it
        self.accesses = (ReadsPath(path=path), *self.accesses)

    def change(self, old: str | None) -> str:
        new = replaced(old or "", self._edits, shown=self._shown)
        if new == (old or ""):
            raise ToolError(f"Together the edits leave {self._shown} as it is. Nothing was written.")
        return new

    def report(self, change: Change, *, lines: str) -> str:
        edits = amount(len(self._edits), "edit")
        return f"Edited {self._shown} ({edits}): {f'changed {lines}' if change.new else 'it is empty now'}."
