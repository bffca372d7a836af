"""The journal: sessions and their events, kept in one SQLite file that several processes share.

An append with `wait` returns after its commit: from then on no crash of the process loses it. Streamed text is
committed with whatever comes next, or after half a second.
"""

import contextlib
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio

from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.core.errors import InvalidRequest, SessionNotFound, StoreError
from claw_acp.core.events import Event, TextDelta, ThoughtDelta
from claw_acp.session.codec import decode
from claw_acp.session.pages import Archived, Listing, Page
from claw_acp.session.record import SUBAGENT, SessionRecord
from claw_acp.session.record_rows import COLUMNS, as_columns, as_record, clean, instructions_text, options_text
from claw_acp.session.setup import Instructions
from claw_acp.session.spending import StoredLedger
from claw_acp.session.writer import Writer, as_row
from claw_acp.store.database import Database, Row, SqlValue, Statement, storable

if TYPE_CHECKING:
    from claw_acp.session.stores import JournalStore

_CREATE: Final = f"INSERT INTO session ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - constants
_GET: Final = f"SELECT {COLUMNS} FROM session WHERE id = ?"  # noqa: S608 - constants
_FIND: Final = (
    f"SELECT {COLUMNS} FROM session WHERE substr(id, 1, ?) = ? OR substr(id, -?) = ? "  # noqa: S608 - constants
    "ORDER BY updated_at DESC LIMIT ?"
)
_UPDATE: Final = (
    "UPDATE session SET title = CASE WHEN title_given THEN title ELSE coalesce(?, title) END, "
    "mode = coalesce(?, mode), model = coalesce(?, model), "
    "additional_directories = coalesce(?, additional_directories), options = json_patch(options, ?), "
    "instructions = coalesce(?, instructions), "
    "updated_at = max(?, updated_at) WHERE id = ?"  # never back, or pages would show a session twice
)
_TOUCH: Final = "UPDATE session SET updated_at = max(?, updated_at) WHERE id = ?"
_ARCHIVE: Final = "UPDATE session SET archived = ? WHERE id = ?"
_RENAME: Final = "UPDATE session SET title = ?, title_given = 1 WHERE id = ?"
_FORK: Final = (
    f"INSERT INTO session ({COLUMNS}) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? "  # noqa: S608 - constants
    "WHERE EXISTS (SELECT 1 FROM session WHERE id = ?)"
)
_COPY: Final = (  # an item named like the session is its plan; what the session cost, the copy did not
    "INSERT INTO event (session_id, seq, kind, item, body) "
    "SELECT ?, row_number() OVER (ORDER BY seq), kind, CASE item WHEN session_id THEN ? ELSE item END, "
    "CASE kind WHEN 'usage' THEN json_remove(body, '$.total') ELSE body END "
    "FROM event WHERE session_id = ? AND seq <= ?"
)
_ALL: Final = 2**63 - 1  # the highest position there can be
_DELEGATED: Final = (
    f"SELECT {COLUMNS} FROM session WHERE parent = ? AND json_extract(options, '$.{SUBAGENT}') ORDER BY id"  # noqa: S608 - constants
)
_DELETE: Final = "DELETE FROM session WHERE id = ?"
_READ: Final = "SELECT kind, body, seq, item FROM event WHERE session_id = ? AND seq > ? ORDER BY seq"


