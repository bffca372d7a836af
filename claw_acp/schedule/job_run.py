"""One run of a job, from its prompt to the record of its end."""

import logging
from functools import partial
from typing import Final

import anyio

from claw_acp.contracts.schedule import At, Delivery, JobRunner, RunResult
from claw_acp.core.clock import Clock
from claw_acp.core.errors import StoreError
from claw_acp.core.value import replace
from claw_acp.schedule.heartbeat import PROMPT, VERDICT, stays_quiet
from claw_acp.schedule.job_store import StoredJob
from claw_acp.schedule.moments import moment_text, zone_of
from claw_acp.schedule.plan import GRACE
from claw_acp.schedule.run_history import Run, RunHistory

log = logging.getLogger(__name__)

RETRY_AFTER: Final = (30.0, 60.0, 300.0, 900.0, 3600.0)
"""Seconds until a failed run is repeated: the first time, the second, and so on."""

RECORD_AGAIN: Final = 60.0
"""Seconds until an end that could not be stored is stored again."""

CLEANUP: Final = 1.0
"""Seconds for the record of a run that the end of the process interrupts."""

INTERRUPTED: Final = RunResult(status="interrupted", detail="The hub ended during this run.", again=True)


class RunServices:
    """The services that all runs use.

    Args:
        history: Records them.
        runner: Runs their prompts.
        clock: Time.
    """

    def __init__(self, *, history: RunHistory, runner: JobRunner, clock: Clock) -> None:
        self.history = history
        self.runner = runner
        self.clock = clock

    async def interrupted(self, run: Run, stored: StoredJob | None) -> None:
        """Record that the end of the process interrupted a run; it is repeated only where its job says so."""
        if stored is None:
            await self.history.end(run.id, INTERRUPTED, deliver=Delivery())
            return
        claimed = JobRun(self, stored, run_id=run.id, occurrence=run.scheduled_for, attempt=run.attempt)
        await claimed.record(INTERRUPTED)


class JobRun:
    """One claimed run.

    Args:
        services: What it uses.
        stored: Its job.
        run_id: Its id.
        occurrence: The time it is for.
        attempt: How often it was repeated.
        tasks: The tasks of a heartbeat.
    """

    def __init__(
        self, services: RunServices, stored: StoredJob, *, run_id: str, occurrence: float, attempt: int, tasks: str = ""
    ) -> None:
        self._services = services
        self._stored = stored
        self._run_id = run_id
        self._occurrence = occurrence
        self._attempt = attempt
        self._tasks = tasks

    async def carry_out(self) -> None:
        """Run it and record its end."""
        try:
            result = await self._result()
        except anyio.get_cancelled_exc_class():
            with anyio.move_on_after(CLEANUP, shield=True):
                await self.record(INTERRUPTED)
            raise
        except Exception:  # the wall of jobs: a fault of one run must not end the others
            log.exception("a run failed", extra={"run": self._run_id})
            result = RunResult(status="failed", detail="An internal error, which is in the log.")
        while True:
            try:
                await self.record(result)
            except StoreError as error:
                log.warning("the end of a run is not stored yet", extra={"run": self._run_id, "reason": error.message})
                await anyio.sleep(RECORD_AGAIN)
            else:
                return

    async def record(self, result: RunResult) -> None:
        """Record its end, and what follows: it is repeated, delivered, or its job has done its work."""
        stored, history = self._stored, self._services.history
        job = stored.job
        may_again = result.again and (result.status != "interrupted" or job.rerun_interrupted)
        repeats = may_again and self._attempt < job.retries
        retry = None
        if repeats:
            at = self._services.clock.now() + RETRY_AFTER[self._attempt]
            retry = history.retry_statement(stored.id, at=at, occurrence=self._occurrence, attempt=self._attempt)
        once = isinstance(job.timing, At) and job.timing.moment == self._occurrence
        succeeded = once and result.status == "succeeded" and stored.source != "file"
        done = not repeats and (succeeded or stored.source == "program")
        deliver = Delivery() if repeats or result.silent else job.delivery
        await history.end(self._run_id, result, deliver=deliver, retry=retry, remove=stored.id if done else "")
        log.info("job ended", extra={"job": job.name, "run": self._run_id, "status": result.status})

    async def _result(self) -> RunResult:
        job = self._stored.job
        on_session = partial(self._services.history.belongs_to, self._run_id, own=job.session is None)
        if not job.heartbeat:
            return await self._services.runner.run(job, prompt=self._prompt(), on_session=on_session)
        result = await self._services.runner.run(job, prompt=PROMPT.format(self._tasks), on_session=on_session)
        if result.status != "succeeded" or result.session_id is None:
            return result
        return await self._judged(result, session_id=result.session_id)

    def _prompt(self) -> str:
        """The prompt of the job; the model is told when it comes late, as a reminder may."""
        job = self._stored.job
        if self._services.clock.now() - self._occurrence <= GRACE + job.jitter:
            return job.prompt
        return f"{job.prompt}\n\n[This was due at {moment_text(self._occurrence, zone=zone_of(job.timing))}.]"

    async def _judged(self, result: RunResult, *, session_id: str) -> RunResult:
        """The result, silent if the model is sure that nobody needs to be told; in doubt it is delivered."""

        async def same(_session: str) -> None:
            pass

        again = replace(self._stored.job, session=session_id, mode=None, model=None, tools=())
        verdict = await self._services.runner.run(again, prompt=VERDICT, on_session=same)
        return replace(
            result,
            silent=stays_quiet(verdict),
            input_tokens=result.input_tokens + verdict.input_tokens,
            output_tokens=result.output_tokens + verdict.output_tokens,
            cost=result.cost + verdict.cost,
        )
