"""The schedules of a process that stays: jobs are fired while it holds the lease of its store."""

import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import anyio

from claw_acp.config.locations import find_locations, private_directory
from claw_acp.contracts.schedule import ResultTaker
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.core.errors import ClawError
from claw_acp.runtime.engine_host import EngineHost
from claw_acp.runtime.scheduled_turns import ScheduledTurns
from claw_acp.schedule.lease import CHANGES, Lease
from claw_acp.schedule.opened import OpenSchedules
from claw_acp.schedule.scheduler import TROUBLE, Scheduler
from claw_acp.schedule.wake import SystemWake
from claw_acp.store.database import Database

log = logging.getLogger(__name__)


async def run_schedules(
    host: EngineHost,
    *,
    until: Callable[[], Awaitable[object]],
    environ: Mapping[str, str] = os.environ,
    clock: Clock = SYSTEM_CLOCK,
    programs: ResultTaker | None = None,
) -> None:
    """Fire the jobs of the store until `until` returns; runs that go on then are recorded as interrupted.

    Waits while another process fires them. Trouble with the store is logged, and everything is tried again.
    """
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(_keep_firing, host, environ=environ, clock=clock, programs=programs), name="schedules")
        await until()
        tasks.cancel_scope.cancel()


async def are_planned(environ: Mapping[str, str] = os.environ) -> bool:
    """True if a job waits for its time; also when that cannot be found out."""
    try:
        async with OpenSchedules.opened(find_locations(environ)) as schedules:
            jobs = await schedules.jobs.all()
    except ClawError as error:
        log.warning("schedules cannot be looked at", extra={"reason": error.message})
        return True
    return any(job.requested or job.retry_at or (job.next_at and not job.paused) for job in jobs)


async def _keep_firing(
    host: EngineHost, *, environ: Mapping[str, str], clock: Clock, programs: ResultTaker | None
) -> None:
    while True:
        try:
            await _fire_jobs(host, environ=environ, clock=clock, programs=programs)
        except ClawError as error:
            log.warning("schedules do not run", extra={"reason": error.message})
        except Exception:  # the wall of jobs: whatever is wrong with them, editors work on
            log.exception("schedules failed, and begin again")
        await anyio.sleep(TROUBLE)


async def _fire_jobs(
    host: EngineHost, *, environ: Mapping[str, str], clock: Clock, programs: ResultTaker | None
) -> None:
    locations = find_locations(environ)
    file, lease = locations.schedules_file, Lease(locations.schedule_dir)
    private_directory(file.parent)
    async with lease.holding():
        engine = await host.engine()
        async with (
            Database.opened(locations.database) as database,
            SystemWake.opened([file, lease.directory / CHANGES], clock=clock) as wake,
            anyio.create_task_group() as tasks,
        ):
            scheduler = Scheduler(
                database, runner=ScheduledTurns(engine), clock=clock, wake=wake, file=file, tasks=tasks,
                programs=programs,
            )  # fmt: skip
            log.info("schedules run")
            await scheduler.run()
