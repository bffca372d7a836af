"""The one task that writes the journal: whatever was queued while it worked goes into its next transaction."""

import logging
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import anyio

from claw_acp.core.errors import ClawError, SessionNotFound, StoreError
from claw_acp.core.events import Event, TextDelta, ThoughtDelta
from claw_acp.core.value import Value
from claw_acp.session.codec import encode
from claw_acp.store.database import Database, SqlValue, Statement
from claw_acp.store.failures import StoreRefused

log = logging.getLogger(__name__)

DEFER_LIMIT: Final = 0.5  # seconds streamed text may wait for its commit
QUEUE_SIZE: Final = 1024  # writes; full: whoever appends waits for the next commit
_CLOSE_LIMIT: Final = 1.5  # seconds for the last commit; the whole program has two to end

_INSERT: Final = "INSERT INTO event (session_id, seq, kind, item, body) VALUES (?, ?, ?, ?, ?)"

Delta: TypeAlias = TextDelta | ThoughtDelta


class EventRow(Value):
    """An event ready to be stored."""

    seq: int
    kind: str
    item: str
    body: str


class Ticket:
    """The outcome that a caller of the writer waits for: the commit, or the reason there was none."""

    __slots__ = ("_event", "changed", "error")

    def __init__(self) -> None:
        self._event = anyio.Event()
        self.changed = 0
        self.error: ClawError | None = None

    def settle(self, *, error: ClawError | None = None) -> None:
        """Set the outcome and wake the caller."""
        self.error = error
        self._event.set()

    async def wait(self) -> int:
        """The number of rows the statement changed (0 for events), once it is committed.

        Raises:
            SessionNotFound: The session does not exist any more.
            StoreError: It could not be committed.
        """
        await self._event.wait()
        if self.error is not None:
            raise self.error
        return self.changed


class _Write(Value):
    session: str
    what: Delta | EventRow | Statement | None  # None: only wait for all before it
    ticket: Ticket | None


class _Growing:
    """Adjacent streamed pieces of one item, merged into one row with the last piece's position."""

    def __init__(self, first: Delta) -> None:
        self._first = first
        self._last = first
        self._pieces = [first.text]

    def take(self, delta: Delta) -> bool:
        """Append `delta` if it continues this row. A thought that closes a block stays a row of its own."""
        fits = delta.item == self._first.item and type(delta) is type(self._first)
        if not fits or _closes_block(self._first) or _closes_block(delta):
            return False
        self._pieces.append(delta.text)
        self._last = delta
        return True

    def row(self) -> EventRow:
        """The merged row."""
        if len(self._pieces) == 1:
            return as_row(self._first)
        make = type(self._first)
        return as_row(make(item=self._first.item, seq=self._last.seq, text="".join(self._pieces)))


