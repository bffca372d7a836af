"""The contracts of what sessions are kept in: a journal, a ledger, locks, and a bus for their events.

The embedded ones are SQLite, locks of the system on files, and lists in this process. Others may reach across machines;
what each operation would be there is in the decision record 0049.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias

from claw_acp.core.events import Event
from claw_acp.core.messages import Usage
from claw_acp.core.spending import Grouping, Share, Spending
from claw_acp.session.pages import Archived, Page
from claw_acp.session.record import SessionRecord
from claw_acp.session.setup import Instructions
from claw_acp.session.subscribers import Subscriber

Events: TypeAlias = list[Event]


class Ledger(Protocol):
    """Tokens and cost of model requests, added up by all who share a store. Reading may raise StoreError."""

    @property
    def day(self) -> str:
        """The current day, as in `2026-11-22`; its first seven characters are the month."""
        ...

    def add(self, session_id: str, *, model: str, usage: Usage, cost: int | None) -> None:
        """Record one request, now. It never waits; losing the last ones in a crash is allowed.

        Args:
            session_id: The session that made it.
            model: `provider/model`.
            usage: Its tokens.
            cost: Picodollars; None when the price is not known.

        Raises:
            StoreError: The journal is closed.
        """
        ...

    async def spent(self, *, period: str = "", session_id: str | None = None) -> Spending:
        """The spending of a period (`2026-11-22`, `2026-11`, empty: all time), of one session or of all.

        What was added here before counts.
        """
        ...

    async def shares(self, by: Grouping, *, period: str = "", session_id: str | None = None) -> tuple[Share, ...]:
        """The same, grouped: days in order, models and sessions by cost, the highest first."""
        ...


class JournalStore(Protocol):
    """Sessions and their events. Every method may raise StoreError, and reads what was written here before.

    An event that `append` waited for is never lost. The events of a session are read in the order of their `seq`, and
    no two of them have the same. Whoever appends holds the session's lock.
    """

    @property
    def ledger(self) -> Ledger:
        """The ledger of the same store."""
        ...

    async def create(self, record: SessionRecord) -> None:
        """Store a new session.

        Raises:
            InvalidRequest: It holds a path that cannot be stored.
            StoreError: A session with this id exists.
        """
        ...

    async def get(self, session_id: str) -> SessionRecord:
        """The session with this id.

        Raises:
            SessionNotFound: There is none.
        """
        ...

    async def update(
        self,
        session_id: str,
        *,
        title: str | None = None,
        mode: str | None = None,
        model: str | None = None,
        additional_directories: Sequence[str] | None = None,
        options: Mapping[str, str | bool] | None = None,
        instructions: Instructions | None = None,
        updated_at: float | None = None,
    ) -> None:
        """Change facts about a session. None leaves a field as it is, except `updated_at`, which becomes now.

        A title given by `rename` stays, `options` are merged into the stored ones, and `updated_at` never goes back,
        whoever else writes.

        Raises:
            SessionNotFound: There is none with this id.
        """
        ...

    async def rename(self, session_id: str, title: str) -> None:
        """Give a session a title that only another `rename` changes. It does not count as use: `updated_at` stays.

        Raises:
            SessionNotFound: There is none with this id.
        """
        ...

    async def archive(self, session_id: str, *, archived: bool) -> None:
        """Archive a session, or bring it back. It does not count as use: `updated_at` stays.

        Raises:
            SessionNotFound: There is none with this id.
        """
        ...

    async def fork(self, record: SessionRecord, *, source: str, until: int | None = None) -> None:
        """Store a new session with a copy of the events that `source` has now, in one transaction.

        Args:
            record: The new session.
            source: The session to copy the events from.
            until: The position of the last event to copy; None: all are copied.

        Raises:
            InvalidRequest: It holds a path that cannot be stored.
            SessionNotFound: There is no `source`.
        """
        ...

    def touch(self, session_id: str) -> None:
        """Note that a session is in use now. It never waits."""
        ...

    async def list(
        self,
        *,
        cwd: str | None = None,
        archived: Archived = "exclude",
        cursor: str | None = None,
        limit: int = 50,
        begun: bool = False,
    ) -> Page:
        """A page of sessions, the last changed first, of one working directory or of all.

        Raises:
            InvalidRequest: The cursor is not one of ours, or belongs to other filters; the limit is below 1.
        """
        ...

    async def delete(self, session_id: str) -> None:
        """Remove a session and all its events; it need not exist. What it cost still counts."""
        ...

    async def delegated(self, session_id: str) -> Sequence[SessionRecord]:
        """The sessions of a session's subagents, the oldest first; it need not exist."""
        ...

    async def append(self, session_id: str, event: Event, *, wait: bool) -> None:
        """Add an event; its `seq` must be above those of the session's earlier ones.

        With `wait` it is committed, with all appended before it, when this returns. Without, it is kept soon, and
        adjacent pieces of text may become one with the last one's `seq`. An event is taken even if this is cancelled.

        Raises:
            SessionNotFound: The session was deleted meanwhile (only with `wait`).
            StoreError: The event was not committed (only with `wait`), or cannot be kept.
        """
        ...

    async def read(self, session_id: str, *, after: int = 0) -> Events:
        """The session's events with a `seq` above `after`, in order; empty if the session does not exist."""
        ...

    async def flush(self) -> None:
        """Commit everything appended so far.

        Raises:
            StoreError: The commit failed.
        """
        ...


class SessionLocks(Protocol):
    """Let one turn at a time run in a session, whoever shares the store."""

    def locked(self, session_id: str) -> AbstractAsyncContextManager[None]:
        """Hold the session for the block; never waits for another holder, and is not re-entrant.

        It is free again when its holder has died. A holder that may have lost it (its connection broke) is cancelled.

        Raises:
            SessionBusy: Another one holds it; the text says who, if that is known.
            StoreError: Locks cannot be had.
        """
        ...


class EventBus(Protocol):
    """Carries the events of one session to those who watch it. True while anybody does.

    Attributes:
        observers: Get every event at once, and must be quick; they are no readers that keep the session open.
    """

    observers: tuple[Callable[[Event], None], ...]

    def append(self, subscriber: Subscriber, /) -> None:
        """Add a subscriber."""
        ...

    def remove(self, subscriber: Subscriber, /) -> None:
        """Remove a subscriber."""
        ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Subscriber]: ...

    def changed(self) -> Awaitable[None]:
        """Wait until a subscriber was added or removed."""
        ...

    async def broadcast(self, event: Event) -> None:
        """Show an event to all, and wait while they are behind. Each sees the events of a session in their order.

        An event with a `seq` is in the journal by then, so one that is carried twice is recognized, and one that is
        lost on the way is read there.
        """
        ...
