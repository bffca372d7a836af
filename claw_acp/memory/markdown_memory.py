"""Memories in MEMORY.md and HISTORY.md, which people may edit by hand."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar, Unpack

import anyio
from anyio import to_thread

from claw_acp.config.atomic_file import only_writer, put_in_place
from claw_acp.contracts.memory import (
    CORE,
    CURRENT,
    Facts,
    Memory,
    MemoryEntry,
    MemoryFilter,
    Scope,
)
from claw_acp.core.errors import StoreError
from claw_acp.core.value import replace
from claw_acp.memory.import_export import file_text, stored
from claw_acp.memory.markdown import CORE_FILE, OTHERS_FILE, ReadEntry, edited, read
from claw_acp.memory.normalizing import is_storable

_T = TypeVar("_T")

FILES: Final = (CORE_FILE, OTHERS_FILE)
_LOOK: Final = 0.005  # seconds between two looks at a lock that another process holds
_LOOKS: Final = 2_000


class MarkdownMemory(Memory):
    """See `Memory`.

    The files are what counts. The index, a store like that of the backend `sqlite`, is made from them whenever they are
    not as this program left them, so that it may be deleted at any time.

    Args:
        directory: The directory of the files.
        index: The index.
        seen: The file that says from which files the index was made.
    """

    def __init__(self, directory: Path, *, index: Memory, seen: Path) -> None:
        self._directory = directory
        self._index = index
        self._seen = seen

    # ------------------------------------------------------------------ reading

    async def recall(self, query: str, **scope: Unpack[Scope]) -> Sequence[MemoryEntry]:
        """See `Memory`."""
        await self._read_files()
        return await self._index.recall(query, **scope)

    async def recall_namespaced(
        self, query: str, *, namespaces: Sequence[str], **scope: Unpack[Scope]
    ) -> Sequence[MemoryEntry]:
        """See `Memory`."""
        await self._read_files()
        return await self._index.recall_namespaced(query, namespaces=namespaces, **scope)

    async def get(self, entry_id: str) -> MemoryEntry | None:
        """See `Memory`."""
        await self._read_files()
        return await self._index.get(entry_id)

    async def list(self, chosen: MemoryFilter = CURRENT, *, limit: int = 100) -> Sequence[MemoryEntry]:
        """See `Memory`."""
        await self._read_files()
        return await self._index.list(chosen, limit=limit)

    async def count(self, chosen: MemoryFilter = CURRENT) -> int:
        """See `Memory`."""
        await self._read_files()
        return await self._index.count(chosen)

    async def top_core_memories(self, *, namespaces: Sequence[str], limit: int = 20) -> Sequence[MemoryEntry]:
        """See `Memory`."""
        await self._read_files()
        return await self._index.top_core_memories(namespaces=namespaces, limit=limit)

    async def health_check(self) -> Sequence[str]:
        """See `Memory`. The index is made anew whatever happens to it; the files have to be readable."""
        try:
            await self._read_files()
        except StoreError as error:
            return (error.message,)
        return await self._index.health_check()

    # ------------------------------------------------------------------ writing

    async def store(self, key: str, content: str, **facts: Unpack[Facts]) -> MemoryEntry:
        """See `Memory`."""
        return await self._change(lambda: self._index.store(key, content, **facts))

    async def store_with_metadata(
        self, key: str, content: str, *, namespace: str, importance: float | None = None, **facts: Unpack[Facts]
    ) -> MemoryEntry:
        """See `Memory`."""
        return await self._change(
            lambda: self._index.store_with_metadata(key, content, namespace=namespace, importance=importance, **facts)
        )

    async def forget(self, entry_id: str) -> bool:
        """See `Memory`."""
        return await self._change(lambda: self._index.forget(entry_id))

    async def purge_namespace(self, namespace: str) -> int:
        """See `Memory`."""
        return await self._change(lambda: self._index.purge_namespace(namespace))

    async def purge_session(self, session_id: str) -> int:
        """See `Memory`."""
        return await self._change(lambda: self._index.purge_session(session_id))

    async def restore(self, entries: Sequence[MemoryEntry]) -> int:
        """See `Memory`."""
        return await self._change(lambda: self._index.restore(entries))

    async def embed_missing(self) -> int:
        """See `Memory`."""
        return await self._index.embed_missing()

    async def reindex(self) -> int:
        """See `Memory`."""
        async with self._locked():
            await to_thread.run_sync(lambda: self._seen.unlink(missing_ok=True))
            await self._read_changed()
        return await self._index.reindex()

    # ------------------------------------------------------------------ files

    async def _change(self, work: Callable[[], Awaitable[_T]]) -> _T:
        """Change the index, then the files; it has happened once they are written."""
        async with self._locked():
            await self._read_changed()
            result = await work()
            await self._write()
            return result

    async def _read_files(self) -> None:
        if await to_thread.run_sync(self._is_current):
            return
        async with self._locked():
            await self._read_changed()

    async def _read_changed(self) -> None:
        """Bring the index up to date with files that somebody else has changed."""
        if await to_thread.run_sync(self._is_current):
            return
        texts = await to_thread.run_sync(self._texts)
        known = {entry.id: entry for entry in await self._index.export()}
        found = _distinct([entry for text in texts.values() for entry in read(text)])
        for entry in found:
            if is_storable(entry.key, entry.content):
                await stored(entry, self._index, known.get(entry.id or ""))
        for gone in known.keys() - {entry.id for entry in found}:
            await self._index.forget(gone)
        await self._write()  # new ones get their ids

    async def _write(self) -> None:
        entries = await self._index.export()
        core = [entry for entry in entries if entry.category == CORE and entry.superseded_by is None]
        others = [entry for entry in entries if entry.category != CORE or entry.superseded_by is not None]
        # What is replaced moves from the one to the other: whenever this ends, it is in one of them at least.
        await to_thread.run_sync(lambda: self._put({OTHERS_FILE: others, CORE_FILE: core}))

    def _put(self, files: Mapping[str, Sequence[MemoryEntry]]) -> None:
        try:
            for name, entries in files.items():
                path = self._directory / name
                before = file_text(path) if path.exists() else ""
                if (text := edited(name, before, entries)) != before:
                    put_in_place(path, text)
            put_in_place(self._seen, json.dumps(self._stamps()))
        except OSError as error:
            raise _failed(self._directory, error) from error

    def _texts(self) -> Mapping[str, str]:
        try:
            return {name: file_text(self._directory / name) for name in FILES if (self._directory / name).exists()}
        except OSError as error:
            raise _failed(self._directory, error) from error

    def _is_current(self) -> bool:
        try:
            return json.loads(self._seen.read_text(encoding="utf-8")) == self._stamps()
        except (OSError, ValueError):
            return False  # then the index is made anew

    def _stamps(self) -> Mapping[str, Sequence[int]]:
        found = {name: self._directory / name for name in FILES if (self._directory / name).exists()}
        stats = {name: path.stat() for name, path in found.items()}
        return {name: [stat.st_mtime_ns, stat.st_size, stat.st_ino] for name, stat in stats.items()}

    @asynccontextmanager
    async def _locked(self) -> AsyncGenerator[None]:
        """Hold the lock on the files. It is asked for again and again: a wait in a thread could not be given up."""
        with ExitStack() as stack:
            for _ in range(_LOOKS):
                if self._lock(stack):
                    break
                await anyio.sleep(_LOOK)
            else:
                raise StoreError(f"{self._directory} is held by another process; try again when it is done")
            yield

    def _lock(self, stack: ExitStack) -> bool:
        try:
            stack.enter_context(only_writer(self._directory / CORE_FILE, wait=False))
        except BlockingIOError:
            return False
        except OSError as error:
            raise _failed(self._directory, error) from error
        return True


def _distinct(found: Sequence[ReadEntry]) -> Sequence[ReadEntry]:
    """The entries with each id once: a copy that says something else is a new one."""
    kept: dict[str, ReadEntry] = {}
    new: list[ReadEntry] = []
    for entry in found:
        first = kept.get(entry.id or "")
        if entry.id is None:
            new.append(entry)
        elif first is None or (first.content == entry.content and entry.superseded_by is not None):
            kept[entry.id] = entry
        elif first.content != entry.content:
            new.append(replace(entry, id=None))
    return [*kept.values(), *new]


def _failed(directory: Path, error: OSError) -> StoreError:
    return StoreError(f"the memories in {directory} cannot be read or written: {error.strerror or error}")


if TYPE_CHECKING:
    _conforms: type[Memory] = MarkdownMemory
