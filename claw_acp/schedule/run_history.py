"""Runs of jobs in the database: claimed before they begin, recorded when they end, delivered after that.

A run is claimed in one transaction with the state of its job, so no occurrence is run twice, whatever happens to the
process; and a job has at most one run at a time, whoever starts it.
"""

from collections.abc import Sequence
from typing import Final

from claw_acp.contracts.schedule import Delivery, RunResult, RunStatus
from claw_acp.core.clock import Clock
from claw_acp.core.ids import new_id
from claw_acp.core.value import Value
from claw_acp.schedule.definition import delivery_text, parse_delivery
from claw_acp.schedule.job_store import StoredJob
from claw_acp.store.database import Database, Row, Statement
from claw_acp.store.failures import StoreRefused

KEPT_RUNS: Final = 50
"""Runs of a job that are kept."""

KEPT_IN_ALL: Final = 2_000
"""Runs of all jobs that are kept; those of removed jobs are among them."""

NOT_DELIVERED: Final = "not delivered: "
"""Begins the outcome of a delivery that failed; the reason follows."""

KEPT_TEXT: Final = 20_000
"""Characters of a result that are kept; the session has all of it."""

_COLUMNS: Final = (
    "id, job_id, job_name, scheduled_for, attempt, started_at, ended_at, status, session_id, text, detail, input, "
    "output, cost, deliver_to, deliver_at, deliver_attempt, delivered"
)
_RUNS: Final = f"SELECT {_COLUMNS} FROM schedule_run "  # noqa: S608 - constants
_CLAIM: Final = (
    "INSERT INTO schedule_run (id, job_id, job_name, scheduled_for, attempt, started_at, ended_at, status, detail) "
    "SELECT ?, id, iif(source = 'program', substr(name, 1, instr(name, '--') - 1), name), ?, ?, ?, ?, ?, ? "
    "FROM schedule_job WHERE id = ? AND next_at IS ? AND retry_at IS ? "
    "AND requested = ?"
)
_MOVE: Final = (
    "UPDATE schedule_job SET next_at = ?, last_for = max(?, coalesce(last_for, 0)), retry_at = NULL, "
    "requested = requested AND NOT ?, attempt = ? WHERE id = ? AND EXISTS (SELECT 1 FROM schedule_run WHERE id = ?)"
)
_END: Final = (
    "UPDATE schedule_run SET ended_at = ?, status = ?, session_id = coalesce(?, session_id), text = ?, detail = ?, "
    "input = ?, output = ?, cost = ?, deliver_to = ?, deliver_at = ? WHERE id = ? AND status = 'running'"
)
_RETRY: Final = "UPDATE schedule_job SET retry_at = ?, retry_for = ?, attempt = ? WHERE id = ?"
_FORGET: Final = (
    "DELETE FROM schedule_run WHERE job_id = ? AND status <> 'running' AND deliver_at IS NULL AND NOT own_session "
    "AND id NOT IN "
    "(SELECT id FROM schedule_run WHERE job_id = ? ORDER BY started_at DESC LIMIT ?)"
)
_FORGET_OLDEST: Final = (
    "DELETE FROM schedule_run WHERE status <> 'running' AND deliver_at IS NULL AND NOT own_session AND "
    "id < (SELECT id FROM schedule_run ORDER BY id DESC LIMIT 1 OFFSET ?)"
)

_OUTDATED: Final = (
    "SELECT id, session_id FROM schedule_run AS old WHERE own_session AND status <> 'running' AND deliver_at IS NULL "
    "AND (id < (SELECT id FROM schedule_run ORDER BY id DESC LIMIT 1 OFFSET ?) OR job_id = ? AND id NOT IN "
    "(SELECT id FROM schedule_run WHERE job_id = ? ORDER BY started_at DESC LIMIT ?)) LIMIT ?"
)
_TIDIED: Final = 20  # old sessions that are deleted at once


