"""What sessions are kept in, in memory: the contracts of `claw_acp.session.stores`, in their plainest form."""

from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from claw_acp.core.clock import Clock, local_day
from claw_acp.core.errors import InvalidRequest, SessionBusy, SessionNotFound, StoreError
from claw_acp.core.events import Event, UsageChanged
from claw_acp.core.messages import Usage
from claw_acp.core.spending import Grouping, Share, Spending
from claw_acp.core.value import replace
from claw_acp.session.pages import Archived, Listing, Page
from claw_acp.session.record import SUBAGENT, SessionRecord
from claw_acp.session.setup import Instructions
from claw_acp.session.stores import Events, JournalStore, Ledger, SessionLocks
from claw_acp.store.database import storable


class MemoryJournal:
    """See `JournalStore`."""

    def __init__(self, clock: Clock) -> None:
        self.ledger = MemoryLedger(clock)
        self._clock = clock
        self._records: dict[str, SessionRecord] = {}
        self._events: dict[str, Events] = {}

    async def create(self, record: SessionRecord) -> None:
        if not all(map(storable, (record.cwd, *record.additional_directories))):
            raise InvalidRequest("a path is not valid Unicode")
        if record.id in self._records:
            raise StoreError("there is such a session")
        self._records[record.id], self._events[record.id] = record, []

    async def get(self, session_id: str) -> SessionRecord:
        if session_id not in self._records:
            raise SessionNotFound(session_id)
        return self._records[session_id]

    async def update(
        self, session_id: str, *, title: str | None = None, mode: str | None = None, model: str | None = None,
        additional_directories: Sequence[str] | None = None, options: Mapping[str, str | bool] | None = None,
        instructions: Instructions | None = None, updated_at: float | None = None,
    ) -> None:  # fmt: skip
        known = await self.get(session_id)
        more = known.additional_directories if additional_directories is None else tuple(additional_directories)
        self._records[session_id] = replace(
            known,
            title=known.title if known.title_given or title is None else title,
            mode=mode or known.mode,
            model=model or known.model,
            additional_directories=more,
            options={**known.options, **(options or {})},
            instructions=instructions or known.instructions,
            updated_at=max(known.updated_at, self._clock.now() if updated_at is None else updated_at),
        )

    async def rename(self, session_id: str, title: str) -> None:
        self._records[session_id] = replace(await self.get(session_id), title=title, title_given=True)

    async def archive(self, session_id: str, *, archived: bool) -> None:
        self._records[session_id] = replace(await self.get(session_id), archived=archived)

    async def fork(self, record: SessionRecord, *, source: str, until: int | None = None) -> None:
        await self.get(source)
        copied = [event for event in self._events[source] if until is None or event.seq <= until]
        await self.create(record)
        for seq, event in enumerate(copied, start=1):
            item = record.id if event.item == source else event.item
            copy = replace(event, session=record.id, seq=seq, item=item)
            self._events[record.id].append(replace(copy, total=None) if isinstance(copy, UsageChanged) else copy)

    def touch(self, session_id: str) -> None:
        if known := self._records.get(session_id):
            self._records[session_id] = replace(known, updated_at=max(known.updated_at, self._clock.now()))

    async def list(
        self, *, cwd: str | None = None, archived: Archived = "exclude", cursor: str | None = None, limit: int = 50,
        begun: bool = False,
    ) -> Page:  # fmt: skip
        listing = Listing.parse(cwd=cwd, archived=archived, cursor=cursor, limit=limit, begun=begun)
        found = sorted(self._records.values(), key=lambda record: (record.updated_at, record.id), reverse=True)
        wanted = [record for record in found if self._is_wanted(record, listing)]
        return listing.page(wanted[: listing.limit + 1])

    def _is_wanted(self, record: SessionRecord, listing: Listing) -> bool:
        return (
            (listing.cwd is None or (record.cwd.rstrip("/") or "/") == listing.cwd)
            and (listing.archived == "include" or record.archived == (listing.archived == "only"))
            and (not listing.begun or record.title_given or record.archived or bool(self._events[record.id]))
            and (listing.after is None or (record.updated_at, record.id) < listing.after)
        )

    async def delete(self, session_id: str) -> None:
        self._records.pop(session_id, None)
        self._events.pop(session_id, None)

    async def delegated(self, session_id: str) -> Sequence[SessionRecord]:
        records = self._records.values()
        return [each for each in records if each.parent == session_id and each.options.get(SUBAGENT)]

    async def append(self, session_id: str, event: Event, *, wait: bool) -> None:
        if session_id in self._events:
            self._events[session_id].append(event)
        elif wait:
            raise SessionNotFound(session_id)

    async def read(self, session_id: str, *, after: int = 0) -> Events:
        return [event for event in self._events.get(session_id, ()) if event.seq > after]

    async def flush(self) -> None:
        """Do nothing: everything is kept at once."""


class MemoryLedger:
    """See `Ledger`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rows: list[tuple[str, str, str, Usage, int | None]] = []

    @property
    def day(self) -> str:
        return local_day(self._clock.now())

    def add(self, session_id: str, *, model: str, usage: Usage, cost: int | None) -> None:
        self._rows.append((self.day, session_id, model, usage, cost))

    async def spent(self, *, period: str = "", session_id: str | None = None) -> Spending:
        rows = [row for row in self._rows if row[0].startswith(period) and session_id in {None, row[1]}]
        usage = sum((row[3] for row in rows), Usage())
        cost, unpriced = sum(row[4] or 0 for row in rows), sum(row[4] is None for row in rows)
        return Spending(requests=len(rows), usage=usage, cost=cost, unpriced=unpriced)

    async def shares(self, by: Grouping, *, period: str = "", session_id: str | None = None) -> tuple[Share, ...]:
        rows = [row for row in self._rows if row[0].startswith(period) and session_id in {None, row[1]}]
        parts: defaultdict[str, MemoryLedger] = defaultdict(lambda: MemoryLedger(self._clock))
        for row in rows:
            parts[{"day": row[0], "session": row[1], "model": row[2]}[by]]._rows.append(row)
        shares = [Share(key=key, spending=await parts[key].spent()) for key in sorted(parts)]
        return tuple(shares if by == "day" else sorted(shares, key=lambda share: -share.spending.cost))


class MemoryLocks:
    """See `SessionLocks`."""

    def __init__(self) -> None:
        self._held = Counter[str]()

    @asynccontextmanager
    async def locked(self, session_id: str) -> AsyncGenerator[None]:
        if self._held[session_id]:
            raise SessionBusy("somebody holds it")
        self._held[session_id] = 1
        try:
            yield
        finally:
            del self._held[session_id]


if TYPE_CHECKING:
    _journal: type[JournalStore] = MemoryJournal
    _ledger: type[Ledger] = MemoryLedger
    _locks: type[SessionLocks] = MemoryLocks
