"""Cost and budgets as an editor of protocol 1 meets them, with a model over HTTP that has a price."""

import json
from pathlib import Path

import pytest

from claw_acp.core.errors import BudgetReached
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, Outcome, RpcFailure, tool_calls
from tests.support.program.agent_process import eventually
from tests.support.servers.model_replies import Gate, Say, Tokens
from tests.support.servers.priced_model import COST, priced_model

NOTICES: Json = {"session": {"notices": {}}}
TIGHT = "daily = 0.012"  # one answer fits, a second may not


def told(outcome: Outcome) -> list[str]:
    return [update["title"] for update in outcome.updates if update["sessionUpdate"] == "notice"]


def costs(outcome: Outcome) -> list[Json | None]:
    return [update.get("cost") for update in outcome.updates if update["sessionUpdate"] == "usage_update"]


async def test_an_editor_is_told_what_the_session_has_cost_so_far_also_when_it_loads_it(
    opened: Spawn, spawn: Spawn
) -> None:
    async with priced_model() as (_, options):
        async with opened(**options) as editor:
            assert costs(await editor.prompt("one")) == [{"amount": COST, "currency": "USD"}]
            assert costs(await editor.prompt("two")) == [{"amount": 2 * COST, "currency": "USD"}]
        async with spawn(**options) as again:
            await again.initialize()
            _, replayed = await again.load(editor.session)
            assert [update["cost"]["amount"] for update in replayed if "cost" in update] == [2 * COST]
            assert costs(await again.prompt("three", session=editor.session)) == [{"amount": 0.033, "currency": "USD"}]


async def test_a_model_without_a_known_price_is_asked_about_once_in_each_session(opened: Spawn) -> None:
    async with priced_model(prices="", budget="daily = 0.01") as (server, options), opened(**options) as editor:
        editor.will_answer("reject_once")
        refused = await (await editor.start_prompt("go")).failure()
        assert "Stopped before asking work/gpt-5.1: its price is not known" in refused.message
        assert not server.requests
        editor.will_answer("allow_once")
        for _ in range(3):
            outcome = await editor.prompt("go")
            assert (outcome.text, costs(outcome)) == ("fine", [None])
        assert len(editor.received("session/request_permission")) == 2
        await editor.new_session()
        await editor.prompt("go")
        asked = [frame["params"]["toolCall"] for frame in editor.received("session/request_permission")]
        assert len(asked) == 3
        reason = asked[-1]["content"][-1]["content"]["text"]
        assert "The price of work/gpt-5.1 is not known" in reason
        assert "the daily budget ($0.0100)" in reason


async def test_without_a_budget_nothing_is_asked_about_prices(opened: Spawn) -> None:
    async with priced_model(prices="") as (_, options), opened(**options) as editor:
        assert (await editor.prompt("go")).text == "fine"
        assert not editor.received("session/request_permission")


async def test_a_request_that_may_pass_a_budget_is_asked_for_every_time_when_allowed_once(opened: Spawn) -> None:
    async with priced_model(budget="daily = 0.001") as (server, options), opened(**options) as editor:
        editor.will_answer("allow_once")
        assert (await editor.prompt("one")).text == "fine"
        assert (await editor.prompt("two")).text == "fine"
        asked = [frame["params"] for frame in editor.received("session/request_permission")]
        assert len(asked) == len(server.requests) == 2
        assert [option["name"] for option in asked[0]["options"]] == [
            "Go on, this once",
            "Go on for today",
            "Stop here",
        ]
        reason = asked[1]["toolCall"]["content"][-1]["content"]["text"]
        assert "may pass the daily budget ($0.0110 of $0.0010 was spent today)" in reason
        assert [call["status"] for call in tool_calls(editor.updates()).values()] == ["completed", "completed"]


async def test_what_is_allowed_for_the_day_is_not_asked_again_in_any_session(opened: Spawn) -> None:
    async with priced_model(budget="daily = 0.001") as (_, options), opened(**options) as editor:
        editor.will_answer("allow_always")
        await editor.prompt("one")
        await editor.prompt("two")
        await editor.new_session()
        assert (await editor.prompt("three")).text == "fine"
        assert len(editor.received("session/request_permission")) == 1


async def test_what_is_allowed_for_one_session_is_asked_again_in_another(opened: Spawn) -> None:
    async with priced_model(budget="session = 0.001") as (_, options), opened(**options) as editor:
        editor.will_answer("allow_always")
        await editor.prompt("one")
        await editor.prompt("two")
        await editor.new_session()
        await editor.prompt("three")
        assert len(editor.received("session/request_permission")) == 2


