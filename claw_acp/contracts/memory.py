"""The contract of memories: what an agent remembers beyond one conversation.

A backend writes seven methods. The rest has defaults that work for any backend, which one with namespaces, an index or
vectors of its own overrides.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias, TypedDict, Unpack

from claw_acp.core.clock import Clock
from claw_acp.core.value import Value, replace

CORE: Final = "core"
"""The category of lasting facts: they never fade, and hygiene never removes them."""

DAILY: Final = "daily"
CONVERSATION: Final = "conversation"

DEFAULT_NAMESPACE: Final = "default"

MemorySource = Literal["person", "agent", "stranger"]
"""The author of an entry's text. stranger: it came out of untrusted text, such as a web page."""

SearchMode = Literal["hybrid", "embedding", "bm25"]
"""hybrid: words and vectors, fused. Where there are no vectors, all three are by words."""

MOST_FOUND: Final = 5
"""Entries that a search finds at most, if it is not told."""

_ENOUGH: Final = 8  # times as many entries are recalled where those of other namespaces are dropped afterwards
_ALL: Final = 1_000_000


class MemoryEntry(Value):
    """One thing remembered.

    Attributes:
        id: Never changes, and names nothing else.
        key: A short name for the subject, such as `deploy-command`; a newer entry of the same key supersedes this one.
        category: `core`, `daily`, `conversation`, or any other name.
        timestamp: Seconds since the epoch at which it became known.
        score: How well it answers a query, where it was recalled by one; larger is better.
        importance: From 0 to 1; None is judged by the category.
        superseded_by: The id of the entry that replaced this one, which is then no longer recalled.
    """

    id: str
    key: str
    content: str
    category: str = CORE
    timestamp: float
    session_id: str | None = None
    score: float | None = None
    namespace: str = DEFAULT_NAMESPACE
    importance: float | None = None
    superseded_by: str | None = None
    source: MemorySource = "agent"


class Facts(TypedDict, total=False):
    """Facts about an entry to store; those that are not given are as `MemoryEntry` has them."""

    category: str
    session_id: str | None
    source: MemorySource


class Scope(TypedDict, total=False):
    """The scope of a search: by default all entries, of which it finds `MOST_FOUND`, by words and by vectors."""

    limit: int
    session_id: str | None
    since: float | None
    until: float | None
    mode: SearchMode


class MemoryFilter(Value):
    """A choice of entries: those that meet every condition given. No namespaces: all of them."""

    namespaces: tuple[str, ...] = ()
    key: str | None = None
    category: str | None = None
    session_id: str | None = None
    since: float | None = None
    until: float | None = None
    superseded: bool = False
    """Replaced entries are among them, too."""


CURRENT: Final = MemoryFilter()
EVERYTHING: Final = MemoryFilter(superseded=True)


