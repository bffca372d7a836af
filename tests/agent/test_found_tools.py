"""Tools that a model finds before it calls them: what its requests list."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import cast

import pytest

from tests.support.editors.exchange import Json
from tests.support.editors.shared_house import SharedHouse
from tests.support.script_files import Script
from tests.support.servers.model_replies import Call
from tests.support.servers.model_server import ModelServer

ENV = {"CLAW_ACP_MODEL": "work/m"}


@pytest.fixture
async def server() -> AsyncGenerator[ModelServer]:
    async with ModelServer() as running:
        yield running


async def test_a_found_tool_is_listed_last_from_then_on_also_in_a_new_process(
    server: ModelServer, project: Path, home: Path
) -> None:
    server.will_say(calls=[Call(name="find_tools", arguments='{"query":"exact calculation of an expression"}')])
    server.will_say(calls=[Call(name="calculator", arguments='{"expression":"2**64"}')])
    for answer in ("18446744073709551616", "It is as it was."):
        server.will_say(answer)
    config = f'[providers.work]\nkind = "openai"\nbase_url = "{server.openai_url}"\nmodels = ["m"]'
    async with SharedHouse.opened(project=project, home=home, script=Script(), config=config, env=ENV) as house:
        guest = await house.visit()
        await guest.new_session()
        outcome = await guest.prompt("2 to the power of 64?")
        assert [call["status"] for call in outcome.calls] == ["completed", "completed"]
    async with SharedHouse.opened(project=project, home=home, script=Script(), config=config, env=ENV) as house:
        other = await house.visit()
        await other.load(guest.session)
        await other.prompt("Sure?")
    first, *later = [cast("Json", request.json)["tools"] for request in server.requests if request.method == "POST"]
    assert "calculator" not in [tool["function"]["name"] for tool in first]
    assert "calculator" in next(t["function"] for t in first if t["function"]["name"] == "find_tools")["description"]
    for tools in later:
        assert tools[:-1] == first
        assert tools[-1]["function"]["name"] == "calculator"
    assert len(later) == 3


async def test_words_that_fit_no_tool_are_answered_with_names(server: ModelServer, project: Path, home: Path) -> None:
    server.will_say(calls=[Call(name="find_tools", arguments='{"query":"calculatr"}')])
    server.will_say("Hm.")
    config = f'[providers.work]\nkind = "openai"\nbase_url = "{server.openai_url}"\nmodels = ["m"]'
    async with SharedHouse.opened(project=project, home=home, script=Script(), config=config, env=ENV) as house:
        guest = await house.visit()
        await guest.new_session()
        await guest.prompt("go")
    *_, last = cast("Json", server.requests[-1].json)["messages"]
    assert "Try a name (calculator" in last["content"]
