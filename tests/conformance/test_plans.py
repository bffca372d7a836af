"""The agent's plan, as clients with and without plan operations see it."""

import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json
from tests.support.script_files import Script, call, say, turn

FIRST: list[Json] = [
    {"content": "look", "priority": "high", "status": "in_progress"},
    {"content": "mend", "priority": "low", "status": "pending"},
]
SECOND: list[Json] = [{**FIRST[0], "status": "completed"}, {**FIRST[1], "status": "in_progress"}]
SCRIPT = Script(
    turn(call("plan", entries=FIRST)),
    turn(call("plan", entries=SECOND)),
    turn(say("half done")),
    turn(call("plan", entries=[])),
    turn(say("done")),
)


def _plans(updates: list[Json]) -> list[Json]:
    return [update for update in updates if update["sessionUpdate"].startswith("plan")]


@pytest.mark.rule("plan.whole")
@pytest.mark.rule("plan.operations-gated")
async def test_a_client_without_plan_operations_gets_the_whole_plan_each_time(opened: Spawn) -> None:
    async with opened(script=SCRIPT) as editor:
        shown = _plans((await editor.prompt("go")).updates)
        assert shown == [{"sessionUpdate": "plan", "entries": entries} for entries in (FIRST, SECOND)]
        assert _plans((await editor.prompt("finish")).updates) == [{"sessionUpdate": "plan", "entries": []}]


@pytest.mark.rule("plan.whole")
@pytest.mark.rule("plan.operations-gated")
async def test_a_client_with_plan_operations_sees_one_plan_change_and_go(opened: Spawn) -> None:
    async with opened(script=SCRIPT, capabilities={"plan": {}}) as editor:
        first, second = _plans((await editor.prompt("go")).updates)
        plan_id = first["plan"]["planId"]
        assert [update["plan"] for update in (first, second)] == [
            {"type": "items", "planId": plan_id, "entries": entries} for entries in (FIRST, SECOND)
        ]
        assert {update["sessionUpdate"] for update in (first, second)} == {"plan_update"}
        removed = {"sessionUpdate": "plan_removed", "planId": plan_id}
        assert _plans((await editor.prompt("finish")).updates) == [removed]
        _, replayed = await editor.load(editor.session)
        assert _plans(replayed) == [first, second, removed]


@pytest.mark.rule("plan.operations-gated")
@pytest.mark.parametrize("capability", [True, None, [], "yes"])
async def test_a_malformed_capability_is_none(opened: Spawn, capability: object) -> None:
    async with opened(script=SCRIPT, capabilities={"plan": capability}) as editor:
        assert {update["sessionUpdate"] for update in _plans((await editor.prompt("go")).updates)} == {"plan"}
