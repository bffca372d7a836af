"""The scheduler: begins runs at their times, records their ends, and has their results delivered.

It does nothing by itself but wait: for the next moment, for a change, for the end of a run. What is due is decided by
looking at the store, so a restart loses nothing.
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from anyio import to_thread
from anyio.abc import TaskGroup

from claw_acp.contracts.schedule import JobRunner, ResultTaker
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError
from claw_acp.core.value import Value
from claw_acp.schedule.delivery import again_after, deliver
from claw_acp.schedule.heartbeat import read_tasks
from claw_acp.schedule.job_run import JobRun, RunServices
from claw_acp.schedule.job_store import JobStore, StoredJob
from claw_acp.schedule.jobs_file import take_over
from claw_acp.schedule.next_time import next_time
from claw_acp.schedule.plan import decide, delay_of, replanned
from claw_acp.schedule.run_history import NOT_DELIVERED, Run, RunHistory
from claw_acp.schedule.wake import Wake
from claw_acp.store.database import Database

log = logging.getLogger(__name__)

AT_ONCE: Final = 4
"""Runs at the same time; more of them wait for one to end."""

SET: Final = 1.0
"""Seconds by which the clock and the time since the start differ when the clock was set, or the machine slept."""

TROUBLE: Final = 60.0
"""Seconds until a store that failed is tried again."""

_PASSES: Final = 100
"""Looks at the jobs in a row; a job acts once in each."""

STILL_RUNNING: Final = "the run before it had not ended; so were later times until its end"


class _Acted(Value):
    """The job was changed, and has to be looked at again."""


_ACTED: Final = _Acted()


class Scheduler:
    """Fires the jobs of a store. Only one process of a store may have one: see `Lease`.

    Args:
        database: The store.
        runner: Runs jobs.
        clock: Time.
        wake: Waits.
        file: The jobs that people write by hand.
        tasks: Runs jobs and deliveries.
        programs: Take the results of what they said was due.
    """

    def __init__(
        self, database: Database, *, runner: JobRunner, clock: Clock, wake: Wake, file: Path, tasks: TaskGroup,
        programs: ResultTaker | None = None,
    ) -> None:  # fmt: skip
        self._jobs = JobStore(database, clock=clock)
        self._history = RunHistory(database, clock=clock)
        self._runner = runner
        self._clock = clock
        self._wake = wake
        self._file = file
        self._tasks = tasks
        self._programs = programs
        self._services = RunServices(history=self._history, runner=runner, clock=clock)
        self._running: dict[str, bool] = {}  # job -> a time that was passed over meanwhile is recorded
        self._delivering: set[str] = set()
        self._seen: object = None
        self._ahead: float | None = None

    async def run(self) -> None:
        """Fire jobs until cancelled. Trouble with the store is logged, and tried again."""
        recovered = False
        while True:
            try:
                if not recovered:
                    await self.recover()
                    recovered = True
                until = await self.step()
            except ClawError as error:
                log.warning("schedules wait for the store", extra={"reason": error.message})
                until = self._clock.now() + TROUBLE
            await self._wake.wait(until)

    @property
    def busy(self) -> int:
        """The number of runs and deliveries that go on."""
        return len(self._running) + len(self._delivering)

    async def recover(self) -> None:
        """Record the runs that the end of another process interrupted."""
        stored = {each.id: each for each in await self._jobs.all()}
        for run in await self._history.running():
            await self._services.interrupted(run, stored.get(run.job_id))

    async def step(self) -> float | None:
        """Begin what is due. Returns when there will be more; None: not before something changes."""
        await self._look_at_file()
        await self._look_at_clock()
        for _ in range(_PASSES):
            now = self._clock.now()
            moments = [await self._look_at(stored, now=now) for stored in await self._jobs.all()]
            if not any(isinstance(moment, _Acted) for moment in moments):
                waiting = [moment for moment in moments if isinstance(moment, float)]
                return min((*waiting, *await self._deliver(now)), default=None)
        return self._clock.now() + SET

    # ------------------------------------------------------------------ changes

    async def _look_at_file(self) -> None:
        """Take over the file of jobs if it was changed."""
        state = await to_thread.run_sync(_state, self._file)
        if state == self._seen:
            return
        self._seen = state
        for problem in await take_over(self._file, self._jobs, clock=self._clock):
            log.warning("schedules: %s", problem.text())

    async def _look_at_clock(self) -> None:
        """Plan anew if the clock was set."""
        ahead = self._clock.now() - self._clock.monotonic()
        if self._ahead is not None and abs(ahead - self._ahead) < SET:
            return
        self._ahead = ahead
        now = self._clock.now()
        for stored in await self._jobs.all():
            next_at = replanned(stored.job.timing, next_at=stored.next_at, last_for=stored.last_for, now=now)
            if next_at != stored.next_at:
                await self._jobs.advance(stored, next_at)

    # ------------------------------------------------------------------ jobs

    async def _look_at(self, stored: StoredJob, *, now: float) -> float | _Acted | None:
        """Do what a job needs now. Returns when it needs something again."""
        busy, full = stored.id in self._running, len(self._running) >= AT_ONCE
        retry_at = None if stored.paused or busy else stored.retry_at
        if not (busy or full):
            if stored.requested:
                return await self._begin(stored, occurrence=now, next_at=stored.next_at)
            if retry_at is not None and retry_at <= now:
                occurrence = stored.retry_for or retry_at
                return await self._begin(
                    stored, occurrence=occurrence, next_at=stored.next_at, attempt=stored.attempt + 1
                )
        later = None if full and retry_at is not None and retry_at <= now else retry_at
        if stored.next_at is None:
            return later
        fires = stored.next_at + delay_of(stored.id, occurrence=stored.next_at, jitter=stored.job.jitter)
        if fires > now:
            return min(fires, later or fires)
        if stored.paused:
            return await self._pass_over(stored, now=now)
        if busy:
            return await self._while_it_runs(stored, now=now)
        return None if full else await self._fire(stored, delay=fires - stored.next_at, now=now)

    async def _fire(self, stored: StoredJob, *, delay: float, now: float) -> float | _Acted:
        occurrence = stored.next_at
        assert occurrence is not None
        due = decide(stored.job.timing, stored.job.missed, occurrence=occurrence, delay=delay, now=now)
        if due.dropped:
            detail = f"{_at_least(due.dropped)} missed while nothing ran"
            await self._history.skip(stored, occurrence=occurrence, next_at=due.run or due.next_at, detail=detail)
            return _ACTED
        return await self._begin(stored, occurrence=due.run or occurrence, next_at=due.next_at)

    async def _while_it_runs(self, stored: StoredJob, *, now: float) -> float | _Acted | None:
        """Deal with a time that comes while the job still runs: never two runs at once."""
        assert stored.next_at is not None
        if stored.job.missed == "run_all":
            return None  # it waits for the end
        if self._running[stored.id]:
            return await self._pass_over(stored, now=now)
        self._running[stored.id] = True
        next_at = next_time(stored.job.timing, after=now)
        await self._history.skip(stored, occurrence=stored.next_at, next_at=next_at, detail=STILL_RUNNING)
        return _ACTED

    async def _pass_over(self, stored: StoredJob, *, now: float) -> _Acted:
        await self._jobs.advance(stored, next_time(stored.job.timing, after=now))
        return _ACTED

    async def _begin(
        self, stored: StoredJob, *, occurrence: float, next_at: float | None, attempt: int = 0
    ) -> float | _Acted:
        """Begin a run; a heartbeat without tasks has none."""
        prompt = ""
        if stored.job.heartbeat:
            try:
                prompt = await to_thread.run_sync(read_tasks, stored.job.cwd)
            except ClawError as error:
                detail = error.message
                await self._history.skip(stored, occurrence=occurrence, next_at=next_at, detail=detail, asked=True)
                return _ACTED
            if not prompt and stored.requested:
                detail = "HEARTBEAT.md holds no tasks"
                await self._history.skip(stored, occurrence=occurrence, next_at=next_at, detail=detail, asked=True)
                return _ACTED
            if not prompt:
                await self._jobs.advance(stored, next_at)
                return _ACTED
        run_id = await self._history.begin(stored, occurrence=occurrence, next_at=next_at, attempt=attempt)
        if run_id is None:
            return self._clock.now() + TROUBLE
        log.info("job begins", extra={"job": stored.job.name, "run": run_id, "attempt": attempt})
        self._running[stored.id] = False
        run = JobRun(self._services, stored, run_id=run_id, occurrence=occurrence, attempt=attempt, tasks=prompt)
        self._tasks.start_soon(self._carry_out, run, stored.id, name=f"job {stored.job.name}")
        return _ACTED

    async def _carry_out(self, run: JobRun, job_id: str) -> None:
        try:
            await run.carry_out()
            await self._tidy(job_id)
        finally:
            self._running.pop(job_id, None)
            self._wake.now()

    async def _tidy(self, job_id: str) -> None:
        """Remove old runs of a job, and the sessions that were made for them."""
        try:
            for run_id, session_id in await self._history.outdated(job_id):
                await self._runner.forget(session_id)
                await self._history.forget(run_id)
        except ClawError as error:
            log.warning("old runs are not removed yet", extra={"reason": error.message})

    # ------------------------------------------------------------------ delivery

    async def _deliver(self, now: float) -> Sequence[float]:
        """Deliver what is due. Returns when deliveries are due later."""
        later: list[float] = []
        for run in await self._history.undelivered():
            if run.id in self._delivering or run.deliver_at is None:
                continue
            if run.deliver_at > now:
                later.append(run.deliver_at)
                continue
            self._delivering.add(run.id)
            self._tasks.start_soon(self._deliver_one, run, name=f"delivery of {run.job_name}")
        return later

    async def _deliver_one(self, run: Run) -> None:
        again_at, facts = None, {"job": run.job_name, "run": run.id}
        try:
            outcome = await deliver(run, runner=self._runner, programs=self._programs)
        except ClawError as error:
            if (pause := again_after(run)) is not None:
                again_at = self._clock.now() + pause
            outcome = f"{NOT_DELIVERED}{error.message}"
            log.warning("a result is not delivered", extra={**facts, "reason": error.message})
        except Exception:  # the wall of jobs: a fault of one delivery must not end the others
            log.exception("a delivery failed", extra=facts)
            outcome = f"{NOT_DELIVERED}an internal error, which is in the log"
        try:
            await self._history.delivery_tried(run, outcome=outcome, again_at=again_at)
        except ClawError as error:
            log.warning("a delivery is not recorded", extra={"run": run.id, "reason": error.message})
        finally:
            self._delivering.discard(run.id)
            self._wake.now()


def _at_least(number: int) -> str:
    return "a time was" if number == 1 else f"{number} times were"


def _state(file: Path) -> object:
    """A value that differs once the file was changed."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
