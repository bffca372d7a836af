"""Jobs in the database: their definitions, and when they are next due."""

import json
import logging
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal

from claw_acp.contracts.schedule import Job
from claw_acp.core.clock import Clock
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.ids import new_id
from claw_acp.core.nearest import nearest
from claw_acp.core.value import Value
from claw_acp.schedule.definition import job_fields, parse_job
from claw_acp.schedule.moments import moment_text, zone_of
from claw_acp.schedule.next_time import next_time
from claw_acp.store.database import Database, Row, SqlValue, Statement
from claw_acp.store.failures import StoreRefused

log = logging.getLogger(__name__)

Source = Literal["user", "model", "file", "program"]
"""Whoever keeps a job: commands, a model on behalf of a session, the file of schedules, or a program that attaches."""

MOST_JOBS: Final = 1000

_COLUMNS: Final = (
    "id, name, source, definition, paused, requested, next_at, last_for, retry_at, retry_for, attempt, created_at"
)
_ALL: Final = f"SELECT {_COLUMNS} FROM schedule_job ORDER BY name LIMIT {MOST_JOBS}"  # noqa: S608 - constants
_ADD: Final = (
    "INSERT INTO schedule_job (id, name, source, definition, next_at, created_at) SELECT ?, ?, ?, ?, ?, ? "
    "WHERE (SELECT count(*) FROM schedule_job) < ?"
)

_ADD_ONCE: Final = (
    "INSERT INTO schedule_job (id, name, source, definition, next_at, created_at) SELECT ?, ?, 'program', ?, ?, ? "
    "WHERE NOT EXISTS (SELECT 1 FROM schedule_run WHERE job_id = ?) "
    "AND (SELECT count(*) FROM schedule_job WHERE source = 'program') < ?"
)


class StoredJob(Value):
    """A job and its state; times are seconds since the epoch.

    Attributes:
        paused: It runs only when somebody asks for it.
        requested: Somebody wants a run now.
        next_at: The next occurrence; None: there is none.
        last_for: The last occurrence that was run or passed over.
        retry_at: When a failed run is repeated, for the occurrence `retry_for`.
        attempt: How often that was repeated already.
    """

    id: str
    job: Job
    source: Source
    paused: bool = False
    requested: bool = False
    next_at: float | None = None
    last_for: float | None = None
    retry_at: float | None = None
    retry_for: float | None = None
    attempt: int = 0


