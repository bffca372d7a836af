"""Whatever happens to jobs, in whatever order: no occurrence is run twice, no two runs of a job at once."""

import tempfile
from collections import Counter
from pathlib import Path

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.contracts.schedule import RunResult
from claw_acp.core.value import replace
from claw_acp.schedule.definition import parse_job
from claw_acp.schedule.plan import GRACE, SMALL_STEP
from tests.schedule.support import House, ManualClock, house

JOBS: dict[str, dict[str, object]] = {
    "all": {"every": "10m", "missed": "run_all", "rerun_interrupted": True},
    "once": {"cron": "*/7 * * * *", "time_zone": "UTC"},
    "none": {"cron": "30 2 * * *", "time_zone": "Europe/Berlin", "missed": "skip", "jitter": "5m"},
    "at": {"at": "+90m", "retries": 2},
}
ENDS = (
    RunResult(status="failed", again=True),
    RunResult(status="failed"),
    RunResult(status="cancelled"),
    RunResult(status="succeeded"),
)
deeds = st.one_of(
    st.tuples(st.sampled_from(["wait", "sleep"]), st.integers(1, 4 * 3600)),
    st.tuples(st.just("set"), st.integers(-60, -1) | st.integers(-2 * 3600, 2 * 3600)),
    st.tuples(st.sampled_from(["pause", "resume", "request", "remove", "redefine"]), st.sampled_from([*JOBS])),
    st.tuples(st.just("end"), st.sampled_from(ENDS)),
    st.tuples(st.sampled_from(["hold", "let go", "kill"]), st.just(0)),
)


class _Play:
    def __init__(self, here: House, clock: ManualClock) -> None:
        self.here, self.clock = here, clock

    async def do(self, what: str, value: object) -> None:
        here = self.here
        if isinstance(value, str):
            known = {stored.job.name: stored for stored in await here.jobs.all()}
            if (stored := known.get(value)) is None:
                return
            match what:
                case "remove":
                    await here.jobs.remove(stored.id)
                case "redefine":
                    await here.jobs.redefine(stored, parse_job(value, _fields(value), now=self.clock.now()))
                case _:
                    self.clock.seconds += 0.37  # runs that are asked for are told apart by their moment
                    await getattr(here.jobs, what)(stored)
        elif isinstance(value, RunResult):
            here.runner.results.append(replace(value, session_id="ses_x"))
        elif isinstance(value, int):
            await self._pass_time(what, value)
        until = await here.look()
        assert until is None or until > self.clock.now() or not here.runner.gate.is_set()

    async def _pass_time(self, what: str, seconds: int) -> None:
        match what:
            case "wait":
                await self.here.let_pass(float(seconds))
            case "sleep":
                await self.here.sleep(float(seconds))
            case "set":
                self.clock.seconds += seconds
                self.clock.steps += seconds
            case "hold" if self.here.runner.gate.is_set():
                self.here.runner.gate = anyio.Event()
            case "hold":
                pass
            case _:
                self.here.runner.gate.set()


def _fields(name: str) -> dict[str, object]:
    return {"cwd": "/", "prompt": name, **JOBS[name]}


async def _played(directory: Path, plan: list[tuple[str, object]]) -> None:
    clock, left = ManualClock(now=1_774_600_000.0), list(plan)
    async with house(directory, clock=clock) as here:
        for name in JOBS:
            await here.jobs.add(parse_job(name, _fields(name), now=clock.now()), source="user")
    while True:
        async with house(directory, clock=clock) as here:
            await here.scheduler.recover()
            play = _Play(here, clock)
            while left:
                what, value = left.pop(0)
                if what == "kill":
                    break
                await play.do(what, value)
            if left:
                continue
            await play.do("let go", 0)
            assert await here.history.running() == []
            back = -sum(value for what, value in plan if what == "set" and isinstance(value, int) and value < 0)
            names = [name for name in JOBS if back <= (SMALL_STEP if name in {"none", "at"} else GRACE)]
            runs = [run for name in names for run in await here.history.of_name(name, limit=1000)]
            twice = Counter((run.job_id, run.scheduled_for, run.attempt) for run in runs if run.status != "skipped")
            assert [key for key, count in twice.items() if count > 1] == []
            assert here.runner.most_of_one <= 1
            return


@settings(max_examples=12)
@given(plan=st.lists(deeds, max_size=14))
def test_no_time_is_run_twice_and_no_job_runs_beside_itself(plan: list[tuple[str, object]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        anyio.run(_played, Path(directory), plan)
