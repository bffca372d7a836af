"""Memories in an SQLite file: entries, a search index, and what hygiene removes."""

import logging
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar, Unpack

from claw_acp.contracts.memory import (
    CORE,
    CURRENT,
    DEFAULT_NAMESPACE,
    EVERYTHING,
    MOST_FOUND,
    QUERY_WITHIN,
    Embedding,
    Facts,
    Memory,
    MemoryEntry,
    MemoryFilter,
    MemorySetup,
    Scope,
)
from claw_acp.core.errors import StoreError
from claw_acp.core.ids import new_id
from claw_acp.core.value import replace
from claw_acp.memory.hygiene import tidy
from claw_acp.memory.keyword_search import keyword_hits
from claw_acp.memory.normalizing import normalized
from claw_acp.memory.ranking import fused, importance_of, weight_of
from claw_acp.memory.rows import COLUMNS, condition, entries, entry_of, insert, remove, supersede
from claw_acp.memory.schema import is_index_sound, rebuild_index
from claw_acp.memory.superseding import is_contradicted, says_the_same
from claw_acp.memory.vector_rows import LONGEST_TEXT, Missing, put_vectors, vector_hits, without_vector
from claw_acp.memory.vectors import packed
from claw_acp.store.database import Database
from claw_acp.store.failures import StoreRefused

log = logging.getLogger(__name__)

_T = TypeVar("_T")

ENTRIES_WITHIN: Final = 60.0  # seconds for those of some entries: a service may load its model first
_EMBEDDED: Final = 16  # entries at a time
_SHORT: Final = 500  # characters of one whose text is refused
_ALIKE: Final = 10  # entries that a new one is compared with
_TIDY_EVERY: Final = 50  # entries stored
_SOME: Final = 100  # entries that are ranked
_MANY: Final = 900


