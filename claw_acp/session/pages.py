"""Listing sessions page by page, newest first.

A cursor names the last session of the page before it, by time and id, so pages neither repeat nor skip a session that
stays as it is, whatever else is made, changed or deleted meanwhile.
"""

import base64
import binascii
import json
import math
from typing import Any, Final, Literal

from claw_acp.core.errors import InvalidRequest
from claw_acp.core.value import Value
from claw_acp.session.record import SessionRecord
from claw_acp.session.record_rows import COLUMNS
from claw_acp.store.database import SqlValue, storable

Archived = Literal["exclude", "include", "only"]
"""How a list treats archived sessions: left out, among the others, or alone."""

MAX_PAGE: Final = 500  # records; a larger limit is cut down to it


class Page(Value):
    """One page of sessions. `next_cursor` opens the next page; None on the last."""

    records: tuple[SessionRecord, ...]
    next_cursor: str | None = None


class Listing(Value):
    """The query of one page: its filters, its place in the order and its size."""

    cwd: str | None
    archived: Archived
    after: tuple[float, str] | None
    limit: int
    begun: bool = False
    """Leave out sessions without any event, unless a person named or archived them."""

    @classmethod
    def parse(
        cls, *, cwd: str | None, archived: Archived, cursor: str | None, limit: int, begun: bool = False
    ) -> "Listing":
        """Validate a client's request for a page.

        Raises:
            InvalidRequest: The cursor is not one of ours or belongs to another filter; the limit is below 1.
        """
        if limit < 1:
            raise InvalidRequest(f"a page must hold at least one session, not {limit}")
        wanted = None if cwd is None else _without_slash(cwd)
        after = None if cursor is None else _read_cursor(cursor, filters=[wanted, archived])
        return cls(cwd=wanted, archived=archived, after=after, limit=min(limit, MAX_PAGE), begun=begun)

    def query(self) -> tuple[str, tuple[SqlValue, ...]]:
        """The SQL query and its parameters.

        It asks for one row more than a page, to know whether another page follows.
        """
        conditions: list[str] = []
        params: list[SqlValue] = []
        if self.cwd is not None:
            conditions.append("cwd IN (?, ?)")
            params += (self.cwd, self.cwd.rstrip("/") + "/")
        if self.archived != "include":
            conditions.append("archived = ?")
            params.append(self.archived == "only")
        if self.begun:
            conditions.append("(title_given OR archived OR EXISTS (SELECT 1 FROM event WHERE session_id = session.id))")
        if self.after is not None:
            conditions.append("(updated_at, id) < (?, ?)")
            params += self.after
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        sql = f"SELECT {COLUMNS} FROM session {where} ORDER BY updated_at DESC, id DESC LIMIT ?"  # noqa: S608 - constants
        return sql, (*params, self.limit + 1)

    def page(self, records: list[SessionRecord]) -> Page:
        """The page made of the rows that `query` returned."""
        shown = tuple(records[: self.limit])
        if len(records) <= self.limit:
            return Page(records=shown)
        last = shown[-1]
        place = json.dumps([self.cwd, self.archived, last.updated_at, last.id])
        return Page(records=shown, next_cursor=base64.urlsafe_b64encode(place.encode()).decode())


def _without_slash(path: str) -> str:
    return path.rstrip("/") or "/"


def _read_cursor(cursor: str, *, filters: list[str | None]) -> tuple[float, str]:
    try:
        place: Any = json.loads(base64.b64decode(cursor.encode(), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        place = None
    match place:
        case [*bound, float() as updated_at, str() as session] if math.isfinite(updated_at) and storable(session):
            if bound != filters:
                raise InvalidRequest("this cursor belongs to a list with other filters; start without a cursor")
            return updated_at, session
        case _:
            raise InvalidRequest("this is not a cursor of session/list; start without a cursor")
