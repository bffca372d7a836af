"""A workspace that stores the state of every file before a turn changes it.

The old state is stored and journalled before anything is written. So it can be restored even after a crash, later and
by another process.
"""

import codecs
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
from anyio import to_thread

from claw_acp.contracts.workspace import Command, RecordsOthers, RunningProcess, UnsavedChanges, Workspace
from claw_acp.core.errors import ToolError
from claw_acp.core.events import FilesChanged, PathChange, PathState
from claw_acp.core.value import replace
from claw_acp.session.checkpoints.command_watch import CommandWatch, WatchedProcess, only_reads
from claw_acp.session.session import CLEANUP_TIMEOUT, Session
from claw_acp.store.contents import ContentStore, digest_of
from claw_acp.workspace.local import LocalWorkspace
from claw_acp.workspace.path_states import state_of

_TEXTS: Final = 2  # files that were read last, whose text is remembered for the write that follows
MAX_COPY: Final = 1024 * 1024
"""Bytes of a file whose new content is stored, too; it is on the disk, and for larger ones the hash suffices."""


class RecordedWorkspace:
    """A wrapper of another workspace that records its changes.

    Args:
        inner: The workspace.
        session: The session of the turn.
        store: Stores the contents.
    """

    def __init__(self, inner: Workspace, *, session: Session, store: ContentStore) -> None:
        self._inner = inner
        self._session = session
        self._store = store
        self._watch = CommandWatch.on(session.tool_state, store=store)
        self._texts: dict[Path, str] = {}

    @property
    def roots(self) -> Sequence[Path]:
        """See `Workspace`."""
        return self._inner.roots

    @property
    def unsaved_changes(self) -> UnsavedChanges:
        """See `Workspace`."""
        return self._inner.unsaved_changes

    @property
    def shows_buffers(self) -> bool:
        """Whether an editor may show other texts than the disk has."""
        return not isinstance(self._inner, LocalWorkspace)

    def locate(self, path: str) -> Path:
        """See `Workspace`."""
        return self._inner.locate(path)

    def contains(self, path: Path) -> bool:
        """See `Workspace`."""
        return self._inner.contains(path)

    async def read_text(self, path: Path) -> str:
        """See `Workspace`. The text is what a write replaces: the editor may show another one than the disk has."""
        text = await self._inner.read_text(path)
        if not self.shows_buffers:
            return text
        self._texts.pop(path, None)
        self._texts[path] = text
        if len(self._texts) > _TEXTS:
            del self._texts[next(iter(self._texts))]
        return text

    async def read_bytes(self, path: Path, *, limit: int) -> bytes:
        """See `Workspace`."""
        return await self._inner.read_bytes(path, limit=limit)

    async def write_text(self, path: Path, text: str) -> None:
        """See `Workspace`.

        Raises:
            ToolError: The old content cannot be stored; nothing was written.
        """
        async with self._changing(await self._before(path), written=text):
            await self._inner.write_text(path, text)

    async def write_bytes(self, path: Path, content: bytes) -> None:
        """See `Workspace`.

        Raises:
            ToolError: The old content cannot be stored; nothing was written.
        """
        async with self._changing(await self._before(path)):
            await self._inner.write_bytes(path, content)

    async def delete_file(self, path: Path) -> None:
        """See `Workspace`.

        Raises:
            ToolError: The content cannot be stored; nothing was deleted.
        """
        async with self._changing(_restorable(await self._before(path))):
            await self._inner.delete_file(path)

    async def move_file(self, path: Path, *, target: Path) -> None:
        """See `Workspace`.

        Raises:
            ToolError: The content cannot be stored; nothing was moved.
        """
        before = (*_restorable(await self._before(path)), *await self._before(target))
        async with self._changing(before):
            await self._inner.move_file(path, target=target)

    async def _before(self, path: Path) -> tuple[PathChange, ...]:
        return await to_thread.run_sync(_states_before, path, self._texts.get(path), self._store)

    @asynccontextmanager
    async def _changing(self, before: tuple[PathChange, ...], *, written: str | None = None) -> AsyncGenerator[None]:
        """Journal states before the block, and what became of them after it; `written` is the text of the last."""
        turn = self._session.history.turns.latest
        await self._session.publish(FilesChanged(item=turn, changes=before))
        try:
            yield
        finally:
            with anyio.move_on_after(CLEANUP_TIMEOUT, shield=True):
                changes = await to_thread.run_sync(partial(with_present_states, before, store=self._store))
                if written is not None:
                    changes = await self._with_shown(changes, written)
                self._watch.recorded(changes)
                await self._session.publish(FilesChanged(item=turn, changes=changes), committed=False)

    async def _with_shown(self, changes: tuple[PathChange, ...], text: str) -> tuple[PathChange, ...]:
        """The changes with what the editor shows, if it has not saved what was written, or something else."""
        *directories, change = changes
        after = change.after
        if after is None or not self.shows_buffers or after.digest == digest_of(_encoded(text)):
            return changes
        try:
            shown = await self._inner.read_text(Path(change.path))
        except ToolError:  # the disk counts
            return changes
        after = await to_thread.run_sync(partial(with_unsaved, after, shown, store=self._store))
        return (*directories, replace(change, after=after))

    async def start(self, command: Command) -> RunningProcess:
        """See `Workspace`. Before a command that may change files, all that it may destroy is kept.

        Raises:
            ToolError: It cannot be kept; the command was not started.
        """
        if await to_thread.run_sync(_changes_nothing, command):
            return await self._inner.start(command)
        watched = await self._watch.begin(self._session, command, roots=self._inner.roots)
        try:
            process = await self._inner.start(command)
        except BaseException:
            with anyio.move_on_after(CLEANUP_TIMEOUT, shield=True):
                await watched.end()
            raise
        return WatchedProcess(process, watched)

    @asynccontextmanager
    async def recording(self, about: str) -> AsyncGenerator[None]:
        """See `RecordsOthers`."""
        command = Command(line=about, cwd=self._inner.roots[0])
        watched = await self._watch.begin(self._session, command, roots=self._inner.roots)
        try:
            yield
        finally:
            with anyio.move_on_after(CLEANUP_TIMEOUT, shield=True):
                await watched.end()