class Run(Value):
    """A run of a job, or the note that there was none; times are seconds since the epoch, cost is in picodollars.

    Attributes:
        scheduled_for: Its occurrence.
        attempt: 0 for the first one, then counted up.
        ended_at: None while it runs.
        text: The model's last words.
        detail: Why it failed or was skipped; what was refused.
        deliver_to: The place that the result goes to.
        deliver_at: When delivery is tried; None: it is not, or no more.
        deliver_attempt: How often it was tried.
        delivered: The outcome of the delivery, for people; empty: not yet, or not wanted.
    """

    id: str
    job_id: str
    job_name: str
    scheduled_for: float
    attempt: int
    started_at: float
    ended_at: float | None
    status: RunStatus
    session_id: str | None
    text: str
    detail: str
    input_tokens: int
    output_tokens: int
    cost: int
    deliver_to: Delivery
    deliver_at: float | None
    deliver_attempt: int
    delivered: str


class _Entry(Value):
    """A run that is about to be recorded; `settles_request`: it is the one that somebody asked for, if so."""

    status: RunStatus
    detail: str
    attempt: int
    settles_request: bool


class RunHistory:
    """The runs of all jobs of a store. Every method may raise StoreError."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def begin(
        self, stored: StoredJob, *, occurrence: float, next_at: float | None, attempt: int = 0
    ) -> str | None:
        """Claim a run for an occurrence and move the job on. Returns its id; None: the job was changed, or runs."""
        entry = _Entry(status="running", detail="", attempt=attempt, settles_request=True)
        return await self._add(stored, occurrence, next_at=next_at, entry=entry)

    async def skip(
        self, stored: StoredJob, *, occurrence: float, next_at: float | None, detail: str, asked: bool = False
    ) -> None:
        """Record that an occurrence was not run, and move the job on; `asked`: so is a run that somebody asked for."""
        entry = _Entry(status="skipped", detail=detail, attempt=0, settles_request=asked)
        await self._add(stored, occurrence, next_at=next_at, entry=entry)

    async def _add(self, stored: StoredJob, occurrence: float, *, next_at: float | None, entry: "_Entry") -> str | None:
        run_id, now = new_id("run", clock=self._clock), self._clock.now()
        ended = None if entry.status == "running" else now
        state = (stored.id, stored.next_at, stored.retry_at, stored.requested)
        claim = (run_id, occurrence, entry.attempt, now, ended, entry.status, entry.detail, *state)
        move = (next_at, occurrence, entry.settles_request, entry.attempt, stored.id, run_id)
        statements = (
            Statement(_CLAIM, [claim]),
            Statement(_MOVE, [move]),
            Statement(_FORGET, [(stored.id, stored.id, KEPT_RUNS)]),
            Statement(_FORGET_OLDEST, [(KEPT_IN_ALL,)]),
        )
        try:
            claimed, *_ = await self._database.transact(statements)
        except StoreRefused:  # it runs already
            return None
        return run_id if claimed else None

    async def belongs_to(self, run_id: str, session_id: str, *, own: bool) -> None:
        """Note the session of a run that begins; `own`: it was made for this run."""
        sql = "UPDATE schedule_run SET session_id = ?, own_session = ? WHERE id = ?"
        await self._database.transact([Statement(sql, [(session_id, own, run_id)])])

    async def outdated(self, job_id: str) -> Sequence[tuple[str, str]]:
        """Some runs with sessions of their own that need not be kept any more: their ids and those of the sessions."""
        rows = await self._database.read(_OUTDATED, (KEPT_IN_ALL, job_id, job_id, KEPT_RUNS, _TIDIED))
        return [(row[0], row[1]) for row in rows]

    async def forget(self, run_id: str) -> None:
        """Remove a run."""
        await self._database.transact([Statement("DELETE FROM schedule_run WHERE id = ?", [(run_id,)])])

    async def end(
        self, run_id: str, result: RunResult, *, deliver: Delivery, retry: Statement | None = None, remove: str = ""
    ) -> None:
        """Record the end of a run, with what follows from it in the same transaction.

        Args:
            run_id: The run.
            result: Its end.
            deliver: The place that the result goes to.
            retry: From `retry_statement`.
            remove: The id of a job that has done its work.
        """
        now = self._clock.now()
        wanted = None if deliver.kind == "none" else now
        row = (
            now, result.status, result.session_id, storable_text(result.text), storable_text(result.detail),
            result.input_tokens, result.output_tokens, result.cost, delivery_text(deliver), wanted, run_id,
        )  # fmt: skip
        statements = [Statement(_END, [row])]
        if retry is not None:
            statements.append(retry)
        if remove:
            statements.append(Statement("DELETE FROM schedule_job WHERE id = ?", [(remove,)]))
        await self._database.transact(statements)

    def retry_statement(self, stored_id: str, *, at: float, occurrence: float, attempt: int) -> Statement:
        """The statement that has an occurrence repeated."""
        return Statement(_RETRY, [(at, occurrence, attempt, stored_id)])

    async def of_job(self, job_id: str, *, limit: int = KEPT_RUNS) -> Sequence[Run]:
        """The last runs of a job, the newest first."""
        sql = f"{_RUNS}WHERE job_id = ? ORDER BY started_at DESC, id DESC LIMIT ?"
        return [_run(row) for row in await self._database.read(sql, (job_id, limit))]

    async def of_name(self, name: str, *, limit: int = KEPT_RUNS) -> Sequence[Run]:
        """The last runs of jobs with a name, the newest first; the jobs may be gone."""
        sql = f"{_RUNS}WHERE job_name = ? ORDER BY started_at DESC, id DESC LIMIT ?"
        return [_run(row) for row in await self._database.read(sql, (name, limit))]

    async def running(self) -> Sequence[Run]:
        """The runs that have not ended."""
        return [_run(row) for row in await self._database.read(f"{_RUNS}WHERE status = 'running'")]

    async def undelivered(self) -> Sequence[Run]:
        """The runs whose results wait for delivery, in that order."""
        sql = f"{_RUNS}WHERE deliver_at IS NOT NULL ORDER BY deliver_at"
        return [_run(row) for row in await self._database.read(sql)]

    async def not_delivered(self, *, since: float) -> Sequence[Run]:
        """The runs that began since then and whose results could not be delivered so far, the newest first."""
        sql = f"{_RUNS}WHERE started_at >= ? AND substr(delivered, 1, ?) = ? ORDER BY started_at DESC LIMIT 10"
        return [_run(row) for row in await self._database.read(sql, (since, len(NOT_DELIVERED), NOT_DELIVERED))]

    async def deliver_again(self, job_id: str) -> None:
        """Deliver the result of a job that has ended once more."""
        sql = (
            "UPDATE schedule_run SET deliver_at = ?, deliver_attempt = 0 WHERE job_id = ? AND status <> 'running' "
            "AND deliver_to <> 'none'"
        )
        await self._database.transact([Statement(sql, [(self._clock.now(), job_id)])])

    async def deliver_now(self, beginning: str) -> bool:
        """Deliver now what waits for targets that begin so; returns whether there is anything."""
        sql = "UPDATE schedule_run SET deliver_at = ? WHERE deliver_at IS NOT NULL AND substr(deliver_to, 1, ?) = ?"
        (changed,) = await self._database.transact([Statement(sql, [(self._clock.now(), len(beginning), beginning)])])
        return bool(changed)

    async def delivery_tried(self, run: Run, *, outcome: str, again_at: float | None) -> None:
        """Record an attempt to deliver, and when the next one is made; None: none is."""
        sql = "UPDATE schedule_run SET delivered = ?, deliver_at = ?, deliver_attempt = ? WHERE id = ?"
        row = (storable_text(outcome), again_at, run.deliver_attempt + 1, run.id)
        await self._database.transact([Statement(sql, [row])])


def storable_text(text: str) -> str:
    """The text as it is kept: bounded, and without what cannot be stored."""
    return text[:KEPT_TEXT].encode(errors="replace").decode()


def _run(row: Row) -> Run:
    run_id, job_id, name, scheduled_for, attempt, started_at, ended_at, status, session_id, text, detail = row[:11]
    received, written, cost, deliver_to, deliver_at, deliver_attempt, delivered = row[11:]
    return Run(
        id=run_id, job_id=job_id, job_name=name, scheduled_for=scheduled_for, attempt=attempt, started_at=started_at,
        ended_at=ended_at, status=status, session_id=session_id, text=text, detail=detail, input_tokens=received,
        output_tokens=written, cost=cost, deliver_to=parse_delivery(deliver_to), deliver_at=deliver_at,
        deliver_attempt=deliver_attempt, delivered=delivered,
    )  # fmt: skip
