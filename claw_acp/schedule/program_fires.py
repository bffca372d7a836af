"""Prompts that attached programs say are due, as one-shot jobs.

Each is stored before its program has an answer, and then run, recorded and delivered as any other job.
"""

import re
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from claw_acp.config.locations import Locations
from claw_acp.contracts.schedule import Fire, Fires, Job
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.core.errors import ServerBusy
from claw_acp.schedule.definition import parse_job
from claw_acp.schedule.opened import OpenSchedules

MOST_WAITING: Final = 100
"""Fires of all programs that wait or run."""

_LONGEST_TITLE: Final = 40


class ProgramFires:
    """See `Fires`.

    Args:
        locations: Our own directories.
        clock: Time.
    """

    def __init__(self, locations: Locations, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._locations = locations
        self._clock = clock

    async def fire(self, fire: Fire) -> bool:
        """See `Fires`."""
        moment = float(self._clock.now() // 1)
        digest = sha256(fire.target.encode("utf-8", "surrogatepass")).hexdigest()
        job, job_id = _job(fire, digest=digest, moment=moment), f"fire_{digest[:32]}"
        async with OpenSchedules.opened(self._locations, clock=self._clock) as schedules:
            added = await schedules.jobs.add_once(job, job_id=job_id, moment=moment, most=MOST_WAITING)
            if not added and not await schedules.jobs.knows(job_id):
                raise ServerBusy(f"{MOST_WAITING} fires of programs wait or run already; fire again later")
            if not added:
                await schedules.history.deliver_again(job_id)
            schedules.tell_of_changes()
        return added

    async def deliver_waiting(self, program: str) -> None:
        """See `Fires`."""
        async with OpenSchedules.opened(self._locations, clock=self._clock) as schedules:
            if await schedules.history.deliver_now(f"program:{program}"):
                schedules.tell_of_changes()


def _job(fire: Fire, *, digest: str, moment: float) -> Job:
    title = re.sub(r"[^A-Za-z0-9_]+", "-", fire.title)[:_LONGEST_TITLE].strip("-_") or "program"
    fields: dict[str, object] = {
        "at": datetime.fromtimestamp(moment, tz=UTC).isoformat(),
        "prompt": fire.prompt,
        "cwd": fire.folder or str(Path.home()),
        "session": fire.session,
        "mode": fire.mode,
        "model": fire.model,
        "tools": fire.tools,
        "budget": fire.budget,
        "timeout": None if fire.timeout is None else f"{fire.timeout}s",
        "deliver": f"program:{fire.target}",
    }
    given = {name: value for name, value in fields.items() if value is not None}
    return parse_job(f"{title}--{digest[:12]}", given, now=moment)


if TYPE_CHECKING:
    _conforms: type[Fires] = ProgramFires