def _changes_nothing(command: Command) -> bool:
    """Return whether a command cannot change a file: its sandbox does not let it, or its line only reads."""
    return only_reads(command.line) if command.sandbox is None else not command.sandbox.profile.writable


def _states_before(path: Path, shown: str | None, store: ContentStore) -> tuple[PathChange, ...]:
    """The state of a file that will be written, after those of the directories that will be created for it."""
    missing = [above for above in path.parents if not os.path.lexists(above)]
    state = with_unsaved(state_of(path, store=store), shown, store=store)
    made = [PathChange(path=str(above), before=PathState()) for above in reversed(missing)]
    return (*made, PathChange(path=str(path), before=state))


def _restorable(before: tuple[PathChange, ...]) -> tuple[PathChange, ...]:
    """The states before a file is deleted or moved away.

    Raises:
        ToolError: There is no copy of the file.
    """
    for change in before:
        if change.before.kind == "file" and not change.before.kept:
            raise ToolError(
                f"{change.path} has {change.before.size:,} bytes, too many for a copy by which it could be brought "
                "back. Nothing was done; do it with a command if that is what the person wants."
            )
    return before


def with_present_states(changes: Sequence[PathChange], *, store: ContentStore) -> tuple[PathChange, ...]:
    """The changes with the present states as the new ones. Small contents are stored."""
    return tuple(
        replace(change, after=present_state(Path(change.path), store=store, limit=MAX_COPY)) for change in changes
    )


def present_state(path: Path, *, store: ContentStore, limit: int) -> PathState:
    """The state of a path; contents up to `limit` bytes are stored, of longer ones only the hash is known."""
    state = state_of(path, store=store, limit=limit, durable=False)
    return state if state.kept or state.kind != "file" else state_of(path)


def with_unsaved(state: PathState, shown: str | None, *, store: ContentStore) -> PathState:
    """The state with the text that the editor shows, if that differs from the file."""
    if shown is None or not state.kept or state.kind != "file":
        return state
    text = _encoded(shown)
    if digest_of(text) == state.digest:
        return state
    disk = store.get(state.digest)
    try:
        saved = disk.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError:
        return state  # the editor knows its encoding
    if plain(saved) == plain(shown):
        return state
    return replace(state, unsaved=store.put(text))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def plain(text: str) -> str:
    """A text with the line ends that editors may change when they read."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


if TYPE_CHECKING:
    _conforms: type[Workspace] = RecordedWorkspace
    _records: type[RecordsOthers] = RecordedWorkspace
