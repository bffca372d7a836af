"""Jobs in a hub, from the schedule to the delivery of their results; and a hub that is killed while one runs."""

import json
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from claw_acp.config.locations import find_locations
from claw_acp.contracts.schedule import RunStatus
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.schedule.definition import parse_job
from claw_acp.schedule.opened import OpenSchedules
from claw_acp.schedule.run_history import Run
from tests.gateway.conftest import Serve
from tests.support.program.agent_process import POLL, TIMEOUT, eventually
from tests.support.script_files import Script, call, hold, say, turn
from tests.support.servers.loopback import Answered, Loopback, serving


@asynccontextmanager
async def _schedules(home: Path) -> AsyncGenerator[OpenSchedules]:
    async with OpenSchedules.opened(find_locations({"CLAW_ACP_HOME": str(home / "claw")})) as schedules:
        yield schedules


async def _eventually(condition: Callable[[], Awaitable[bool]], *, what: str) -> None:
    with anyio.move_on_after(TIMEOUT):
        while not await condition():  # noqa: ASYNC110 - another process
            await anyio.sleep(POLL)
        return
    raise AssertionError(f"there is still not: {what}")


async def _ended(schedules: OpenSchedules, name: str, status: RunStatus) -> Run:
    found: list[Run] = []

    async def look() -> bool:
        found[:] = await schedules.history.of_name(name, limit=1)
        return bool(found) and found[0].status == status and found[0].deliver_at is None

    await _eventually(look, what=f"{name} {status}")
    return found[0]


async def test_jobs_run_at_their_moment_and_report_to_a_command_a_webhook_and_a_session(
    serve: Serve, project: Path, home: Path
) -> None:
    told = home / "told"
    script = Script(turn(call("shell", command="touch x")), turn(say("The log is full.")), loop=True)
    server = Loopback(lambda _asked: Answered(status=204))
    with serving(server):
        async with serve(script=script), _schedules(home) as schedules:
            await eventually(lambda: schedules.lease.held, what="the lease")
            common = {"cwd": str(project), "prompt": "look", "mode": "ask"}
            jobs = {
                "written": {"every": "1h", "deliver": f"command:cat > '{told}'"},
                "posted": {"at": "+1s", "deliver": f"webhook:{server.url}/hook"},
            }
            for name, fields in jobs.items():
                stored = await schedules.jobs.add(
                    parse_job(name, {**common, **fields}, now=SYSTEM_CLOCK.now()), source="user"
                )
                if name == "written":
                    await schedules.jobs.request(stored)
            schedules.tell_of_changes()
            posted_run = await _ended(schedules, "posted", "succeeded")
            written_run = await _ended(schedules, "written", "succeeded")
            assert [each.job.name for each in await schedules.jobs.all()] == ["written"]
    assert 0 <= posted_run.started_at - posted_run.scheduled_for < 5
    assert told.read_text().startswith("The log is full.\n\nNot done, because nobody was there to allow it:\n- ")
    assert not (project / "x").exists()
    (asked,) = server.asked
    report = json.loads(asked.body)
    assert (report["job"], report["status"], report["text"]) == ("posted", "succeeded", "The log is full.")
    assert report["sessionId"] == posted_run.session_id != written_run.session_id


async def test_a_file_that_is_edited_by_hand_is_picked_up_at_once(serve: Serve, project: Path, home: Path) -> None:
    async with serve(script=Script(turn(say("done")), loop=True)), _schedules(home) as schedules:
        text = f'[jobs.daily]\ncron = "0 4 * * *"\ncwd = "{project}"\nprompt = "x"\n'
        (home / "claw" / "schedules.toml").write_text(text)

        async def known() -> bool:
            return [each.job.name for each in await schedules.jobs.all()] == ["daily"]

        await _eventually(known, what="the job of the file")
        (home / "claw" / "schedules.toml").unlink()

        async def gone() -> bool:
            return not await schedules.jobs.all()

        await _eventually(gone, what="the job to go")


@pytest.mark.forked
async def test_a_run_whose_hub_is_killed_is_recorded_as_interrupted_and_not_run_again(
    serve: Serve, project: Path, home: Path
) -> None:
    script = Script(turn(say("begun"), hold("ever")), loop=True)
    async with serve(script=script) as server, _schedules(home) as schedules:
        fields: dict[str, object] = {"at": "+1s", "cwd": str(project), "prompt": "look"}
        await schedules.jobs.add(parse_job("long", fields, now=SYSTEM_CLOCK.now()), source="user")
        schedules.tell_of_changes()
        running = await _ended(schedules, "long", "running")
        server.process.signal(signal.SIGKILL)
        await server.process.ended(within=10)
        assert not schedules.lease.held
    async with serve(), _schedules(home) as schedules:
        await _ended(schedules, "long", "interrupted")
        (run,) = await schedules.history.of_name("long")
        assert (run.id, run.detail) == (running.id, "The hub ended during this run.")
        (stored,) = await schedules.jobs.all()
        assert (stored.next_at, stored.retry_at) == (None, None)