@pytest.mark.parametrize("answer", ["reject_once", "cancelled", RpcFailure(-32601), {"nonsense": 1}])
async def test_without_a_clear_yes_the_model_is_not_asked_and_the_turn_says_what_to_do(
    opened: Spawn, answer: str | RpcFailure | Json
) -> None:
    async with priced_model(budget=TIGHT) as (server, options), opened(**options) as editor:
        editor.will_answer("allow_once", answer)
        await editor.prompt("one")
        prompt = await editor.start_prompt("two")
        failure = await prompt.failure()
        assert failure.code == BudgetReached.code
        for words in ("daily budget", "$0.0110 of $0.0120 was spent today", "raise `daily` below [budget]", "tomorrow"):
            assert words in str(failure)
        assert len(server.requests) == 1
        assert list(tool_calls(editor.updates()).values())[-1]["status"] == "failed"


async def test_a_session_goes_on_once_its_budget_was_raised(opened: Spawn, home: Path) -> None:
    async with priced_model(budget=TIGHT) as (server, options), opened(**options) as editor:
        editor.will_answer("allow_once", "reject_once")
        await editor.prompt("one")
        await (await editor.start_prompt("two")).failure()
        config = home / "claw" / "config.toml"
        config.write_text(config.read_text().replace("0.012", "12.0"))
        assert (await editor.prompt("three")).text == "fine"
        messages = json.loads(server.requests[-1].body)["messages"]
        said = [message["content"].rpartition("\n\n")[2] for message in messages]  # without the time and the mode
        assert said[1:] == ["one", "fine", "two", "three"]  # the question was never shown to the model


async def test_a_turn_is_cancelled_while_it_asks(opened: Spawn) -> None:
    async with priced_model(budget="daily = 0.001") as (server, options), opened(**options) as editor:
        editor.will_answer(None)
        prompt = await editor.start_prompt("go")
        await editor.wait_for_question()
        await editor.cancel()
        assert (await prompt.outcome()).stop_reason == "cancelled"
        assert not server.requests


async def test_a_warning_is_shown_once_when_a_budget_is_nearly_used_up(opened: Spawn) -> None:
    budget = "daily = 1.0\nwarn = 0.01"
    async with priced_model(budget=budget) as (_, options), opened(**options, capabilities=NOTICES) as editor:
        assert told(await editor.prompt("one")) == []
        second = await editor.prompt("two")
        assert told(second) == ["1 % of the daily budget is spent"]
        assert told(await editor.prompt("three")) == []
        await editor.new_session()
        assert told(await editor.prompt("four")) == []
        assert not editor.received("session/request_permission")


async def test_of_two_sessions_at_once_the_second_is_asked_when_both_may_pass_a_budget(opened: Spawn) -> None:
    async with priced_model(budget="daily = 0.02") as (server, options), opened(**options) as editor:
        gate = Gate()
        server.always(Say(text=("fine",), usage=Tokens(input=1000, output=1000), insert={0: gate}))
        running = await editor.start_prompt("go")
        await eventually(lambda: len(server.requests) == 1, what="a request")
        await editor.new_session()
        editor.will_answer("reject_once")
        refused = await (await editor.start_prompt("go")).failure()
        assert "Stopped before the daily budget was passed" in refused.message
        (asked,) = editor.received("session/request_permission")
        assert "beside others that may cost $0.0" in str(asked["params"])
        gate.open()
        assert (await running.outcome()).stop_reason == "end_turn"
        assert len(server.requests) == 1


async def test_what_another_process_spent_counts(opened: Spawn) -> None:
    async with priced_model(budget=TIGHT) as (server, options):
        async with opened(**options) as first:
            first.will_answer("allow_once")
            await first.prompt("one")
        async with opened(**options) as second:
            second.will_answer("reject_once")
            await (await second.start_prompt("two")).failure()
        assert len(server.requests) == 1


async def test_a_budget_that_is_used_up_stops_models_without_a_price_and_not_those_that_are_free(
    opened: Spawn, home: Path
) -> None:
    async with priced_model(budget=TIGHT) as (server, options), opened(**options) as editor:
        editor.will_answer("allow_once", "allow_once", "allow_once", "reject_once")
        await editor.prompt("one")
        await editor.prompt("two")
        config = home / "claw" / "config.toml"
        config.write_text(config.read_text().replace('prices."work/*"', 'prices."work/other"'))
        failure = await (await editor.start_prompt("three")).failure()
        assert "whose price is not known" in str(failure)
        config.write_text(
            config.read_text().replace('prices."work/other"', 'prices."work/*"').replace("= 10\n", "= 0\n")
        )
        config.write_text(config.read_text().replace("input = 1\n", "input = 0\n"))
        assert (await editor.prompt("four")).text == "fine"
        assert len(server.requests) == 3
