"""The schedules of a store, opened for commands and tools: jobs, their runs, and the file that people edit."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress

from claw_acp.config.diagnostic import Diagnostic
from claw_acp.config.locations import Locations, private_directory
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.schedule.job_store import JobStore
from claw_acp.schedule.jobs_file import take_over
from claw_acp.schedule.lease import Lease
from claw_acp.schedule.run_history import RunHistory
from claw_acp.store.database import Database


class OpenSchedules:
    """The schedules of a store; make one with `opened`.

    Attributes:
        jobs: The jobs.
        history: Their runs.
        problems: What is wrong with the file of jobs.
        lease: The lease of the process that fires them.
    """

    def __init__(self, database: Database, *, lease: Lease, problems: Sequence[Diagnostic], clock: Clock) -> None:
        self.jobs = JobStore(database, clock=clock)
        self.history = RunHistory(database, clock=clock)
        self.problems = problems
        self.lease = lease

    @classmethod
    @asynccontextmanager
    async def opened(cls, locations: Locations, *, clock: Clock = SYSTEM_CLOCK) -> "AsyncGenerator[OpenSchedules]":
        """Open the schedules for the block, with the file of jobs taken over.

        Raises:
            StoreError: The store cannot be used.
        """
        private_directory(locations.data_dir)
        async with Database.opened(locations.database) as database:
            problems = await take_over(locations.schedules_file, JobStore(database, clock=clock), clock=clock)
            yield cls(database, lease=Lease(locations.schedule_dir), problems=problems, clock=clock)

    def tell_of_changes(self) -> None:
        """Wake the process that fires jobs, if there is one."""
        with suppress(OSError):  # it looks by itself at its next time
            self.lease.tell_of_changes()
