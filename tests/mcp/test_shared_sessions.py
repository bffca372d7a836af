"""MCP servers of a session that several editors have open, and of one that was handed over."""

import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.mcp.in_editor import ServerInEditor
from tests.mcp.support import AUTO, RAW_SERVER, commands, ready
from tests.support.editors.exchange import Json
from tests.support.editors.shared_house import Guest, SharedHouse
from tests.support.script_files import Script, call, say, turn

OpenHouse: TypeAlias = Callable[..., AbstractAsyncContextManager[SharedHouse]]

ECHO = Script(turn(call("raw__echo", text="hi")), turn(say("done")), loop=True)


@pytest.fixture
def open_house(project: Path, home: Path) -> OpenHouse:
    return partial(SharedHouse.opened, project=project, home=home, config=AUTO)


def _server(name: str) -> Json:
    return {"name": name, "command": sys.executable, "args": [str(RAW_SERVER), "{}"], "env": []}


async def _join(guest: Guest, session: str, *servers: Json) -> None:
    guest.session = session
    params: Json = {"sessionId": session, "cwd": str(guest.project), "mcpServers": list(servers)}
    await guest.request("session/resume", params)


async def test_the_servers_of_one_editor_go_on_when_another_joins_without_any(open_house: OpenHouse) -> None:
    async with open_house(script=ECHO) as house:
        ada, bob = await house.visit(), await house.visit()
        await ada.new_session(mcpServers=[_server("raw")])
        await ready(ada)
        await _join(bob, ada.session)
        for guest in (ada, bob):
            guest.will_answer("allow_once")
        for guest in (ada, bob):
            assert (await guest.prompt("go")).calls[0]["status"] == "completed"


async def test_the_servers_of_an_editor_that_handed_over_serve_the_next_one(open_house: OpenHouse) -> None:
    async with open_house(script=ECHO) as house:
        ada, bob = await house.visit(), await house.visit()
        await ada.new_session(mcpServers=[_server("raw")])
        await ready(ada)
        await ada.prompt("/handoff")
        await ada.leave()
        await _join(bob, ada.session, _server("other"))
        await ready(bob, "raw", "other")
        assert (await bob.prompt("go")).calls[0]["status"] == "completed"


async def test_a_server_inside_an_editor_leaves_with_it(open_house: OpenHouse) -> None:
    async with open_house(script=Script(turn(say("x")), loop=True)) as house:
        ada, bob = await house.visit(), await house.visit()
        await ada.new_session(mcpServers=[ServerInEditor(ada).declared])
        await ready(ada, "inside")
        await _join(bob, ada.session)
        await ready(bob, "inside")
        await ada.leave()
        await bob.wait_for(lambda: "inside:ready" not in commands(bob), "commands without those of the server")
        assert (await bob.prompt("go")).text == "x"
