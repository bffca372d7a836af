"""How turns end, and what goes wrong in them without ending them."""

from pathlib import Path
from typing import cast

import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, shown_text
from tests.support.script_files import Script, call, expect, raw_call, say, stop, turn
from tests.support.servers.model_replies import Call, Say
from tests.support.servers.model_server import ModelServer

READ = turn(call("read_file", path="a.txt"))
NO_RETRY = "[providers.openai]\nretries = 0\n"
LIMIT = "[limits]\nmax_turn_requests = 2\n"


async def test_at_the_limit_of_requests_the_model_may_say_how_far_it_got(opened: Spawn) -> None:
    script = Script(
        READ, READ, turn(expect("reached its limit of 2 model requests"), say("half done")), turn(say("next"))
    )
    async with opened(script=script, config=LIMIT) as editor:
        outcome = await editor.prompt("go")
        assert (outcome.stop_reason, outcome.text) == ("max_turn_requests", "half done")
        assert [tool["status"] for tool in outcome.calls] == ["completed", "completed"]
        assert (await editor.prompt("on")).text == "next"


async def test_the_last_words_at_the_limit_are_asked_for_without_tools(opened: Spawn) -> None:
    async with ModelServer() as server:
        server.always(Say(calls=(Call(name="read_file", arguments={"path": "a.txt"}),)))
        async with opened(config=f'model = "openai/test-model"\n{LIMIT}', env=_asks(server)) as editor:
            outcome = await editor.prompt("go")
            assert (outcome.stop_reason, len(outcome.calls)) == ("max_turn_requests", 2)
            assert outcome.text.startswith("The turn ended at its limit of 2 model requests.")
        assert [request.json.get("tool_choice", "auto") for request in server.requests] == ["auto", "auto", "none"]


async def test_a_call_made_instead_of_last_words_is_not_run(opened: Spawn, project: Path) -> None:
    script = Script(READ, READ, turn(say("just one more"), call("shell", command="touch x")), turn(say("next")))
    async with opened(script=script, config=f'mode = "auto"\n{LIMIT}') as editor:
        assert (await editor.prompt("go")).stop_reason == "max_turn_requests"
        assert (await editor.prompt("on")).text == "next"
    assert not (project / "x").exists()


@pytest.mark.parametrize("reason", ["max_tokens", "refusal"])
async def test_the_models_own_reason_to_stop_is_the_turns(opened: Spawn, reason: str) -> None:
    async with opened(script=Script(turn(say("as far as"), stop(reason)), turn(say("next")))) as editor:
        outcome = await editor.prompt("go")
        assert (outcome.stop_reason, outcome.text) == (reason, "as far as")
        assert (await editor.prompt("on")).stop_reason == "end_turn"


@pytest.mark.parametrize(("reason", "words"), [("refusal", "declined"), ("max_tokens", "Raise max_tokens")])
async def test_a_model_that_stops_without_a_word_is_spoken_for(opened: Spawn, reason: str, words: str) -> None:
    async with opened(script=Script(turn(stop(reason)))) as editor:
        outcome = await editor.prompt("go")
        assert outcome.stop_reason == reason
        assert words in outcome.text


THINKING, BLANKS, NOTHING = Say(thinking=("hm",)), Say(text=(" \n",)), Say()


@pytest.mark.parametrize("empty", [THINKING, BLANKS, NOTHING], ids=["thinking", "blanks", "nothing"])
async def test_an_empty_answer_is_asked_for_once_more(opened: Spawn, empty: Say) -> None:
    async with ModelServer() as server:
        server.will_reply(empty, Say(text=("It says hello.",)))
        async with opened(config=f'model = "openai/test-model"\n{NO_RETRY}', env=_asks(server)) as editor:
            outcome = await editor.prompt("go")
            assert (outcome.stop_reason, outcome.text.strip()) == ("end_turn", "It says hello.")
        first, second = [cast("Json", request.json) for request in server.requests if request.method == "POST"]
        assert second["messages"][:-1] == first["messages"]
        assert "was empty" in second["messages"][-1]["content"]


async def test_a_model_that_stays_silent_is_spoken_for(opened: Spawn) -> None:
    async with ModelServer() as server:
        server.will_reply(BLANKS, THINKING, Say(text=("next",)))
        async with opened(config=f'model = "openai/test-model"\n{NO_RETRY}', env=_asks(server)) as editor:
            outcome = await editor.prompt("go")
            assert outcome.stop_reason == "end_turn"
            assert "ended its answer twice without a word" in outcome.text
            assert (await editor.prompt("on")).text == "next"


def _asks(server: ModelServer) -> dict[str, str]:
    return {"OPENAI_API_KEY": "sk-test-0123456789", "OPENAI_BASE_URL": server.openai_url}


@pytest.mark.parametrize("levels", [65, 900])
async def test_arguments_nested_too_deeply_are_an_answer_to_the_model(opened: Spawn, levels: int) -> None:
    arguments = '{"path":' + "[" * levels + "]" * levels + "}"
    script = Script(turn(raw_call("read_file", arguments)), turn(expect("arguments of read_file"), say("a pity")))
    async with opened(script=script) as editor:
        outcome = await editor.prompt("go")
        assert (outcome.stop_reason, outcome.text) == ("end_turn", "a pity")
        assert outcome.calls[0]["status"] == "failed"
        assert "arguments of read_file" in shown_text(outcome.calls[0])