class Journal:
    """Sessions on disk. Open one with `opened`; every method may raise StoreError."""

    def __init__(self, database: Database, writer: Writer, *, clock: Clock, zone: tzinfo | None = None) -> None:
        self.database = database
        self._writer = writer
        self._clock = clock
        self.ledger = StoredLedger(database, writer, flush=self.flush, clock=clock, zone=zone)

    @classmethod
    @asynccontextmanager
    async def opened(
        cls, path: Path, *, clock: Clock = SYSTEM_CLOCK, zone: tzinfo | None = None
    ) -> "AsyncGenerator[Journal]":
        """Open the journal in the file `path`, creating it if missing; leaving the block commits what is pending.

        Its ledger counts days in the time `zone`; None: the machine's.

        Raises:
            StoreError: The file cannot be used; the text says why and what to do.
        """
        async with Database.opened(path) as database, _working(Writer(database)) as writer:
            yield cls(database, writer, clock=clock, zone=zone)

    # ------------------------------------------------------------------ sessions

    async def create(self, record: SessionRecord) -> None:
        """Store a new session.

        Raises:
            InvalidRequest: It holds a path that cannot be stored.
            StoreError: A session with this id exists.
        """
        _check_paths(record)
        await self._commit(record.id, Statement(_CREATE, [as_columns(record)]))

    async def get(self, session_id: str) -> SessionRecord:
        """The session with this id.

        Raises:
            SessionNotFound: There is none.
        """
        rows = await self._read(_GET, (session_id,)) if storable(session_id) else []
        if not rows:
            raise SessionNotFound(session_id)
        return as_record(rows[0])

    async def find(self, part: str, *, limit: int) -> "list[SessionRecord]":
        """The sessions whose id begins or ends with `part`, the last changed first."""
        if not storable(part):
            return []
        return [as_record(row) for row in await self._read(_FIND, (len(part), part, len(part), part, limit))]

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

        A title given by `rename` stays. `options` are merged into the stored ones.

        Raises:
            SessionNotFound: There is none with this id.
        """
        now = self._clock.now() if updated_at is None else updated_at
        row = (
            None if title is None else clean(title),
            mode,
            model,
            None if additional_directories is None else json.dumps(list(additional_directories)),
            options_text(options or {}),
            None if instructions is None else instructions_text(instructions),
            now,
            session_id,
        )
        await self._change(session_id, Statement(_UPDATE, [row]))

    async def rename(self, session_id: str, title: str) -> None:
        """Give a session a title that only another `rename` changes. It does not count as use: `updated_at` stays.

        Raises:
            SessionNotFound: There is none with this id.
        """
        await self._change(session_id, Statement(_RENAME, [(clean(title), session_id)]))

    async def archive(self, session_id: str, *, archived: bool) -> None:
        """Archive a session, or bring it back. It does not count as use: `updated_at` stays.

        Raises:
            SessionNotFound: There is none with this id.
        """
        await self._change(session_id, Statement(_ARCHIVE, [(archived, session_id)]))

    async def fork(self, record: SessionRecord, *, source: str, until: int | None = None) -> None:
        """Store a new session with a copy of the events that `source` has now, in one transaction.

        A running turn is copied as far as it got, as if it had been interrupted.

        Args:
            record: The new session.
            source: The session to copy the events from.
            until: The position of the last event to copy, such as the end of a turn; None: all are copied.

        Raises:
            InvalidRequest: It holds a path that cannot be stored.
            SessionNotFound: There is no `source`.
        """
        _check_paths(record)
        if not storable(source):
            raise SessionNotFound(source)
        ticket = self._writer.put(record.id, Statement(_FORK, [(*as_columns(record), source)]), wait=True)
        self._writer.put(
            record.id, Statement(_COPY, [(record.id, record.id, source, _ALL if until is None else until)]), wait=False
        )  # the same commit
        if ticket is None or await ticket.wait() == 0:
            raise SessionNotFound(source)

    def touch(self, session_id: str) -> None:
        """Note that a session is in use now; committed with whatever comes next, or after half a second."""
        now = self._clock.now()
        self._writer.put(session_id, Statement(_TOUCH, [(now, session_id)]), wait=False)

    async def list(
        self,
        *,
        cwd: str | None = None,
        archived: Archived = "exclude",
        cursor: str | None = None,
        limit: int = 50,
        begun: bool = False,
    ) -> Page:
        """A page of sessions, the last changed first, of one working directory or of all; `begun`: see `Listing`.

        Raises:
            InvalidRequest: The cursor is not one of ours, or belongs to other filters; the limit is below 1.
        """
        listing = Listing.parse(cwd=cwd, archived=archived, cursor=cursor, limit=limit, begun=begun)
        if listing.cwd is not None and not storable(listing.cwd):
            return Page(records=())
        sql, params = listing.query()
        return listing.page([as_record(row) for row in await self._read(sql, params)])

    async def delete(self, session_id: str) -> None:
        """Remove a session and all its events; it need not exist."""
        if storable(session_id):
            await self._commit(session_id, Statement(_DELETE, [(session_id,)]))

    async def delegated(self, session_id: str) -> "Sequence[SessionRecord]":
        """The sessions of a session's subagents, the oldest first; it need not exist."""
        return [as_record(row) for row in await self._read(_DELEGATED, [session_id])] if storable(session_id) else ()

    # ------------------------------------------------------------------ events

    async def append(self, session_id: str, event: Event, *, wait: bool) -> None:
        """Add an event; its `seq` must be above those of the session's earlier ones.

        With `wait` it is committed, with all appended before it, when this returns. Without, it is queued (this waits
        only while the queue is full) and committed within half a second; adjacent pieces of one item then become one
        row with the last one's `seq`. An event is queued even if this call is cancelled.

        Raises:
            SessionNotFound: The session was deleted meanwhile (only with `wait`).
            StoreError: The event was not committed (only with `wait`), or cannot be written as JSON.
        """
        try:
            what = event if isinstance(event, (TextDelta, ThoughtDelta)) else as_row(event)
        except ValueError as error:
            raise StoreError(f"this event cannot be kept: {error}") from error
        ticket = self._writer.put(session_id, what, wait=wait)
        if ticket is None:
            await self._writer.room()
        else:
            await ticket.wait()

    async def read(self, session_id: str, *, after: int = 0) -> "list[Event]":
        """The session's events with a `seq` above `after`, in order; empty if the session does not exist."""
        if not storable(session_id):
            return []
        rows = await self._read(_READ, (session_id, after))
        events = (decode(kind, body, session=session_id, seq=seq, item=item) for kind, body, seq, item in rows)
        return [event for event in events if event is not None]

    async def flush(self) -> None:
        """Commit everything appended so far.

        Raises:
            StoreError: The commit failed.
        """
        if self._writer.busy:
            ticket = self._writer.put("", None, wait=True)
            if ticket is not None:
                await ticket.wait()

    # ------------------------------------------------------------------ inside

    async def _read(self, sql: str, params: Sequence[SqlValue]) -> "list[Row]":
        """Read rows, including our own pending writes. Reading goes on when writing fails: the writer logs that."""
        with contextlib.suppress(StoreError):
            await self.flush()
        return await self.database.read(sql, params)

    async def _change(self, session_id: str, statement: Statement) -> None:
        if not storable(session_id) or await self._commit(session_id, statement) == 0:
            raise SessionNotFound(session_id)

    async def _commit(self, session_id: str, statement: Statement) -> int:
        ticket = self._writer.put(session_id, statement, wait=True)
        return 0 if ticket is None else await ticket.wait()


def _check_paths(record: SessionRecord) -> None:
    for path in (record.cwd, *record.additional_directories):
        if not storable(path):
            raise InvalidRequest(f"the path {path!r} is not valid Unicode; use another directory")


@asynccontextmanager
async def _working(writer: Writer) -> AsyncGenerator[Writer]:
    """Run the writer's task beside the block. Exceptions of the block are raised unwrapped, not in a group."""
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(writer.run)
            try:
                yield writer
            finally:
                await writer.close()
    except BaseExceptionGroup as group:
        if len(group.exceptions) == 1:
            raise group.exceptions[0] from group.exceptions[0].__cause__
        raise


if TYPE_CHECKING:
    _conforms: type[JournalStore] = Journal
