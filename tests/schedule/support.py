"""A clock that tests move, and a place without people or models in which jobs run."""

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from claw_acp.contracts.schedule import Job, RunResult
from claw_acp.core.errors import SessionNotFound
from claw_acp.schedule.definition import parse_job
from claw_acp.schedule.job_store import JobStore, StoredJob
from claw_acp.schedule.run_history import RunHistory
from claw_acp.schedule.scheduler import Scheduler
from claw_acp.store.database import Database
from tests.support.fixed_clock import FixedClock


class ManualClock(FixedClock):
    """A clock that stands still until a test moves it; its ids differ."""

    def __init__(self, *, now: float = 1_790_000_000.0) -> None:
        super().__init__(now=now)
        self.steps = 0.0
        self._drawn = 0

    def monotonic(self) -> float:
        """The time without the steps by which the clock was set."""
        return self.seconds - self.steps

    def random_bytes(self, count: int) -> bytes:
        """Bytes that were not drawn before."""
        self._drawn += 1
        return self._drawn.to_bytes(count, "big")


class ManualWake:
    """See `claw_acp.schedule.wake.Wake`: tests move the clock and look themselves."""

    def __init__(self) -> None:
        self.told = anyio.Event()

    async def wait(self, until: float | None) -> None:  # noqa: ARG002 - the contract's
        await self.told.wait()

    def now(self) -> None:
        self.told.set()


class Runner:
    """A runner whose runs end as the test says, and when it says so while `gate` is shut."""

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.jobs: list[Job] = []
        self.told: list[tuple[str, str]] = []
        self.forgotten: list[str] = []
        self.results: list[RunResult] = []
        self.gate = anyio.Event()
        self.gate.set()
        self.most = 0
        self.most_of_one = 0
        self._at_once = 0
        self._of_one = Counter[str]()

    async def run(self, job: Job, *, prompt: str, on_session: Callable[[str], Awaitable[None]]) -> RunResult:
        self.jobs.append(job)
        self.prompts.append(prompt)
        self._at_once += 1
        self._of_one[job.name] += 1
        self.most_of_one = max(self.most_of_one, self._of_one[job.name])
        self.most = max(self.most, self._at_once)
        try:
            await on_session(f"ses_{len(self.prompts)}")
            await self.gate.wait()
        finally:
            self._at_once -= 1
            self._of_one[job.name] -= 1
        usual = RunResult(status="succeeded", text="done", session_id=f"ses_{len(self.prompts)}")
        return self.results.pop(0) if self.results else usual

    async def forget(self, session_id: str) -> None:
        self.forgotten.append(session_id)

    async def tell(self, session_id: str, *, title: str, text: str) -> None:
        if session_id == "ses_gone":
            raise SessionNotFound(session_id)
        assert title
        self.told.append((session_id, text))


class House:
    """A scheduler, its store, and a clock that the test moves."""

    def __init__(self, database: Database, *, file: Path, clock: ManualClock, tasks: TaskGroup) -> None:
        self.clock, self.runner, self.wake = clock, Runner(), ManualWake()
        self.jobs = JobStore(database, clock=clock)
        self.history = RunHistory(database, clock=clock)
        self.scheduler = Scheduler(
            database, runner=self.runner, clock=clock, wake=self.wake, file=file, tasks=tasks
        )  # fmt: skip

    async def add(self, name: str = "j", **fields: object) -> StoredJob:
        usual: dict[str, object] = {"cwd": "/", **({} if "heartbeat" in fields else {"prompt": "look"})}
        return await self.jobs.add(parse_job(name, {**usual, **fields}, now=self.clock.now()), source="user")

    async def look(self) -> float | None:
        """Begin what is due, and wait for the ends; returns the next moment."""
        while True:
            self.wake.told = anyio.Event()
            until = await self.scheduler.step()
            if self.scheduler.busy and self.runner.gate.is_set():
                await self.wake.told.wait()
            elif not self.wake.told.is_set():
                return until

    async def sleep(self, seconds: float) -> float | None:
        """Let the machine sleep, and look after that."""
        self.clock.seconds += seconds
        return await self.look()

    async def let_pass(self, seconds: float) -> None:
        """Let time pass, with a look at each moment that was asked for."""
        end = self.clock.seconds + seconds
        until = await self.look()
        while until is not None and until <= end:
            self.clock.seconds = max(until, self.clock.seconds)
            until = await self.look()
        self.clock.seconds = end

    async def runs(self, name: str = "j") -> list[tuple[float, str]]:
        """The occurrences of the runs of a job, the oldest first, and how they ended."""
        return [(run.scheduled_for, run.status) for run in reversed(await self.history.of_name(name))]


@asynccontextmanager
async def house(directory: Path, *, clock: ManualClock | None = None) -> AsyncGenerator[House]:
    """A scheduler over the store in a directory; leaving the block ends its process, so to say."""
    async with Database.opened(directory / "claw.db") as database, anyio.create_task_group() as tasks:
        yield House(database, file=directory / "schedules.toml", clock=clock or ManualClock(), tasks=tasks)
        tasks.cancel_scope.cancel()
