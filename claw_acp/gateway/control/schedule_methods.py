"""Control methods about scheduled jobs."""

from collections.abc import Sequence

from claw_acp.gateway.control.server import ControlledServer
from claw_acp.gateway.control.wire import JobFacts, JobList, JobName, Nothing
from claw_acp.schedule.job_store import StoredJob, next_words
from claw_acp.schedule.opened import OpenSchedules
from claw_acp.schedule.run_history import Run


async def list_jobs(server: ControlledServer, _params: Nothing) -> JobList:
    """All jobs."""
    async with OpenSchedules.opened(server.locations) as schedules:
        jobs = [
            _facts(stored, await schedules.history.of_job(stored.id, limit=1)) for stored in await schedules.jobs.all()
        ]
        return JobList(running=schedules.lease.held, jobs=jobs)


async def run(server: ControlledServer, params: JobName) -> Nothing:
    """Run a job now."""
    async with OpenSchedules.opened(server.locations) as schedules:
        await schedules.jobs.request(await schedules.jobs.find(params.name))
        schedules.tell_of_changes()
    return Nothing()


async def pause(server: ControlledServer, params: JobName) -> Nothing:
    """Let no occurrence of a job run."""
    async with OpenSchedules.opened(server.locations) as schedules:
        await schedules.jobs.pause(await schedules.jobs.find(params.name))
        schedules.tell_of_changes()
    return Nothing()


async def resume(server: ControlledServer, params: JobName) -> Nothing:
    """Let a job go on."""
    async with OpenSchedules.opened(server.locations) as schedules:
        await schedules.jobs.resume(await schedules.jobs.find(params.name))
        schedules.tell_of_changes()
    return Nothing()


def _facts(stored: StoredJob, runs: Sequence[Run]) -> JobFacts:
    last = runs[0] if runs else None
    return JobFacts(
        name=stored.job.name,
        source=stored.source,
        cwd=stored.job.cwd,
        prompt=stored.job.prompt,
        paused=stored.paused,
        next=next_words(stored),
        last_status=None if last is None else last.status,
        last_session_id=None if last is None else last.session_id,
    )
