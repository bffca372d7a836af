"""The jobs of a project, for the tool that a model has in one of its sessions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from claw_acp.config.locations import Locations
from claw_acp.contracts.schedule import JobSummary, Schedules
from claw_acp.core.clock import Clock
from claw_acp.core.errors import InvalidRequest
from claw_acp.schedule.definition import parse_job
from claw_acp.schedule.job_store import StoredJob, next_words
from claw_acp.schedule.moments import timing_text
from claw_acp.schedule.opened import OpenSchedules

MOST: Final = 20
"""Jobs of a project that models may add."""

NO_HUB: Final = "No hub is running, so it does not run yet: tell the user to start one with `claw-acp serve --detach`."


class SessionSchedules:
    """See `Schedules`.

    Args:
        locations: Our own directories.
        session: The session that results are shown in.
        project: The directory that jobs work in.
        clock: Time.
    """

    def __init__(self, locations: Locations, *, session: str, project: str, clock: Clock) -> None:
        self._locations = locations
        self._session = session
        self._project = project
        self._clock = clock

    async def jobs(self) -> Sequence[JobSummary]:
        """See `Schedules`."""
        async with OpenSchedules.opened(self._locations, clock=self._clock) as schedules:
            return [_summary(stored) for stored in await self._own(schedules)]

    async def add(self, name: str, *, prompt: str, timing: dict[str, str]) -> str:
        """See `Schedules`. Nobody agreed to more than this one job, so it may do only what is never asked about."""
        fields = {
            **timing,
            "prompt": prompt,
            "cwd": self._project,
            "mode": "ask",
            "deliver": f"session:{self._session}",
        }
        job = parse_job(name, fields, now=self._clock.now())
        async with OpenSchedules.opened(self._locations, clock=self._clock) as schedules:
            if sum(stored.source == "model" for stored in await self._own(schedules)) >= MOST:
                raise InvalidRequest(f"there are {MOST} jobs in this project already; remove one first")
            stored = await schedules.jobs.add(job, source="model")
            schedules.tell_of_changes()
            hub = "" if schedules.lease.held else f" {NO_HUB}"
            return f"{name} {_summary(stored).next_time}. Its result will be shown in this session.{hub}"

    async def remove(self, name: str) -> None:
        """See `Schedules`."""
        async with OpenSchedules.opened(self._locations, clock=self._clock) as schedules:
            found = {stored.job.name: stored for stored in await self._own(schedules)}.get(name)
            if found is None:
                raise InvalidRequest(f'there is no job "{name}" in this project')
            if found.source == "program":
                raise InvalidRequest(f"{name} is run for a program that attached; only the user removes it")
            if found.source == "file":
                raise InvalidRequest(f"{name} is written in {self._locations.schedules_file}; only the user removes it")
            await schedules.jobs.remove(found.id)
            schedules.tell_of_changes()

    async def _own(self, schedules: OpenSchedules) -> Sequence[StoredJob]:
        return [stored for stored in await schedules.jobs.all() if stored.job.cwd == self._project]


def _summary(stored: StoredJob) -> JobSummary:
    job = stored.job
    return JobSummary(name=job.name, timing=timing_text(job.timing), next_time=next_words(stored), prompt=job.prompt)


if TYPE_CHECKING:
    _conforms: type[Schedules] = SessionSchedules
