"""The tool for jobs, as an editor and its person see it."""

from pathlib import Path

import pytest

from claw_acp.config.locations import find_locations
from claw_acp.contracts.schedule import Delivery, Job
from claw_acp.schedule.opened import OpenSchedules
from tests.support.editors.editor_fixtures import Spawn, home, opened, project, spawn
from tests.support.script_files import Script, call, expect, say, turn

__all__ = ["home", "opened", "project", "spawn"]

ADD = call("schedule", action="add", name="nightly", prompt="Run the tests.", cron="0 2 * * *", time_zone="UTC")


async def _jobs(home: Path) -> list[Job]:
    async with OpenSchedules.opened(find_locations({"CLAW_ACP_HOME": str(home / "claw")})) as schedules:
        return [stored.job for stored in await schedules.jobs.all()]


@pytest.mark.parametrize("mode", ["ask", "auto"])
async def test_a_job_is_added_only_if_the_person_agrees_in_every_mode(opened: Spawn, home: Path, mode: str) -> None:
    script = Script(turn(ADD), turn(expect("runs next at"), say("It is planned.")))
    async with opened(script=script, config=f'mode = "{mode}"\n') as editor:
        editor.will_answer("allow_once")
        answer = await editor.prompt("every night")
        (asked,) = editor.received("session/request_permission")
        assert answer.text == "It is planned."
        assert "nightly: cron 0 2 * * *" in asked["params"]["toolCall"]["title"]
        assert "Run the tests." in str(asked["params"]["toolCall"]["content"])
        assert not [option for option in asked["params"]["options"] if option["kind"] == "allow_always"]
        (job,) = await _jobs(home)
        assert (job.mode, job.prompt) == ("ask", "Run the tests.")
        assert job.delivery == Delivery(kind="session", target=editor.session)


async def test_without_the_persons_yes_there_is_no_job(opened: Spawn, home: Path) -> None:
    async with opened(script=Script(turn(ADD), turn(say("as you wish")))) as editor:
        editor.will_answer("reject_once")
        await editor.prompt("every night")
    assert await _jobs(home) == []


async def test_plan_mode_adds_no_job_and_may_list_them(opened: Spawn, home: Path) -> None:
    script = Script(turn(ADD), turn(call("schedule", action="list")), turn(expect("no jobs"), say("none")))
    async with opened(script=script, config='mode = "plan"\n') as editor:
        assert (await editor.prompt("every night")).text == "none"
        assert not editor.received("session/request_permission")
    assert await _jobs(home) == []


async def test_jobs_are_listed_and_removed_within_their_project(opened: Spawn, home: Path, tmp_path: Path) -> None:
    remove = [turn(call("schedule", action="remove", name=name)) for name in ("elsewhere", "nightly")]
    listing = turn(call("schedule", action="list"))
    script = Script(
        turn(ADD),
        listing,
        turn(expect("- nightly: 0 2 * * * (UTC); runs next at"), remove[0]["steps"][0]),
        turn(expect('no job "elsewhere"'), remove[1]["steps"][0]),
        turn(expect("removed"), say("done")),
    )
    async with opened(script=script) as editor:
        editor.will_answer(*["allow_once"] * 3)
        assert (await editor.prompt("go")).text == "done"
    assert await _jobs(home) == []


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"action": "add", "name": "x", "prompt": "y"}, "exactly one of at, every and cron"),
        ({"action": "add", "name": "x", "prompt": "y", "every": "1h", "at": "+1h"}, "exactly one"),
        ({"action": "add", "name": "x", "every": "1h"}, "needs a prompt"),
        ({"action": "remove"}, "needs a name"),
    ],
)
async def test_wrong_arguments_are_explained_and_nobody_is_asked(
    opened: Spawn, arguments: dict[str, str], why: str
) -> None:
    script = Script(turn(call("schedule", **arguments)), turn(expect(why), say("I see")))
    async with opened(script=script) as editor:
        assert (await editor.prompt("go")).text == "I see"
        assert not editor.received("session/request_permission")


async def test_a_time_that_makes_no_sense_is_explained(opened: Spawn, home: Path) -> None:
    script = Script(
        turn(call("schedule", action="add", name="x", prompt="y", cron="0 2 * * 5-1")),
        turn(expect("runs backwards"), say("I see")),
    )
    async with opened(script=script) as editor:
        editor.will_answer("allow_once")
        assert (await editor.prompt("go")).text == "I see"
    assert await _jobs(home) == []
