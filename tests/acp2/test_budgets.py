"""Cost and budgets as an editor of protocol 2 meets them."""

import pytest

from claw_acp.core.errors import BudgetReached
from tests.acp2.conftest import Spawn
from tests.support.editors.exchange import RpcFailure
from tests.support.servers.priced_model import COST, priced_model


async def test_an_editor_is_told_what_the_session_has_cost_so_far(opened: Spawn) -> None:
    async with priced_model() as (_, options), opened(**options) as editor:
        await editor.run("one")
        done = await editor.run("two")
        (usage,) = (update for update in done.updates if update["sessionUpdate"] == "usage_update")
        assert usage["cost"] == {"amount": 2 * COST, "currency": "USD"}


async def test_a_request_that_may_pass_a_budget_waits_for_the_person(opened: Spawn) -> None:
    async with priced_model(budget="daily = 0.001") as (_, options), opened(**options) as editor:
        editor.will_answer("allow_always")
        done = await editor.run("go")
        assert (done.stop_reason, done.text) == ("end_turn", "fine")
        assert editor.states == ["running", "requires_action", "running", "idle"]
        (asked,) = editor.received("session/request_permission")
        assert asked["params"]["title"] == "Go on past the budget?"
        assert "may pass the daily budget" in asked["params"]["description"]
        assert [call["status"] for call in done.calls] == ["completed"]
        await editor.run("again")
        assert len(editor.received("session/request_permission")) == 1


@pytest.mark.parametrize("answer", ["reject_once", RpcFailure(-32601)])
async def test_without_a_yes_the_turn_ends_with_what_to_do(opened: Spawn, answer: str | RpcFailure) -> None:
    async with priced_model(budget="session = 0.001") as (server, options), opened(**options) as editor:
        editor.will_answer(answer)
        done = await editor.run("go")
        assert (done.stop_reason, [call["status"] for call in done.calls]) == ("error", ["failed"])
        end = done.updates[-1]["error"]
        assert end["code"] == BudgetReached.code
        assert "raise `session` below [budget] in config.toml, or start a new session" in end["message"]
        assert not server.requests


async def test_a_turn_is_cancelled_while_it_asks(opened: Spawn) -> None:
    async with priced_model(budget="monthly = 0.001") as (server, options), opened(**options) as editor:
        editor.will_answer(None)
        begin = len(editor.transcript)
        await editor.insert("go")
        await editor.wait_for_question()
        await editor.cancel()
        done = await editor.ended(begin)
        assert (done.stop_reason, [call["status"] for call in done.calls]) == ("cancelled", ["cancelled"])
        assert not server.requests
