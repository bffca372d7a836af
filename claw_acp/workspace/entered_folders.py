"""The folders of a project that a session has read files in, and the instructions they hold for it."""

from collections.abc import Callable, Sequence
from os.path import relpath
from pathlib import Path
from typing import Final

from anyio import to_thread

from claw_acp.contracts.tool import ToolState
from claw_acp.workspace.instruction_files import folder_files
from claw_acp.workspace.repository import folders_between

_KEY: Final = "entered folders"


class EnteredFolders:
    """The folders below the roots of one session, in the order in which it came there.

    Attributes:
        entered: Those that hold words of the project itself.
    """

    def __init__(self) -> None:
        self.entered: list[Path] = []
        self._known: set[Path] = set()

    @classmethod
    def on(cls, state: ToolState) -> "EnteredFolders":
        """Those of the session with this state."""
        folders = state.get(_KEY, cls)
        assert isinstance(folders, cls)
        return folders

    async def instructions(self, path: Path, *, roots: Sequence[Path], may_read: Callable[[Path], bool]) -> str:
        """The instructions for a file that is read, of folders in which none was read before; empty for most files."""
        folder = path.parent
        root = next((root for root in roots if folder.is_relative_to(root)), None)
        if root is None or folder in self._known:
            return ""
        self._known.add(folder)
        return await to_thread.run_sync(self._told, path, root, may_read)

    def _told(self, path: Path, root: Path, may_read: Callable[[Path], bool]) -> str:
        new = [place for place in folders_between(root, path.parent) if place not in self.entered]
        self.entered += new
        files = [file for place in new for file in folder_files(place, within=root, may_read=may_read)]
        return "\n\n".join(
            f"[{relpath(file.path, root)}, the project's instructions for files in that folder:]\n{file.text}"
            for file in files
            if file.path != path
        )
