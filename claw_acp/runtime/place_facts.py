"""Facts for the model about the working folder when the person writes: git's state, and the person's own changes.

It is told only when it is news. The look is bounded; where it takes too long, nothing is said for the rest of the
session.
"""

import logging
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio
from anyio import to_thread

from claw_acp.contracts.workspace import Workspace
from claw_acp.core.errors import ToolError
from claw_acp.core.redaction import redact
from claw_acp.session.checkpoints.recorder import RecordedWorkspace, plain
from claw_acp.session.session import Session
from claw_acp.tools.files.seen_files import Stamps
from claw_acp.workspace.git_state import git_state, is_in_repository, plain_name

log = logging.getLogger(__name__)

WITHIN: Final = 0.4  # seconds that a prompt waits
MOST_NAMES: Final = 10
MOST_ASKED: Final = 10
"""Files, those seen last, whose text the editor is asked for before each prompt: they may have unsaved changes."""

_KEY: Final = "place facts"


class PlaceFacts:
    """The facts about the working folder of one session."""

    def __init__(self) -> None:
        self._told = ""
        self._slow = False
        self._editor_slow = False
        self._shown: dict[Path, str] = {}  # what the editor was seen to show last, of files with other texts

    @classmethod
    def of(cls, session: Session) -> "PlaceFacts":
        """Those of a session, kept on its state."""
        facts = session.tool_state.get(_KEY, cls)
        assert isinstance(facts, cls)
        return facts

    async def news(self, session: Session, workspace: Workspace) -> str:
        """The facts that changed since the last turn, as sentences; empty when none did."""
        root, stamps = session.roots[0], Stamps.on(session.tool_state)
        in_git = not self._slow and is_in_repository(root)
        asks = isinstance(workspace, RecordedWorkspace) and workspace.shows_buffers and not self._editor_slow
        unsaved = list[Path]()
        state, changed = None, list[Path]()
        async with anyio.create_task_group() as tasks:
            if asks and (seen := stamps.latest(MOST_ASKED)):
                tasks.start_soon(self._look_into_buffers, seen, workspace, stamps, unsaved)
            if in_git or stamps.touched():
                with anyio.move_on_after(WITHIN) as limit:
                    changed = await to_thread.run_sync(stamps.changed, abandon_on_cancel=True)
                    state = await to_thread.run_sync(git_state, root, abandon_on_cancel=True) if in_git else None
                if limit.cancelled_caught:
                    self._slow = True
                    log.warning("state of the folder not told: looking takes too long", extra={"session": session.id})
        changed += [path for path in unsaved if path not in changed]
        sentences = [_changed(changed, root=root)] if changed else []
        if state is not None and state != self._told:
            self._told = state
            sentences.append(state)
        return redact(" ".join(sentences))  # a file may be named like a key

    async def _look_into_buffers(
        self, paths: list[Path], workspace: Workspace, stamps: Stamps, changed: list[Path]
    ) -> None:
        """Add the files of which the editor shows a text that is neither on the disk nor known to the session."""

        async def look(path: Path) -> None:
            with suppress(ToolError, OSError, UnicodeDecodeError):
                text = await workspace.read_text(path)
                if stamps.differs(path, text) and self._shown.get(path) != text:
                    self._shown[path] = text
                    saved = await anyio.Path(path).read_text("utf-8-sig")
                    if plain(saved) != plain(text):
                        changed.append(path)

        with anyio.move_on_after(WITHIN) as limit:
            async with anyio.create_task_group() as tasks:
                for path in paths:
                    tasks.start_soon(look, path)
        self._editor_slow = limit.cancelled_caught


def leave_files(session: Session) -> None:
    """Note how the files that the session knows are now, at the end of a turn. Later changes are the person's."""
    Stamps.on(session.tool_state).leave()


def _changed(paths: list[Path], *, root: Path) -> str:
    shown = [path.relative_to(root) if path.is_relative_to(root) else path for path in paths[:MOST_NAMES]]
    names = ", ".join(plain_name(str(path)) for path in shown)
    more = f" and {len(paths) - MOST_NAMES} more" if len(paths) > MOST_NAMES else ""
    return f"Changed since your last turn, by the user or a program that still runs: {names}{more}."
