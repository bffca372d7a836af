"""Restoring files to other states, as a journalled unit that is resumed after a crash."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from anyio import to_thread

from claw_acp.contracts.workspace import Workspace
from claw_acp.core.errors import ClawError, ToolError
from claw_acp.core.events import FilesRestored, PathChange, PathState, TurnRewound
from claw_acp.core.value import replace
from claw_acp.session.checkpoints.recorder import with_unsaved
from claw_acp.session.session import Session
from claw_acp.store.contents import MAX_CONTENT, ContentStore
from claw_acp.workspace.local import LocalWorkspace
from claw_acp.workspace.path_states import ABSENT, put_back, state_of

Failures = tuple[tuple[str, str], ...]
"""Paths that could not be restored, each with the reason."""


_OPEN: Final = 0o500  # what the owner of a directory needs to change what is in it


class Restorer:
    """Restores the files of one session to other states.

    Args:
        session: The session, without a running turn.
        workspace: Its files; an editor is asked for its texts, and gets the new ones.
        store: Has the contents.
    """

    def __init__(self, session: Session, *, workspace: Workspace, store: ContentStore) -> None:
        self._session = session
        self._workspace = workspace
        self._store = store

    async def present(self, path: Path) -> PathState:
        """The present state of a path, stored, together with the editor's text of it.

        Raises:
            ToolError: It cannot be stored.
        """
        state = await to_thread.run_sync(partial(state_of, path, store=self._store))
        if state.kind != "file" or not state.kept or isinstance(self._workspace, LocalWorkspace):
            return state
        try:
            shown = await self._workspace.read_text(path)
        except ToolError:  # the editor does not have it, or it is no text
            return state
        return await to_thread.run_sync(partial(with_unsaved, state, shown, store=self._store))

    def obstacle(self, change: PathChange) -> str:
        """The reason a path cannot be changed from one state to the other; empty if it can."""
        return self._wrong_place(Path(change.path)) or _wrong_state(change.before, change.after or ABSENT)

    def _wrong_place(self, path: Path) -> str:
        roots = [root for root in self._session.roots if path.is_relative_to(root)]
        inside = [path.relative_to(root).parts for root in roots]
        if not all(inside) or not inside:
            return "it is outside the project"
        if not any(map(os.path.isdir, roots)):
            return f"the folder {roots[0]} is not there any more"
        if any(path.is_relative_to(own) for own in self._store.own):
            return "it belongs to claw-acp itself"
        return "it belongs to git" if any(".git" in parts for parts in inside) else ""

    async def carry_out(self, begun: FilesRestored) -> Failures:
        """Make the changes, and journal their start and their end. Returns those that failed.

        Raises:
            ToolError: The start cannot be journalled: nothing was done.
        """
        await self._session.publish(begun)
        return await self.finish(begun)

    async def finish(self, begun: FilesRestored) -> Failures:
        """Make the changes of an operation that was started, here or in a program that was killed in between."""
        failures: dict[str, str] = {}
        done: list[PathChange] = []
        for change in in_safe_order(begun.changes):
            reason = await self._change(change, temporary=f".claw-acp-{begun.item}.tmp")
            if reason:
                failures[change.path] = reason
            else:
                done.append(change)
        if begun.conversation:
            await self._session.publish(TurnRewound(item=begun.turn, undone=not begun.redoes))
        await self._session.publish(replace(begun, status="completed", changes=tuple(done)))
        return tuple(failures.items())

    async def _change(self, change: PathChange, *, temporary: str) -> str:
        """Change one path to its state; returns the reason it cannot be done, or an empty text."""
        path, wanted = Path(change.path), change.after or PathState()
        obstacle = self.obstacle(change)
        if obstacle:
            return obstacle
        try:
            now = await self.present(path)
            if now.same_as(wanted):
                return ""
            safe = now.kind == "absent" or now.same_as(change.before) or now.digest == wanted.digest != ""
            if not safe:  # else nothing can be lost
                return "it was changed at this moment by somebody else"
            content = await to_thread.run_sync(self._content, wanted)
            if now.kind == wanted.kind == "file":
                await self._tell_editor(path, content)
            await to_thread.run_sync(partial(put_back, path, wanted, content=content, temporary=temporary))
        except ClawError as error:
            return error.message
        return ""

    def _content(self, state: PathState) -> bytes:
        if state.kind not in {"file", "link"}:
            return b""
        return self._store.get(state.digest)

    async def _tell_editor(self, path: Path, content: bytes) -> None:
        """Have the editor write a text, so that it shows it; the bytes on disk are made exact afterwards."""
        if isinstance(self._workspace, LocalWorkspace) or b"\0" in content:
            return
        try:
            await self._workspace.write_text(path, content.decode("utf-8-sig"))
        except (UnicodeDecodeError, ToolError):
            return  # the disk counts; editors notice


def _wrong_state(now: PathState, wanted: PathState) -> str:
    if now.kind == "other":
        return "it is not a plain file now, or lies behind a link"
    if wanted.kind == "other":
        return "it was not a plain file, or lay behind a link"
    if wanted.kind in {"file", "link"} and not wanted.kept:
        size = "it was too large to be kept" if wanted.size > MAX_CONTENT else "what it held was not kept"
        return f"{size} ({wanted.size:,} bytes)"
    if now.kind == "file" and not now.kept:
        what = "too large now" if now.size > MAX_CONTENT else "not readable now"
        return f"it is {what} and cannot be kept ({now.size:,} bytes)"
    return ""


def in_safe_order(changes: Sequence[PathChange]) -> Sequence[PathChange]:
    """The changes in an order in which each is possible: removals first, directories, then contents.

    A directory that its owner may not enter is opened before all else, and closed after it.
    """

    def rank(change: PathChange) -> tuple[int, int]:
        depth = change.path.count(os.sep)
        wanted = ABSENT if change.after is None else change.after
        if wanted.kind == "absent":
            return 1, -depth
        if wanted.kind != "directory":
            return 3, depth
        if change.before.kind == "directory" and change.before.mode & _OPEN != _OPEN:
            return 0, depth
        return (2, depth) if wanted.mode & _OPEN == _OPEN else (4, -depth)

    return sorted(changes, key=rank)
