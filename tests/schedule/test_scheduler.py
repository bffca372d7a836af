"""The scheduler with a clock that tests move: runs, retries, overlaps, restarts, deliveries."""

import os
from functools import partial
from itertools import pairwise
from pathlib import Path

import anyio
import pytest

from claw_acp.cli.cron.view import undelivered_lines
from claw_acp.contracts.schedule import RunResult
from claw_acp.schedule.definition import parse_job
from claw_acp.schedule.heartbeat import VERDICT, tasks_in
from claw_acp.schedule.job_run import RETRY_AFTER
from tests.schedule.support import House, ManualClock, house

HOUR = 3600.0
FAILED = RunResult(status="failed", detail="overloaded", again=True)


async def test_a_period_does_not_drift_however_long_runs_take(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        begin = here.clock.seconds
        await here.add(every="10m")
        for _ in range(6):
            await here.let_pass(599)
            await here.sleep(7)  # late, but on time
        assert await here.runs() == [(begin + 600 * number, "succeeded") for number in range(1, 7)]


async def test_a_reminder_is_gone_once_it_has_succeeded_and_its_run_stays_known(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        await here.add("tea", at="+2m")
        await here.let_pass(HOUR)
        assert await here.jobs.all() == []
        (run,) = await here.history.of_name("tea")
        assert (run.status, run.text, run.session_id) == ("succeeded", "done", "ses_1")


async def test_a_failed_run_is_repeated_after_growing_pauses_and_then_given_up(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        stored = await here.add(at="+1m", deliver="session:ses_me")
        here.runner.results = [FAILED] * 6
        await here.let_pass(3 * HOUR)
        runs = list(reversed(await here.history.of_job(stored.id)))
        assert [run.attempt for run in runs] == [0, 1, 2, 3, 4, 5]
        gaps = [later.started_at - earlier.started_at for earlier, later in pairwise(runs)]
        assert gaps == list(RETRY_AFTER)
        assert {run.scheduled_for for run in runs} == {runs[0].scheduled_for}
        assert here.runner.told == [("ses_me", "The job j has failed.\n\noverloaded")]  # once, at the end
        assert [(each.next_at, each.retry_at) for each in await here.jobs.all()] == [(None, None)]


async def test_what_cannot_succeed_is_not_repeated(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        await here.add(every="1h")
        here.runner.results = [RunResult(status="failed", detail="no key")]
        await here.let_pass(1.5 * HOUR)
        assert [status for _, status in await here.runs()] == ["failed"]


async def test_a_job_never_runs_twice_at_once_and_what_it_skipped_is_recorded_once(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        begin = here.clock.seconds
        await here.add(every="10m")
        here.runner.gate = anyio.Event()
        await here.let_pass(3000)
        here.runner.gate.set()
        await here.let_pass(600)
        assert here.runner.most == 1
        assert await here.runs() == [(begin + 600, "succeeded"), (begin + 1200, "skipped"), (begin + 3600, "succeeded")]


async def test_times_that_are_all_to_be_run_wait_for_the_run_before_them(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        begin = here.clock.seconds
        await here.add(every="10m", missed="run_all")
        here.runner.gate = anyio.Event()
        await here.let_pass(1900)
        here.runner.gate.set()
        await here.look()
        assert here.runner.most == 1
        assert await here.runs() == [(begin + 600 * number, "succeeded") for number in (1, 2, 3)]


async def test_only_a_few_jobs_run_at_once_and_none_is_forgotten(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        for number in range(10):
            await here.add(f"j{number}", at="+1m")
        here.runner.gate = anyio.Event()
        await here.sleep(60)
        assert len(here.runner.prompts) == 4
        here.runner.gate.set()
        await here.let_pass(1)
        assert (len(here.runner.prompts), here.runner.most, await here.jobs.all()) == (10, 4, [])


@pytest.mark.parametrize(
    ("missed", "expected"),
    [("run_once", ["succeeded"]), ("skip", ["skipped"]), ("run_all", ["succeeded"] * 5)],
)
async def test_what_was_missed_while_nothing_ran_follows_the_policy_of_the_job(
    tmp_path: Path, missed: str, expected: list[str]
) -> None:
    clock = ManualClock()
    async with house(tmp_path, clock=clock) as here:
        await here.add(every="1h", missed=missed)
    clock.seconds += 5 * HOUR + 600
    async with house(tmp_path, clock=clock) as here:
        await here.scheduler.recover()
        until = await here.look()
        assert [status for _, status in await here.runs()] == expected
        assert all("[This was due at " in prompt for prompt in here.runner.prompts)
        assert until == clock.seconds - 600 + HOUR


@pytest.mark.parametrize("again", [False, True])
async def test_a_run_that_was_cut_short_is_known_and_repeated_only_if_the_job_says_so(
    tmp_path: Path, *, again: bool
) -> None:
    clock = ManualClock()
    async with house(tmp_path, clock=clock) as here:
        await here.add(at="+1m", rerun_interrupted=again)
        here.runner.gate = anyio.Event()
        await here.sleep(60)
        assert here.scheduler.busy == 1
    async with house(tmp_path, clock=clock) as here:
        await here.scheduler.recover()
        assert [status for _, status in await here.runs()] == ["interrupted"]
        await here.let_pass(600)
        statuses = [status for _, status in await here.runs()]
        assert statuses == (["interrupted", "succeeded"] if again else ["interrupted"])


async def test_a_paused_job_lets_its_times_pass_and_runs_when_it_is_asked_to(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        await here.jobs.pause(await here.add(every="10m"))
        await here.let_pass(2000)
        assert await here.runs() == []
        await here.jobs.request(await here.jobs.find("j"))
        await here.look()
        assert [status for _, status in await here.runs()] == ["succeeded"]
        await here.jobs.resume(await here.jobs.find("j"))
        await here.let_pass(600)
        assert len(await here.runs()) == 2


async def test_a_run_that_is_asked_for_while_the_job_runs_comes_after_it(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        await here.add(every="10m")
        here.runner.gate = anyio.Event()
        await here.let_pass(601)
        await here.jobs.request(await here.jobs.find("j"))
        await here.let_pass(700)
        here.runner.gate.set()
        await here.look()
        assert sorted(status for _, status in await here.runs()) == ["skipped", "succeeded", "succeeded"]


async def test_a_clock_that_is_put_back_by_an_hour_does_not_stop_a_period(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        await here.add(every="10m")
        await here.let_pass(6 * 600 + 1)
        here.clock.seconds -= HOUR
        here.clock.steps -= HOUR
        before = len(await here.runs())
        await here.let_pass(601)
        assert len(await here.runs()) == before + 1


async def test_jitter_puts_a_run_off_and_the_next_times_stay(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        begin = here.clock.seconds
        stored = await here.add(every="1h", jitter="20m")
        await here.let_pass(5.9 * HOUR)
        runs = list(reversed(await here.history.of_job(stored.id)))
        assert [run.scheduled_for for run in runs] == [begin + HOUR * number for number in range(1, 6)]
        late = [run.started_at - run.scheduled_for for run in runs]
        assert 0 <= min(late) < max(late) < 1200


async def test_the_history_of_a_job_is_bounded(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        stored = await here.add(every="1m")
        await here.let_pass(60 * 56)
        runs = await here.history.of_job(stored.id, limit=1000)
        assert (len(runs), runs[0].started_at) == (50, here.clock.seconds)
        assert here.runner.forgotten == [f"ses_{number}" for number in range(1, 7)]


# ------------------------------------------------------------------ delivery


async def test_a_result_goes_to_a_command_on_its_standard_input(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        target = tmp_path / "told"
        await here.add(at="+1m", deliver=f"command:cat > '{target}'; echo $CLAW_ACP_JOB $CLAW_ACP_STATUS >> '{target}'")
        await here.let_pass(61)
        assert target.read_text() == "done\nj succeeded\n"
        (run,) = await here.history.of_name("j")
        assert run.delivered == "the command took it"


async def test_a_result_that_cannot_be_delivered_is_tried_again_and_stays_known(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        switch = tmp_path / "on"
        await here.add(at="+1m", deliver=f"command:test -e '{switch}' || {{ echo no mail >&2; exit 3; }}")
        await here.let_pass(62)
        (run,) = await here.history.of_name("j")
        assert run.delivered == "not delivered: the command ended with exit code 3: no mail"
        (line,) = undelivered_lines(await here.history.not_delivered(since=run.started_at))
        assert line.startswith("The result of j, ")
        assert line.endswith("no mail; `claw-acp cron show j` has it")
        assert await here.history.not_delivered(since=run.started_at + 1) == []
        switch.touch()
        await here.let_pass(31)
        (run,) = await here.history.of_name("j")
        assert (run.delivered, run.deliver_at, run.deliver_attempt) == ("the command took it", None, 2)
        assert await here.history.not_delivered(since=0) == []


async def test_a_delivery_is_given_up_after_a_few_attempts(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        await here.add(at="+1m", deliver="session:ses_gone")
        await here.let_pass(3 * HOUR)
        (run,) = await here.history.of_name("j")
        assert (run.deliver_attempt, run.deliver_at, run.text) == (4, None, "done")
        assert "ses_gone" in run.delivered


async def test_a_result_waits_a_week_for_the_program_that_fired_it(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        await here.add(at="+1m", deliver='program:["far", "", "1"]')
        await here.let_pass(6 * 86_400)
        [run] = await here.history.of_name("j")
        assert run.deliver_at is not None
        assert await here.history.deliver_now('program:["other", "", ') is False
        assert await here.history.deliver_now('program:["far", "", ') is True
        await here.let_pass(3 * 86_400)
        [run] = await here.history.of_name("j")
        assert (run.deliver_at, run.text, "cannot attach" in run.delivered) == (None, "done", True)


async def test_a_failed_fire_of_a_program_is_repeated_and_then_leaves_nothing_but_its_run(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        here.runner.results = [RunResult(status="failed", again=True), RunResult(status="failed", detail="no")]
        job = parse_job("x--1", {"at": "+1m", "cwd": "/", "prompt": "look"}, now=here.clock.now() - 60)
        added = partial(here.jobs.add_once, job, job_id="fire_1", moment=here.clock.now(), most=1)
        assert await added() is True
        assert await here.jobs.add_once(job, job_id="fire_2", moment=here.clock.now(), most=1) is False
        assert await here.jobs.knows("fire_2") is False
        await here.let_pass(3600)
        assert (await here.runs("x"), await here.jobs.all()) == ([(here.clock.now() - 3600, "failed")] * 2, [])
        assert await added() is False
        assert await here.jobs.knows("fire_1") is True


async def test_a_result_that_was_not_delivered_before_the_end_is_delivered_after_the_next_start(tmp_path: Path) -> None:
    clock = ManualClock()
    async with house(tmp_path, clock=clock) as here:
        stored = await here.add(at="+1m", deliver="session:ses_me")
        clock.seconds += 60
        stored = (await here.jobs.all())[0]
        run_id = await here.history.begin(stored, occurrence=clock.seconds, next_at=None)
        assert run_id is not None
        done = RunResult(status="succeeded", text="tea")
        await here.history.end(run_id, done, deliver=stored.job.delivery, remove=stored.id)
    async with house(tmp_path, clock=clock) as here:
        await here.look()
        assert here.runner.told == [("ses_me", "tea")]


# ------------------------------------------------------------------ heartbeat


@pytest.mark.parametrize(
    "text",
    ["", "# Tasks\n\n## Daily\n", "<!-- check mail\nand more -->\n", "- [ ]\n- [ ]   \n* \n", "- [x] done\n---\n",
     "<!-- open"],
)  # fmt: skip
def test_a_heartbeat_file_without_tasks_is_empty(text: str) -> None:
    assert tasks_in(text) == ""


@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        ("# T\n<!-- no -->\n- [ ] water the plants\n- [x] old\n", "# T\n- [ ] water the plants"),
        ("look at the log\n", "look at the log"),
        ("- check CI <!-- every hour -->\n", "- check CI"),
        ("#5 is urgent\n", "#5 is urgent"),
    ],
)
def test_the_tasks_of_a_heartbeat_are_its_lines_that_say_something(text: str, tasks: str) -> None:
    assert tasks_in(text) == tasks


async def test_a_heartbeat_file_that_leads_elsewhere_or_is_no_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("- a key\n")
    project = tmp_path / "project"
    project.mkdir()
    file = project / "HEARTBEAT.md"
    file.symlink_to(tmp_path / "secret")
    async with house(tmp_path) as here:
        await here.add(every="1h", heartbeat=True, cwd=str(project))
        await here.let_pass(HOUR)
        file.unlink()
        os.mkfifo(file)
        await here.let_pass(HOUR)
        runs = await here.history.of_name("j")
        assert ([run.status for run in runs], here.runner.prompts) == (["skipped", "skipped"], [])
        assert "leads out of its project" in runs[1].detail


async def _beat(here: House, tmp_path: Path, *verdicts: RunResult) -> list[tuple[str, str]]:
    (tmp_path / "HEARTBEAT.md").write_text("- look at the log\n")
    await here.add(every="1h", heartbeat=True, cwd=str(tmp_path), deliver="session:ses_me", retries=0)
    here.runner.results = [RunResult(status="succeeded", text="The log is full.", session_id="ses_1"), *verdicts]
    await here.let_pass(HOUR + 1)
    return here.runner.told


async def test_a_heartbeat_without_tasks_asks_no_model(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        await here.add(every="1h", heartbeat=True, cwd=str(tmp_path))
        await here.let_pass(3 * HOUR)
        assert (here.runner.prompts, await here.runs()) == ([], [])
        (tmp_path / "HEARTBEAT.md").write_text("- look at the log\n")
        await here.let_pass(HOUR)
        assert "- look at the log" in here.runner.prompts[0]
        assert here.runner.prompts[1:] == [VERDICT]


async def test_a_heartbeat_that_found_nothing_worth_it_tells_nobody(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        assert await _beat(here, tmp_path, RunResult(status="succeeded", text=" Quiet. ")) == []
        (run,) = await here.history.of_name("j")
        assert (run.status, run.text) == ("succeeded", "The log is full.")


@pytest.mark.parametrize(
    "verdict",
    [
        RunResult(status="succeeded", text="TELL"),
        RunResult(status="succeeded", text=""),
        RunResult(status="succeeded", text="I would stay quiet, but the disk is full"),
        RunResult(status="failed", detail="overloaded", text="QUIET"),
    ],
)
async def test_an_important_result_is_not_lost_because_the_verdict_failed(tmp_path: Path, verdict: RunResult) -> None:
    async with house(tmp_path) as here:
        assert await _beat(here, tmp_path, verdict) == [("ses_me", "The log is full.")]
