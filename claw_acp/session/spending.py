"""The ledger: tokens and cost of model requests, by day, session and model, added up by all processes of one store.

Requests are stored like streamed text: queued at once, committed with whatever comes next, after half a second at most.
The end of a turn and every tool call are such a commit, so nothing waits for the ledger. The costs of a deleted session
stay.
"""

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING, Final

from claw_acp.core.clock import Clock, local_day
from claw_acp.core.errors import StoreError
from claw_acp.core.messages import Usage
from claw_acp.core.spending import Grouping, Share, Spending
from claw_acp.session.writer import Writer
from claw_acp.store.database import Database, Row, Statement, storable

if TYPE_CHECKING:
    from claw_acp.session.stores import Ledger

_ADD: Final = (
    "INSERT INTO spending (day, session_id, model, requests, input, output, cached_read, cached_write, thought, cost, "
    "unpriced) VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (day, session_id, model) DO UPDATE SET "
    "requests = requests + 1, input = input + excluded.input, output = output + excluded.output, "
    "cached_read = cached_read + excluded.cached_read, cached_write = cached_write + excluded.cached_write, "
    "thought = thought + excluded.thought, cost = cost + excluded.cost, unpriced = unpriced + excluded.unpriced"
)
_SUMS: Final = (
    "total(requests), total(input), total(output), total(cached_read), total(cached_write), total(thought), "
    "coalesce(sum(cost), 0), total(unpriced)"
)
_COLUMNS: Final[Mapping[Grouping, str]] = {"day": "day", "model": "model", "session": "session_id"}
_NOBODY: Final = ""  # the writer's batches are told apart by session: a deleted one's must not take ours with it


class StoredLedger:
    """The ledger of a journal, which creates it. Reading may raise StoreError.

    Args:
        database: The database it is stored in.
        writer: Writes to that database.
        flush: Commits what was added so far.
        clock: The time, for the day.
        zone: The time zone of its days; None: the machine's.
    """

    def __init__(
        self,
        database: Database,
        writer: Writer,
        *,
        flush: Callable[[], Awaitable[None]],
        clock: Clock,
        zone: tzinfo | None = None,
    ) -> None:
        self._database = database
        self._writer = writer
        self._flush = flush
        self._clock = clock
        self._zone = zone

    @property
    def day(self) -> str:
        """The current day, as in `2026-11-22`; its first seven characters are the month."""
        return local_day(self._clock.now(), zone=self._zone)

    def add(self, session_id: str, *, model: str, usage: Usage, cost: int | None) -> None:
        """Record one request, now.

        Args:
            session_id: The session that made it.
            model: `provider/model`.
            usage: Its tokens.
            cost: Picodollars; None when the price is not known.

        Raises:
            StoreError: The journal is closed.
        """
        tokens = (
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_read_tokens,
            usage.cached_write_tokens,
            usage.thought_tokens,
        )
        name = model if storable(model) else model.encode(errors="replace").decode()
        row = (self.day, session_id, name, *tokens, cost or 0, cost is None)
        self._writer.put(_NOBODY, Statement(_ADD, [row]), wait=False)

    async def spent(self, *, period: str = "", session_id: str | None = None) -> Spending:
        """The spending of a period (`2026-11-22`, `2026-11`, empty: all time), of one session or of all."""
        where, params = _where(period, session_id)
        rows = await self._read(f"SELECT {_SUMS} FROM spending WHERE {where}", params)  # noqa: S608 - constants
        return _spending(rows[0])

    async def shares(self, by: Grouping, *, period: str = "", session_id: str | None = None) -> tuple[Share, ...]:
        """The same, grouped: days in order, models and sessions by cost, the highest first."""
        column = _COLUMNS[by]
        where, params = _where(period, session_id)
        order = column if by == "day" else f"sum(cost) DESC, sum(input) DESC, {column}"
        sql = f"SELECT {column}, {_SUMS} FROM spending WHERE {where} GROUP BY {column} ORDER BY {order}"  # noqa: S608 - constants
        rows = await self._read(sql, params)
        return tuple(Share(key=row[0], spending=_spending(row[1:])) for row in rows)

    async def _read(self, sql: str, params: tuple[str, ...]) -> list[Row]:
        with contextlib.suppress(StoreError):  # reading goes on when writing fails: the writer logs that
            await self._flush()
        return await self._database.read(sql, params)


def _where(period: str, session_id: str | None) -> tuple[str, tuple[str, ...]]:
    conditions = ["day BETWEEN ? AND ?"] if period else []
    params = (period, f"{period}~") if period else ()  # "~" stands behind everything that a date is made of
    if session_id is not None:
        conditions.append("session_id = ?")
        params = (*params, session_id)
    return " AND ".join(conditions) or "1", params


def _spending(row: Row) -> Spending:
    requests, sent, output, read, written, thought, cost, unpriced = (int(value) for value in row)
    usage = Usage(
        input_tokens=sent,
        output_tokens=output,
        cached_read_tokens=read,
        cached_write_tokens=written,
        thought_tokens=thought,
    )
    return Spending(requests=requests, usage=usage, cost=cost, unpriced=unpriced)


if TYPE_CHECKING:
    _conforms: type[Ledger] = StoredLedger