class JobStore:
    """The jobs of a store, which processes share. Every method may raise StoreError."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def all(self) -> Sequence[StoredJob]:
        """All jobs by name; one that this version cannot read is left out with a line in the log."""
        rows = await self._database.read(_ALL)
        return [stored for row in rows if (stored := _stored(row)) is not None]

    async def find(self, name: str) -> StoredJob:
        """The job with this name.

        Raises:
            InvalidRequest: There is none.
        """
        jobs = {stored.job.name: stored for stored in await self.all()}
        if name not in jobs:
            meant = nearest(name, jobs)
            hint = f'did you mean "{meant}"?' if meant else "`claw-acp cron list` shows all"
            raise InvalidRequest(f'there is no job "{name}"; {hint}')
        return jobs[name]

    async def add(self, job: Job, *, source: Source) -> StoredJob:
        """Add a job.

        Raises:
            InvalidRequest: Its name is taken, it has no time to come, or there are too many jobs.
        """
        now = self._clock.now()
        next_at = next_time(job.timing, after=now)
        if next_at is None:
            raise InvalidRequest("that moment has passed; choose a later one")
        stored = StoredJob(id=new_id("job", clock=self._clock), job=job, source=source, next_at=next_at)
        row = (stored.id, job.name, source, _definition(job), next_at, now, MOST_JOBS)
        try:
            (added,) = await self._database.transact([Statement(_ADD, [row])])
        except StoreRefused as error:
            raise InvalidRequest(f'there is a job "{job.name}" already; remove it, or choose another name') from error
        if not added:
            raise InvalidRequest(f"there are {MOST_JOBS} jobs already; remove some")
        return stored

    async def add_once(self, job: Job, *, job_id: str, moment: float, most: int) -> bool:
        """Add a job of a program that is due at `moment`; False if its id is known, or `most` of them wait already."""
        row = (job_id, job.name, _definition(job), moment, self._clock.now(), job_id, most)
        try:
            (added,) = await self._database.transact([Statement(_ADD_ONCE, [row])])
        except StoreRefused:  # it waits, or runs
            return False
        return bool(added)

    async def knows(self, job_id: str) -> bool:
        """True if a job with this id waits, runs or has run."""
        sql = "SELECT id FROM schedule_job WHERE id = ? UNION ALL SELECT job_id FROM schedule_run WHERE job_id = ?"
        return bool(await self._database.read(sql, (job_id, job_id)))

    async def redefine(self, stored: StoredJob, job: Job) -> None:
        """Give a job another definition; what waits to be repeated is given up, unless only other fields changed."""
        next_at = stored.next_at
        if job.timing != stored.job.timing:
            next_at = next_time(job.timing, after=self._clock.now())
        await self._set(stored.id, definition=_definition(job), next_at=next_at)

    async def remove(self, job_id: str) -> bool:
        """Remove a job; its runs stay in the history. False: there is none."""
        statement = Statement("DELETE FROM schedule_job WHERE id = ?", [(job_id,)])
        return bool((await self._database.transact([statement]))[0])

    async def pause(self, stored: StoredJob) -> None:
        """Let no occurrence of a job run."""
        await self._set(stored.id, paused=True, retry_at=None)

    async def resume(self, stored: StoredJob) -> float | None:
        """Let a job run again, from its next occurrence on, which is returned; None: there is none."""
        next_at = next_time(stored.job.timing, after=self._clock.now())
        await self._set(stored.id, paused=False, next_at=next_at)
        return next_at

    async def request(self, stored: StoredJob) -> None:
        """Ask for a run now."""
        await self._set(stored.id, requested=True)

    async def advance(self, stored: StoredJob, next_at: float | None) -> None:
        """Set the next occurrence, unless somebody has changed the job meanwhile."""
        sql = "UPDATE schedule_job SET next_at = ? WHERE id = ? AND next_at IS ?"
        await self._database.transact([Statement(sql, [(next_at, stored.id, stored.next_at)])])

    async def _set(self, job_id: str, **columns: SqlValue) -> None:
        names = ", ".join(f"{name} = ?" for name in columns)
        sql = f"UPDATE schedule_job SET {names} WHERE id = ?"  # noqa: S608 - names of ours
        await self._database.transact([Statement(sql, [(*columns.values(), job_id)])])


def next_words(stored: StoredJob) -> str:
    """The next time of a job in words, which follow its name: `runs next at ...`."""
    if stored.paused:
        return "is paused"
    if stored.next_at is not None:
        return f"runs next at {moment_text(stored.next_at, zone=zone_of(stored.job.timing))}"
    return "will not run any more" if stored.retry_at is None else f"is repeated at {moment_text(stored.retry_at)}"


def _definition(job: Job) -> str:
    return json.dumps(job_fields(job))


@lru_cache(maxsize=2 * MOST_JOBS)  # every look reads all jobs
def _job(name: str, definition: str, created: float) -> Job:
    return parse_job(name, json.loads(definition), now=created)


def _stored(row: Row) -> StoredJob | None:
    job_id, name, source, definition, paused, requested, next_at, last_for, retry_at, retry_for, attempt, created = row
    try:
        job = _job(name, definition, created)
    except (InvalidRequest, ValueError) as error:
        log.warning("a job cannot be read", extra={"job": name, "reason": str(error)})
        return None
    return StoredJob(
        id=job_id, job=job, source=source, paused=bool(paused), requested=bool(requested), next_at=next_at,
        last_for=last_for, retry_at=retry_at, retry_for=retry_for, attempt=attempt,
    )  # fmt: skip
