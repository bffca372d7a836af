"""A file that is too large for a copy is not taken away: nothing could bring it back."""

import os
from pathlib import Path

import pytest

from claw_acp.core.errors import ToolError
from claw_acp.store.contents import MAX_CONTENT
from tests.session.checkpoints.folder import Project


async def test_a_file_without_a_copy_is_neither_deleted_nor_moved(tmp_path: Path) -> None:
    async with Project.opened(tmp_path) as project:
        await project.begin_turn()
        large = project.folder / "large"
        large.touch()
        os.truncate(large, MAX_CONTENT + 1)  # sparse: it takes no room
        with pytest.raises(ToolError, match="too many for a copy"):
            await project.workspace.delete_file(large)
        with pytest.raises(ToolError, match="too many for a copy"):
            await project.workspace.move_file(large, target=project.folder / "other")
        assert [path.name for path in project.folder.iterdir()] == ["large"]