class Memory(Protocol):
    """A store of memories. All methods may be called at the same time, and from several processes.

    Raises:
        StoreError: From any method: the store failed, or refuses an entry; the text says what to do.
    """

    @abstractmethod
    async def store(self, key: str, content: str, **facts: Unpack[Facts]) -> MemoryEntry:
        """Remember `content`; returns the entry as it is kept (without credentials).

        Entries that it contradicts are kept, and marked as superseded. One that says the same already is returned.
        """
        ...

    @abstractmethod
    async def recall(self, query: str, **scope: Unpack[Scope]) -> Sequence[MemoryEntry]:
        """The entries that best answer a query in a person's words, of all namespaces, best first, with scores."""
        ...

    @abstractmethod
    async def get(self, entry_id: str) -> MemoryEntry | None:
        """The entry with this id, superseded or not."""
        ...

    @abstractmethod
    async def list(self, chosen: MemoryFilter = CURRENT, *, limit: int = 100) -> Sequence[MemoryEntry]:
        """The chosen entries, newest first."""
        ...

    @abstractmethod
    async def forget(self, entry_id: str) -> bool:
        """Remove an entry for good; False if there is none."""
        ...

    @abstractmethod
    async def count(self, chosen: MemoryFilter = CURRENT) -> int:
        """The number of chosen entries."""
        ...

    @abstractmethod
    async def health_check(self) -> Sequence[str]:
        """The problems found, as sentences for a person; none: all is well."""
        ...

    async def store_with_metadata(
        self,
        key: str,
        content: str,
        *,
        namespace: str,
        importance: float | None = None,
        **facts: Unpack[Facts],
    ) -> MemoryEntry:
        """`store` in a namespace. By default the key carries it, and the importance is that of the category."""
        del importance  # a hint, which a backend may not know
        entry = await self.store(_prefix(namespace) + key, content, **facts)
        return _within(entry, namespace) or entry

    async def recall_namespaced(
        self,
        query: str,
        *,
        namespaces: Sequence[str],
        **scope: Unpack[Scope],
    ) -> Sequence[MemoryEntry]:
        """`recall` among the entries of these namespaces alone."""
        limit = scope.get("limit", MOST_FOUND)
        scope["limit"] = limit * _ENOUGH
        found = await self.recall(query, **scope)
        return [kept for entry in found if (kept := _of_any(entry, namespaces))][:limit]

    async def top_core_memories(self, *, namespaces: Sequence[str], limit: int = 20) -> Sequence[MemoryEntry]:
        """The most important core entries of these namespaces, in an order that stays while they do."""
        found = await self.list(MemoryFilter(category=CORE), limit=_ALL)
        kept = [kept for entry in found if (kept := _of_any(entry, namespaces))]
        return sorted(kept, key=lambda entry: (-(entry.importance or 0), entry.timestamp, entry.id))[:limit]

    async def purge_namespace(self, namespace: str) -> int:
        """Remove all entries of a namespace for good; returns how many there were."""
        found = await self.list(EVERYTHING, limit=_ALL)
        return sum([await self.forget(entry.id) for entry in found if _within(entry, namespace)])

    async def purge_session(self, session_id: str) -> int:
        """Remove all entries that a session made, for good; returns how many there were."""
        found = await self.list(MemoryFilter(session_id=session_id, superseded=True), limit=_ALL)
        return sum([await self.forget(entry.id) for entry in found])

    async def export(self, chosen: MemoryFilter = EVERYTHING) -> Sequence[MemoryEntry]:
        """All chosen entries, oldest first."""
        return [*reversed(await self.list(chosen, limit=_ALL))]

    async def restore(self, entries: Sequence[MemoryEntry]) -> int:
        """Write entries of an export, or edited ones, in place of those with their ids; returns how many were new.

        By default what is not there is stored anew, under an id of its own.
        """
        known = {(entry.key, entry.content) for entry in await self.list(EVERYTHING, limit=_ALL)}
        missing = [entry for entry in entries if (entry.key, entry.content) not in known]
        for entry in missing:
            await self.store(
                entry.key, entry.content, category=entry.category, session_id=entry.session_id, source=entry.source
            )
        return len(missing)

    async def embed_missing(self) -> int:
        """Make some of the vectors that are missing, if the backend has any; returns how many it made.

        To be called in the background until it returns 0.

        Raises:
            StoreError: The embedding failed, too. Memories are found by their words.
        """
        return 0

    async def reindex(self) -> int:
        """Build what searches anew from the entries; returns how many there are."""
        return await self.count(EVERYTHING)


class Embedding(Protocol):
    """Turns texts into vectors, so that texts of near meaning are near each other.

    Attributes:
        name: The model. Vectors of another one are of no use for it.
    """

    name: str

    async def embed(self, texts: Sequence[str], *, within: float) -> Sequence[Sequence[float]]:
        """A vector for each text, all of the same length, `within` seconds.

        Raises:
            StoreRefused: It takes one of the texts not.
            StoreError: There are none; the text says why.
        """
        ...


QUERY_WITHIN: Final = 0.4
"""Seconds that a search waits for the vector of its query."""


class MemorySetup(Value):
    """What a backend is opened with.

    Attributes:
        directory: The directory of its files, which need not exist.
        clock: Time.
        redact: Returns a text without credentials; nothing is kept or embedded that did not pass through it.
        embedding: Makes vectors; None: memories are found by their words alone.
    """

    directory: Path
    clock: Clock
    redact: Callable[[str], str]
    embedding: Embedding | None = None


MemoryBackend: TypeAlias = Callable[[MemorySetup], AbstractAsyncContextManager[Memory]]
"""Opens the memories for a block: what an entry point of the group `claw_acp.memory` names."""


def _prefix(namespace: str) -> str:
    return "" if namespace == DEFAULT_NAMESPACE else f"{namespace}#"


def _within(entry: MemoryEntry, namespace: str) -> MemoryEntry | None:
    """The entry as one of `namespace`, which the backend knows or its key carries; None if it is of another."""
    if entry.namespace == namespace:
        return entry
    prefix = _prefix(namespace)
    if not prefix or not entry.key.startswith(prefix):
        return None
    return replace(entry, namespace=namespace, key=entry.key[len(prefix) :])


def _of_any(entry: MemoryEntry, namespaces: Sequence[str]) -> MemoryEntry | None:
    return next((kept for namespace in namespaces if (kept := _within(entry, namespace))), None)