class SqliteMemory(Memory):
    """See `Memory`."""

    def __init__(self, database: Database, setup: MemorySetup) -> None:
        self._database = database
        self._setup = setup
        self._stored = 0
        self._refused: set[int] = set()  # entries that the embedding does not take
        self._size: int | None = None  # of vectors that were made since it was opened, in bytes

    async def store(self, key: str, content: str, **facts: Unpack[Facts]) -> MemoryEntry:
        """See `Memory`."""
        return await self.store_with_metadata(key, content, namespace=DEFAULT_NAMESPACE, **facts)

    async def store_with_metadata(
        self,
        key: str,
        content: str,
        *,
        namespace: str,
        importance: float | None = None,
        **facts: Unpack[Facts],
    ) -> MemoryEntry:
        """See `Memory`."""
        clock, redact = self._setup.clock, self._setup.redact
        entry = MemoryEntry(
            id=new_id("mem", clock=clock), key=redact(key), content=redact(content), timestamp=round(clock.now(), 3),
            namespace=namespace, importance=importance, **facts,
        )  # fmt: skip
        work = partial(_store, entry=normalized(entry))
        self._stored += 1
        if self._stored % _TIDY_EVERY == 1:
            await self._writing(partial(tidy, now=clock.now()))
        return await self._writing(work)

    async def recall(self, query: str, **scope: Unpack[Scope]) -> Sequence[MemoryEntry]:
        """See `Memory`."""
        return await self._recall(query, (), scope)

    async def recall_namespaced(
        self, query: str, *, namespaces: Sequence[str], **scope: Unpack[Scope]
    ) -> Sequence[MemoryEntry]:
        """See `Memory`."""
        return await self._recall(query, namespaces, scope) if namespaces else ()

    async def get(self, entry_id: str) -> MemoryEntry | None:
        """See `Memory`."""
        found = await self._reading(partial(entries, where="id = ?", params=(entry_id,)))
        return found[0] if found else None

    async def list(self, chosen: MemoryFilter = CURRENT, *, limit: int = 100) -> Sequence[MemoryEntry]:
        """See `Memory`."""
        where, params = condition(chosen)
        ordered = f"{where} ORDER BY timestamp DESC, id DESC LIMIT ?"
        return await self._reading(partial(entries, where=ordered, params=[*params, limit]))

    async def forget(self, entry_id: str) -> bool:
        """See `Memory`."""
        return await self._writing(partial(remove, entry_id=entry_id))

    async def count(self, chosen: MemoryFilter = CURRENT) -> int:
        """See `Memory`."""
        where, params = condition(chosen)

        def counted(connection: sqlite3.Connection) -> int:
            sql = f"SELECT count(*) FROM memory WHERE {where}"  # noqa: S608 - a condition of ours
            number: int = connection.execute(sql, params).fetchone()[0]
            return number

        return await self._reading(counted)

    async def health_check(self) -> Sequence[str]:
        """See `Memory`."""
        await self._mended()
        return (await self._database.check_health()).problems

    async def top_core_memories(self, *, namespaces: Sequence[str], limit: int = 20) -> Sequence[MemoryEntry]:
        """See `Memory`."""
        found = [
            entry
            for namespace in namespaces
            for entry in await self.list(MemoryFilter(namespaces=(namespace,), category=CORE), limit=10 * limit)
        ]
        return sorted(found, key=lambda entry: (-importance_of(entry), entry.timestamp, entry.id))[:limit]

    async def purge_namespace(self, namespace: str) -> int:
        """See `Memory`."""
        return await self._purge(MemoryFilter(namespaces=(namespace,), superseded=True))

    async def purge_session(self, session_id: str) -> int:
        """See `Memory`."""
        return await self._purge(MemoryFilter(session_id=session_id, superseded=True))

    async def restore(self, entries: Sequence[MemoryEntry]) -> int:
        """See `Memory`."""
        redact = self._setup.redact
        given = [
            normalized(replace(entry, key=redact(entry.key), content=redact(entry.content), score=None))
            for entry in entries
        ]
        return await self._writing(partial(_restore, given=given))

    async def reindex(self) -> int:
        """See `Memory`."""
        await self._database.writing(rebuild_index)
        return await self.count(EVERYTHING)

    async def _reading(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        return await self._mending(self._database.reading, work)

    async def _writing(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        return await self._mending(self._database.writing, work)

    async def _mending(
        self,
        run: Callable[[Callable[[sqlite3.Connection], _T]], Awaitable[_T]],
        work: Callable[[sqlite3.Connection], _T],
    ) -> _T:
        """Run `work`, and once more if it failed because of the index, in which errors of any kind may come up."""
        try:
            return await run(work)
        except (StoreError, MemoryError):
            if not await self._mended():
                raise
            return await run(work)

    async def _mended(self) -> bool:
        """Build the index anew if it is damaged: it is what breaks, and holds nothing of its own."""

        def mend(connection: sqlite3.Connection) -> bool:
            if is_index_sound(connection):
                return False
            rebuild_index(connection)
            return True

        if mended := await self._database.writing(mend):
            log.warning(
                "the index of memories was damaged and is built again", extra={"path": str(self._database.path)}
            )
        return mended

    async def _recall(self, query: str, namespaces: Sequence[str], scope: Scope) -> Sequence[MemoryEntry]:
        """The best entries; no namespaces: of all."""
        mode = scope.get("mode", "hybrid")
        chosen = MemoryFilter(
            namespaces=tuple(namespaces), session_id=scope.get("session_id"), since=scope.get("since"),
            until=scope.get("until"),
        )  # fmt: skip
        vector = None if mode == "bm25" else await self._query_vector(query)
        recall = partial(
            _recalled, query=query, chosen=chosen, limit=scope.get("limit", MOST_FOUND), now=self._setup.clock.now(),
            vector=vector, by_words=vector is None or mode != "embedding",
        )  # fmt: skip
        return await self._reading(recall)

    async def _query_vector(self, query: str) -> tuple[str, bytes] | None:
        """The model and the vector of a query; None: by words alone."""
        embedding = self._setup.embedding
        text = self._setup.redact(query[:LONGEST_TEXT]).strip()
        if embedding is None or not text:
            return None
        try:
            vectors = await embedding.embed([text], within=QUERY_WITHIN)
            return embedding.name, packed(vectors[0])
        except (StoreError, ValueError) as error:
            log.info("memories are found by words alone", extra={"reason": str(error)})
            return None

    async def embed_missing(self) -> int:
        """See `Memory`."""
        embedding = self._setup.embedding
        if embedding is None:
            return 0
        wanted = partial(without_vector, model=embedding.name, most=_EMBEDDED, refused=self._refused)
        missing = await self._database.reading(wanted)
        try:
            await self._embed(embedding, missing)
        except StoreRefused:
            for entry in missing:
                try:
                    await self._embed(embedding, [replace(entry, text=entry.text[:_SHORT])])
                except StoreRefused as error:
                    log.info("a memory without a vector", extra={"memory": entry.id, "reason": error.message})
                    self._refused.add(entry.number)
        return len(missing)

    async def _embed(self, embedding: Embedding, missing: Sequence[Missing]) -> None:
        if not missing:
            return
        found = await embedding.embed([self._setup.redact(entry.text) for entry in missing], within=ENTRIES_WITHIN)
        try:
            vectors = [packed(numbers) for numbers in found]
        except ValueError as error:
            raise StoreError(f"no vectors for memories: {embedding.name} made {error}") from error
        if self._size not in {None, len(vectors[0])}:
            raise StoreError(f"no vectors for memories: those of {embedding.name} change their length")
        self._size = len(vectors[0])
        await self._database.writing(partial(put_vectors, given=missing, vectors=vectors, model=embedding.name))

    async def _purge(self, chosen: MemoryFilter) -> int:
        def purge(connection: sqlite3.Connection) -> int:
            where, params = condition(chosen)
            return sum(remove(connection, entry.id) for entry in entries(connection, where, params))

        return await self._writing(purge)


def _recalled(
    connection: sqlite3.Connection, *, query: str, chosen: MemoryFilter, limit: int, now: float,
    vector: tuple[str, bytes] | None, by_words: bool,
) -> Sequence[MemoryEntry]:  # fmt: skip
    narrow = (chosen.session_id, chosen.since, chosen.until) != (None, None, None)
    among = _MANY if narrow else _SOME  # a narrow filter drops most of them
    searches = [keyword_hits(connection, query, namespaces=chosen.namespaces, among=among)] if by_words else []
    if vector is not None:
        model, numbers = vector
        searches.append(vector_hits(connection, numbers, model=model, namespaces=chosen.namespaces, among=among))
    scores = fused(searches)
    where, params = condition(chosen)
    rows = connection.execute(
        f"SELECT number, {COLUMNS} FROM memory NOT INDEXED "  # noqa: S608 - names and question marks; by their numbers
        f"WHERE number IN ({', '.join('?' * len(scores))}) AND {where}",
        [*scores, *params],
    )
    found = [(scores[number], entry_of(row)) for number, *row in rows]
    scored = [replace(entry, score=score * weight_of(entry, now=now)) for score, entry in found]
    return sorted(scored, key=lambda entry: (-(entry.score or 0), -entry.timestamp, entry.id))[:limit]


def _store(connection: sqlite3.Connection, *, entry: MemoryEntry) -> MemoryEntry:
    """Add an entry, and mark those that it replaces."""
    namesakes = entries(connection, "namespace = ? AND key = ? AND superseded_by IS NULL", (entry.namespace, entry.key))
    hits = keyword_hits(connection, entry.content, namespaces=(entry.namespace,))[:_ALIKE]
    alike = entries(connection, f"number IN ({', '.join('?' * len(hits))})", hits)
    known = {old.id: old for old in (*namesakes, *alike)}
    for old in known.values():
        if old.key == entry.key and old.category == entry.category and says_the_same(old, entry):
            return old
    for old in known.values():
        if is_contradicted(old, by=entry):
            supersede(connection, old, by=entry.id)
    insert(connection, entry)
    return entry


def _restore(connection: sqlite3.Connection, *, given: Sequence[MemoryEntry]) -> int:
    changed = 0
    for entry in given:
        old = entries(connection, "id = ?", (entry.id,))
        if old == [entry]:
            continue
        remove(connection, entry.id)
        insert(connection, entry)
        changed += 1
    return changed


if TYPE_CHECKING:
    _conforms: type[Memory] = SqliteMemory
