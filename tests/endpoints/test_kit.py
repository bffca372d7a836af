"""Schedulers on the kit."""

import sys
from pathlib import Path

import pytest

from claw_acp.verify.endpoint.run import examine
from tests.endpoints.programs import settings_for
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, say, turn
from tests.support.servers.hub import Hub

SCHEDULER = """
import sys
from claw_acp.kit import FinishedParams, HubRefused, Scheduler

scheduler = Scheduler("mine", version="2")

@scheduler.source
async def now() -> None:
    try:
        print(await scheduler.fire("today", "say hello"), file=sys.stderr)
        await scheduler.fire("wrong", "say hello", session="ses_1", mode="ask")
    except HubRefused as error:
        print(error.code, error, file=sys.stderr)

@scheduler.finished
def tell(result: FinishedParams) -> None:
    if result.text == "trouble":
        raise ValueError("no")
    with open(sys.argv[1], "a") as said:
        print(result.fire_id, result.status, result.text, file=said)

scheduler.run()
"""


async def test_a_scheduler_on_the_kit_passes_every_vector(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(SCHEDULER)
    settings = settings_for((sys.executable, str(program), str(tmp_path / "said")))
    report = await examine(settings, role="scheduler", reference=True)
    assert {verdict.rule.id: verdict.reason for verdict in report.verdicts if verdict.outcome != "pass"} == {}
    assert report.agent == "mine (scheduler)"


@pytest.mark.forked
async def test_a_scheduler_on_the_kit_has_a_hub_run_its_prompt(home: Path, tmp_path: Path) -> None:
    program, said = tmp_path / "program.py", tmp_path / "said"
    program.write_text(SCHEDULER)
    config = f'[endpoints.mine]\ncommand = "{sys.executable}"\nargs = ["{program}", "{said}"]\n'
    async with Hub.started(home=home, script=Script(turn(say("All is well."))), config=config):
        await eventually(lambda: _text(said) == "today succeeded All is well.\n", what="the result")


def _text(file: Path) -> str:
    return file.read_text() if file.exists() else ""