class Writer:
    """Queues writes and commits them in order, in as few transactions as possible."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queue: deque[_Write] = deque()
        self._writing = False
        self._closing = False
        self._something = anyio.Event()  # the queue is not empty
        self._urgent = anyio.Event()  # somebody waits for the commit
        self._room = anyio.Event()  # set by each commit
        self._scope = anyio.CancelScope(shield=True)
        self._finished = anyio.Event()

    @property
    def busy(self) -> bool:
        """True if anything is not committed yet."""
        return self._writing or bool(self._queue)

    def put(self, session: str, what: Delta | EventRow | Statement | None, *, wait: bool) -> Ticket | None:
        """Queue a write, in order. With `wait` it is committed at once and the ticket has the outcome.

        Raises:
            StoreError: The journal is closed.
        """
        if self._closing:
            raise StoreError("the session store is closed: the program is ending")
        ticket = Ticket() if wait else None
        self._queue.append(_Write(session=session, what=what, ticket=ticket))
        self._something.set()
        if wait or len(self._queue) >= QUEUE_SIZE:
            self._urgent.set()
        return ticket

    async def room(self) -> None:
        """Wait while the queue is full. The write itself is already queued, so that a cancelled wait loses nothing."""
        while len(self._queue) >= QUEUE_SIZE:
            await self._room.wait()

    async def run(self) -> None:
        """Write until `close`. Shielded: only `close` ends it, so that the last events of a cancelled turn are kept."""
        with self._scope:
            while not self._closing or self._queue:
                await self._something.wait()
                if not self._urgent.is_set():
                    with anyio.move_on_after(DEFER_LIMIT):
                        await self._urgent.wait()
                await self._drain()
        self._finished.set()

    async def close(self) -> None:
        """Commit what is pending and end, within a bound. Nothing can be queued afterwards."""
        self._closing = True
        self._something.set()
        self._urgent.set()
        with anyio.move_on_after(_CLOSE_LIMIT, shield=True):
            await self._finished.wait()
        self._scope.cancel()
        if self._queue:
            log.error("events lost at the end", extra={"writes": len(self._queue)})
        _settle(self._queue, error=StoreError("the session store was closed before this was committed"))
        self._queue.clear()
        self._room.set()

    async def _drain(self) -> None:
        batch = list(self._queue)
        self._queue.clear()
        if not self._closing:
            self._something = anyio.Event()
            self._urgent = anyio.Event()
        self._writing = True
        try:
            await self._commit(batch)
        finally:
            self._writing = False
            self._room.set()
            self._room = anyio.Event()

    async def _commit(self, batch: Sequence[_Write]) -> None:
        statements, tickets = _plan(batch)
        try:
            changed = await self._database.transact(statements) if statements else []
        except StoreRefused as error:
            await self._commit_apart(batch, error)
        except StoreError as error:
            self._fail(batch, error)
        else:
            for index, ticket in tickets.items():
                ticket.changed = changed[index]
            _settle(batch)

    async def _commit_apart(self, batch: Sequence[_Write], error: StoreRefused) -> None:
        """Commit each session separately after a row was refused, and fail only the session at fault."""
        sessions = dict.fromkeys(write.session for write in batch)
        if len(sessions) > 1:
            for session in sessions:
                await self._commit([write for write in batch if write.session == session])
            return
        session = next(iter(sessions))
        log.error("rows refused", extra={"session": session, "writes": len(batch)})
        _settle(batch, error=await self._explain(session, error))

    async def _explain(self, session: str, error: StoreRefused) -> ClawError:
        """The error for a refused row. A missing session is the usual reason: it was deleted meanwhile."""
        try:
            if session and not await self._database.read("SELECT 1 FROM session WHERE id = ?", (session,)):
                return SessionNotFound(session, f"session {session} was deleted")
        except StoreError as trouble:
            return trouble
        return error

    def _fail(self, batch: Sequence[_Write], error: StoreError) -> None:
        """Fail the waiting callers. Streamed text that has no waiting caller is queued again, if there is room."""
        log.error("commit failed", extra={"writes": len(batch), "error": str(error)})
        _settle(batch, error=error)
        kept = [write for write in batch if write.ticket is None]
        if len(kept) + len(self._queue) >= QUEUE_SIZE or self._closing:
            log.error("events dropped", extra={"writes": len(kept)})
            return
        self._queue.extendleft(reversed(kept))
        if kept:
            self._something.set()


def _closes_block(delta: Delta) -> bool:
    return isinstance(delta, ThoughtDelta) and (delta.signature is not None or delta.redacted is not None)


def _settle(batch: Iterable[_Write], *, error: ClawError | None = None) -> None:
    for write in batch:
        if write.ticket is not None:
            write.ticket.settle(error=error)


def as_row(event: Event) -> EventRow:
    """`event`, encoded.

    Raises:
        ValueError: It holds something that is not JSON.
    """
    kind, body = encode(event)
    return EventRow(seq=event.seq, kind=kind, item=event.item, body=body)


def _plan(batch: Iterable[_Write]) -> tuple[list[Statement], dict[int, Ticket]]:
    """The statements of a transaction, and the tickets that get their row counts.

    Order matters only within a session; events of several sessions share one statement until another one comes.
    """
    statements: list[Statement] = []
    tickets: dict[int, Ticket] = {}
    events: list[tuple[str, EventRow | _Growing]] = []
    growing: dict[str, _Growing] = {}

    def close_events() -> None:
        if events:
            statements.append(Statement(_INSERT, [_parameters(session, event) for session, event in events]))
            events.clear()
            growing.clear()

    for write in batch:
        match write.what:
            case TextDelta() | ThoughtDelta() as delta:
                if write.session in growing and growing[write.session].take(delta):
                    continue
                growing[write.session] = _Growing(delta)
                events.append((write.session, growing[write.session]))
            case EventRow() as row:
                growing.pop(write.session, None)
                events.append((write.session, row))
            case Statement() as statement:
                close_events()
                if write.ticket is not None:
                    tickets[len(statements)] = write.ticket
                statements.append(statement)
            case None:
                pass
    close_events()
    return statements, tickets


def _parameters(session: str, event: EventRow | _Growing) -> tuple[SqlValue, ...]:
    row = event.row() if isinstance(event, _Growing) else event
    return session, row.seq, row.kind, row.item, row.body
