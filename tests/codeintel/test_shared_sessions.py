"""Language servers of a session that several editors have open, and of one that was handed over, in a hub."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pytest

from claw_acp.core.environment import working_in
from tests.codeintel.conftest import Machine
from tests.codeintel.faulty_server import put
from tests.support.editors.exchange import Json
from tests.support.editors.shared_house import Guest, SharedHouse
from tests.support.script_files import Script, Turn, call, expect, say, turn

OpenHouse: TypeAlias = Callable[..., AbstractAsyncContextManager[SharedHouse]]


@pytest.fixture
def open_house(project: Path, home: Path) -> OpenHouse:
    return partial(SharedHouse.opened, project=project, home=home, config='mode = "edit"')


async def _join(guest: Guest, session: str) -> None:
    guest.session = session
    params: Json = {"sessionId": session, "cwd": str(guest.project), "mcpServers": []}
    await guest.request("session/resume", params)


def _edit(text: str, *, shown: str) -> list[Turn]:
    return [turn(call("write_file", path="a.py", content=text)), turn(say("done")), turn(expect(shown), say(", sorry"))]


async def test_each_environment_that_leads_a_session_has_a_language_server_of_its_own_which_goes_on(
    open_house: OpenHouse, machine: Machine, tmp_path: Path
) -> None:
    environment = machine()
    log = put("none", folder=tmp_path / "programs")
    edits = [
        *_edit("wrong 1\n", shown="it is wrong 1 by Ada"),
        *_edit("wrong 2\n", shown="it is wrong 2 by Ada"),
        *_edit("wrong 3\n", shown="it is wrong 3 by Bob"),
        *_edit("wrong 4\n", shown="it is wrong 4 by Ada"),
    ]
    async with open_house(script=Script(*edits), env=environment) as house:
        with working_in({**environment, "SEEN_BY": " by Ada", "SHLVL": "1"}):
            ada = await house.visit()
        with working_in({**environment, "SEEN_BY": " by Bob"}):
            bob = await house.visit()
        with working_in({**environment, "SEEN_BY": " by Ada", "SHLVL": "2"}):
            ada_later = await house.visit()
        await ada.new_session()
        for _ in range(2):
            assert (await ada.prompt("go")).text == "done, sorry"
        await ada.prompt("/handoff")
        await ada.leave()
        for guest in (bob, ada_later):
            await _join(guest, ada.session)
            assert (await guest.prompt("go")).text == "done, sorry"
        assert len(log.read_text().split()) == 2
