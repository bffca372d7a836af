"""The limits of a turn: announced to the model before they are reached, and to the person when they are."""

from pathlib import Path
from typing import cast

import pytest

from claw_acp.agent.turn_limits import TurnLimits, TurnMeter
from claw_acp.core.messages import Usage
from claw_acp.core.money import from_dollars
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json
from tests.support.fixed_clock import FixedClock
from tests.support.servers.model_replies import Call, Say, Tokens
from tests.support.servers.model_server import ModelServer
from tests.support.servers.priced_model import priced_model

READS = [Say(calls=(Call(name="read_file", arguments={"path": f"{name}.txt"}),)) for name in "abcdefghijkl"]


@pytest.mark.parametrize(
    ("limits", "calm", "near", "words"),
    [
        (TurnLimits(requests=10), 7, 8, "8 of 10 model requests"),
        (TurnLimits(tokens=10_000), 7, 8, "8,000 of 10,000 tokens"),
        (TurnLimits(cost=from_dollars(0.10)), 7, 8, "$0.0800 of $0.1000"),
        (TurnLimits(minutes=10), 7, 8, "8 of 10 minutes"),
    ],
    ids=["requests", "tokens", "cost", "time"],
)
def test_each_limit_is_announced_at_four_fifths_and_reached_at_its_end(
    limits: TurnLimits, calm: int, near: int, words: str
) -> None:
    clock, done = FixedClock(), 0
    meter = TurnMeter(limits, clock=clock, cost=lambda: done * from_dollars(0.01))
    told: list[str | None] = []
    while meter.reached is None:
        meter.count(Usage(input_tokens=900, output_tokens=100))
        clock.seconds += 60
        done += 1
        told.append(meter.warning)
    assert (told[calm - 1], done) == (None, 10)
    assert words in (told[near - 1] or "")
    assert words.rpartition(" of ")[2] == meter.reached


def test_time_that_the_person_takes_does_not_count() -> None:
    clock = FixedClock()
    meter = TurnMeter(TurnLimits(minutes=10), clock=clock, waited=lambda: 3600.0)
    meter.count(None)
    clock.seconds += 3600 + 60
    assert (meter.warning, meter.reached) == (None, None)


async def test_the_model_is_told_of_a_limit_in_the_last_requests_only_and_the_person_at_its_end(
    opened: Spawn, project: Path
) -> None:
    for name in "abcdefghijkl":
        (project / f"{name}.txt").write_text(f"{name} is here\n")
    async with ModelServer() as server:
        server.will_reply(*READS[:5], Say(text=("half done",)))
        env = {"OPENAI_API_KEY": "sk-test-0123456789", "OPENAI_BASE_URL": server.openai_url}
        config = 'model = "openai/test-model"\n[limits]\nmax_turn_requests = 5\n'
        async with opened(config=config, env=env) as editor:
            outcome = await editor.prompt("go")
        bodies = [cast("Json", request.json) for request in server.requests if request.method == "POST"]
    last = [str(body["messages"][-1]["content"]) for body in bodies]
    assert [("4 of 5 model requests" in text) for text in last] == [False] * 4 + [True, False]
    assert "reached its limit of 5 model requests" in last[-1]
    assert bodies[-1]["messages"][:-1][: len(bodies[-2]["messages"]) - 1] == bodies[-2]["messages"][:-1]
    assert (outcome.stop_reason, "half done" in outcome.text) == ("max_turn_requests", True)
    assert "The turn ends at its limit of 5 model requests" in str(outcome.updates)


@pytest.mark.parametrize(
    ("limit", "words"), [("max_turn_tokens = 4000", "4,000 tokens"), ("max_turn_cost = 0.02", "$0.02")]
)
async def test_a_turn_ends_at_its_tokens_and_at_its_cost(opened: Spawn, limit: str, words: str) -> None:
    async with priced_model() as (server, options):
        server.will_reply(
            *(Say(calls=reply.calls, usage=Tokens(input=1000, output=1000)) for reply in READS[:2]),
            Say(text=("so far",)),
        )
        limited = {**options, "config": f"{options['config']}\n[limits]\n{limit}\n"}
        async with opened(**limited) as editor:
            outcome = await editor.prompt("go")
        assert (outcome.stop_reason, "so far" in outcome.text) == ("max_turn_requests", True)
        assert f"limit of {words}" in str(outcome.updates)
