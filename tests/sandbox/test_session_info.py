"""The sandbox of a session's commands, as its client is told it: when the session is opened, or once it is known."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from claw_acp.sandbox.machine import findings, sandbox_of_this_machine
from tests.sandbox.sessions import run, session
from tests.support.editors.exchange import Json
from tests.support.editors.shared_house import Guest, GuestV2, SharedHouse
from tests.support.script_files import Script, say, turn

KEY = "claw-acp/sandbox"


def told(editor: Guest | GuestV2) -> Sequence[str]:
    """The names in updates, in their order."""
    return [name for frame in editor.transcript if frame.update and (name := meta(frame.update))]


def meta(holder: Json) -> str:
    found: Mapping[str, str] = holder.get("_meta") or {}
    return found.get(KEY, "")


def opened(editor: Guest | GuestV2) -> str:
    """The name in the answer to `session/new`."""
    answers = [frame.message["result"] for frame in editor.transcript if "sessionId" in frame.message.get("result", {})]
    return meta(answers[-1])


def of_this_machine(cache: Path) -> str:
    found = sandbox_of_this_machine(cache=cache)
    return "none" if found is None else found.name


@pytest.mark.parametrize("protocol", [1, 2])
async def test_the_first_command_makes_the_sandbox_known_and_sessions_after_it_are_opened_with_it(
    place: Path, cache: Path, protocol: int
) -> None:
    async with session(place, run("true"), protocol=protocol) as done:
        assert opened(done.editor) == ""
        assert told(done.editor) == [of_this_machine(cache)]
        await done.editor.new_session()
        assert opened(done.editor) == of_this_machine(cache)


async def test_what_an_earlier_process_found_is_told_before_any_command(place: Path) -> None:
    found = findings(place / "home" / "claw" / "cache")
    name = next((one.name for one in found if not one.problem), "none")
    env = {"CLAW_ACP_SANDBOX": "on"}
    script = Script(turn(say("done")))
    async with SharedHouse.opened(project=place / "project", home=place / "home", script=script, env=env) as house:
        editor = await house.visit()
        await editor.new_session()
        await editor.wait_for(lambda: told(editor), "the name of the sandbox")
        assert told(editor) == [name]


async def test_that_there_is_none_because_none_is_wanted_is_in_the_answer(place: Path) -> None:
    async with session(place, run("true"), env={"CLAW_ACP_SANDBOX": "off"}) as done:
        assert (opened(done.editor), told(done.editor)) == ("off", [])
