"""Unsaved changes in editors that do not merge an edit with them."""

from pathlib import Path

from claw_acp.contracts.tool import ToolContext, ToolState, WritesPath
from claw_acp.core.errors import FileConflict, ToolError
from claw_acp.tools.files.text_shape import with_newline
from claw_acp.tools.files.unreadable import exists

_SHELF_KEY = "edits not shown by the editor"
_MOST = 10 * 1024 * 1024  # bytes of a file that is compared; longer ones are not read as text at all


def writing(path: Path, *, shown: str, context: ToolContext) -> WritesPath:
    """The access of an edit, with a caution for the person if unsaved changes cannot be seen."""
    hidden = context.workspace.unsaved_changes == "unseen"
    caution = f"{shown} is read from the disk, so save it first if you have unsaved changes in it" if hidden else None
    return WritesPath(path=path, caution=caution)


async def require_saved(path: Path, text: str | None, *, shown: str, context: ToolContext) -> None:
    """Check that the editor will show an edit of a file, whose present text in the editor is `text`.

    Raises:
        FileConflict: It has unsaved changes, which the editor would go on showing.
    """
    stuck = _stuck(context.state)
    if text is None or not (context.workspace.unsaved_changes == "stay" or path in stuck):
        return
    if await _is_unsaved(path, text, context=context):
        raise FileConflict(
            f"{shown} has unsaved changes in the editor, which would not show the edit and could overwrite it. "
            "Nothing was written. Ask the user to save or revert the file in the editor, then go on."
        )
    stuck.discard(path)


async def require_no_unsaved(path: Path, text: str, *, shown: str, context: ToolContext) -> None:
    """Check that a file to delete or move, whose present text in the editor is `text`, is saved.

    Raises:
        FileConflict: It is not: the changes would be lost, or be saved at the old path.
    """
    if await _is_unsaved(path, text, context=context):
        raise FileConflict(
            f"{shown} has unsaved changes in the editor. Nothing was done. "
            "Ask the user to save or revert the file in the editor, then go on."
        )


async def require_shown(path: Path, *, before: str | None, now: str, shown: str, context: ToolContext) -> None:
    """Check that the editor shows an edit that it reported as written, and not the old text.

    Raises:
        FileConflict: The edit is on the disk only. Until the file is saved or reverted, `require_saved` refuses more.
    """
    if now == before and await _is_unsaved(path, now, context=context):
        _stuck(context.state).add(path)
        raise FileConflict(
            f"The edit of {shown} is on the disk, but the editor did not take it: it still shows the text from before, "
            "with unsaved changes. Ask the user to compare and then save or revert the file in the editor; until then "
            "it is not edited again."
        )


async def _is_unsaved(path: Path, text: str, *, context: ToolContext) -> bool:
    """Return whether the disk has another text than the editor; False if that cannot be determined."""
    try:
        disk = await context.workspace.read_bytes(path, limit=_MOST)
    except ToolError:
        return not await exists(path)  # a file that was never saved; one that is too long is not compared
    try:
        saved = disk.decode("utf-8-sig")
    except UnicodeDecodeError:  # the editor knows the encoding of the file
        return False
    return with_newline(saved, "\n") != with_newline(text.removeprefix("\ufeff"), "\n")


def _stuck(state: ToolState) -> set[Path]:
    paths: set[Path] = state.get(_SHELF_KEY, set[Path])  # type: ignore[assignment]
    return paths
