"""What attempts may do and cost: no more than the session that starts them, all together."""

import json
from pathlib import Path

import pytest

from claw_acp.agent.client_ports import ClientPorts
from claw_acp.contracts.questions import Form, PermissionQuestion
from claw_acp.core.messages import TextPart
from claw_acp.runtime.build import open_engine
from claw_acp.session.setup import SessionSetup
from tests.attempts.conftest import Git
from tests.attempts.test_try import AUTO
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.shared_house import SharedHouse
from tests.support.program.agent_process import eventually
from tests.support.quiet import QUIET
from tests.support.script_files import Script, Step, call, configure, expect, hold, say, turn
from tests.support.servers.model_replies import Gate, Say, Tokens
from tests.support.servers.priced_model import COST, priced_model


async def test_their_cost_is_that_of_the_session(opened: Spawn, git: Git) -> None:
    async with priced_model() as (_, options), opened(**options) as editor:
        tried = await editor.prompt("/try 2 say it")
        assert tried.text.count("| $0.0110 |") == 2
        costs = [update["cost"]["amount"] for update in tried.updates if "cost" in update]
        assert costs == [pytest.approx(2 * COST)]
        assert "$0.0220" in (await editor.prompt("/cost")).text


async def test_a_budget_holds_for_all_of_them_together(opened: Spawn, git: Git) -> None:
    async with priced_model(budget="session = 0.001") as (server, options), opened(**options) as editor:
        editor.will_answer("reject_once")
        tried = await editor.prompt("/try 3 say it")
        assert tried.text.count("**failed** Stopped before the session budget") == 3
        assert not server.requests
        asked = [frame["params"] for frame in editor.received("session/request_permission")]
        assert {question["sessionId"] for question in asked} == {editor.session}


async def test_requests_under_way_count_for_the_budget(opened: Spawn, git: Git) -> None:
    gate = Gate()
    async with priced_model(budget="session = 0.02") as (server, options):
        server.always(Say(text=("fine",), usage=Tokens(input=1000, output=1000), insert={0: gate}))
        async with opened(**options) as editor:
            editor.will_answer("reject_once")
            running = await editor.start_prompt("/try 4 say it")
            await editor.wait_for(lambda: len(editor.received("session/request_permission")) == 3, "three questions")
            gate.open()
            tried = await running.outcome()
            assert tried.text.count("| fine |") == 1
            assert tried.text.count("Stopped before the session budget") == 3


@pytest.mark.parametrize("name", ["config.toml", "claw.db", "permissions.toml", "../../base/a.txt", "../../facts.json"])
async def test_they_cannot_touch_what_belongs_to_us(opened: Spawn, home: Path, git: Git, name: str) -> None:
    path = name if name.startswith("..") else str(home / "claw" / name)
    refusal = turn(expect("the agent's own configuration and records"), say("I may not."))
    async with opened(script=Script(turn(call("read_file", path=path)), refusal, loop=True), config=AUTO) as editor:
        assert (await editor.prompt("/try 2 look")).text.count("I may not.") == 2


async def test_stored_rules_count_and_are_stored_for_the_project(
    opened: Spawn, home: Path, project: Path, git: Git
) -> None:
    script = Script(turn(call("shell", command="touch made.txt")), turn(say("done")), loop=True)
    async with opened(script=script) as editor:
        editor.will_answer("allow_always")
        assert "done" in (await editor.prompt("/try 3 make it")).text
        assert len(editor.received("session/request_permission")) == 1
        stored = (home / "claw" / "permissions.toml").read_text()
        assert f"[{json.dumps(str(project))}]" in stored
        assert "attempts" not in stored
        await editor.prompt("/try 2 make it")
        assert len(editor.received("session/request_permission")) == 1


async def test_a_mode_that_is_chosen_meanwhile_holds_for_them(project: Path, home: Path, git: Git) -> None:
    script = Script(
        turn(say("wait"), hold("gate"), call("write_file", path="x.txt", content="x")),
        turn(expect("Plan mode only reads"), say("I may not.")),
        loop=True,
    )
    async with SharedHouse.opened(project=project, home=home, script=script, config=AUTO) as house:
        guest = await house.visit()
        await guest.new_session()
        running = await guest.start_prompt("/try 2 write")
        await eventually(lambda: git("worktree", "list").count("\n") == 3, what="worktrees")
        await guest.request("session/set_mode", {"sessionId": guest.session, "modeId": "plan"})
        script.let_go("gate")
        assert (await running.outcome()).text.count("I may not.") == 2


@pytest.mark.parametrize("rule", ["read(/{project}/a.txt)", "read(/a.txt)", "read(**/a.*)"])
@pytest.mark.parametrize("reads", [call("read_file", path="a.txt"), call("shell", command="cat a.txt")])
async def test_what_rules_forbid_in_the_project_they_forbid_in_its_copies(
    opened: Spawn, project: Path, git: Git, rule: str, reads: Step
) -> None:
    config = f"{AUTO}\n[permissions]\ndeny = [{json.dumps(rule.format(project=project))}]"
    script = Script(turn(reads), turn(expect("rule"), say("I may not.")), loop=True)
    async with opened(script=script, config=config) as editor:
        assert (await editor.prompt("/try 2 read it")).text.count("I may not.") == 2


class Nobody:
    """Answers no question."""

    async def permission(self, question: PermissionQuestion) -> None:
        del question

    async def form(self, form: Form) -> None:
        del form


async def test_what_a_turn_is_not_allowed_its_attempts_are_not_allowed_either(
    project: Path, home: Path, git: Git
) -> None:
    script = Script(turn(call("shell", command="touch x")), turn(expect("shell"), say("I have no shell.")), loop=True)
    configure(home, script, more=AUTO)
    environ = {**QUIET, "HOME": str(home), "CLAW_ACP_HOME": str(home), "PATH": "/usr/bin:/bin"}
    async with open_engine(environ=environ) as engine:
        live = await engine.sessions.create(SessionSetup(cwd=str(project)))
        ports = ClientPorts(workspace=live.workspace, asker=Nobody(), only_tools=frozenset({"read_file"}))
        started = engine.turns.start(live, [TextPart(text="/try 2 touch it")], ports=ports)
        assert (await started.outcome()).stop == "end_turn"
        attempts = live.session.history.attempts.attempts
        assert [(attempt.words, attempt.changes) for attempt in attempts] == [("I have no shell.", ())] * 2
