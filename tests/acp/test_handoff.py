"""`/handoff`: a session goes on at another place, or waits for the next one that opens it."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import TypeAlias

import anyio
import pytest

from tests.support.editors.editor import FULL
from tests.support.editors.exchange import Json, spoken
from tests.support.editors.shared_house import Guest, SharedHouse
from tests.support.program.agent_process import TIMEOUT
from tests.support.script_files import Script, call, expect, hold, say, turn

OpenHouse: TypeAlias = Callable[..., AbstractAsyncContextManager[SharedHouse]]

LONG = Script(turn(say("working "), hold("gate"), say("done"), when="long"), turn(say("short"), when="short"))
NEVER = "handoff_wait = 0"


@pytest.fixture
def open_house(project: Path, home: Path) -> OpenHouse:
    return partial(SharedHouse.opened, project=project, home=home)


async def _open(guest: Guest, session: str, *, method: str = "resume") -> None:
    guest.session = session
    params: Json = {"sessionId": session, "cwd": str(guest.project), "mcpServers": []}
    await guest.request(f"session/{method}", params)


async def _status(guest: Guest, session: str) -> str:
    return (await guest.request("session/status", {"sessionId": session}))["status"]


async def _until_saved(guest: Guest, session: str) -> None:
    with anyio.fail_after(TIMEOUT):
        while await _status(guest, session) != "saved":
            await anyio.lowlevel.checkpoint()


# ------------------------------------------------------------------ the next place


@pytest.mark.parametrize("leaves_by", ["hanging up", "closing"])
async def test_a_turn_that_was_handed_over_goes_on_and_the_next_place_sees_it_live(
    open_house: OpenHouse, leaves_by: str
) -> None:
    async with open_house(script=LONG) as house:
        ada, bob = await house.visit(), await house.visit(client="Neovim")
        await ada.new_session()
        assert f"--session {ada.session}" in (await ada.prompt("/handoff")).text
        await ada.start_prompt("long")
        await ada.wait_for_text("working")
        if leaves_by == "closing":
            assert await ada.request("session/close", {"sessionId": ada.session}) == {}
        await ada.leave()
        assert await _status(bob, ada.session) == "open"
        await _open(bob, ada.session, method="load")
        house.script.let_go("gate")
        await bob.wait_for_text("done")
        assert spoken(bob.updates(), "agent_message_chunk").endswith("working done")
        assert (await bob.prompt("short")).text == "short"


async def test_a_running_turn_is_handed_over_at_once(open_house: OpenHouse) -> None:
    async with open_house(script=LONG) as house:
        ada, bob = await house.visit(), await house.visit()
        await ada.new_session()
        await ada.start_prompt("long")
        await ada.wait_for_text("working")
        await ada.start_prompt("/handoff")
        await ada.wait_for_text(f"--session {ada.session}", kind="agent_thought_chunk")
        await ada.leave()
        await _open(bob, ada.session)
        house.script.let_go("gate")
        await bob.wait_for_text("done")
        assert "/handoff" not in spoken(bob.updates(), "user_message_chunk")  # it left with its place


async def test_a_question_waits_for_the_next_place(open_house: OpenHouse, project: Path) -> None:
    script = Script(turn(hold("gate"), call("shell", command="touch made")), turn(say("done")))
    async with open_house(script=script) as house:
        ada, bob = await house.visit(), await house.visit()
        await ada.new_session()
        await ada.prompt("/handoff")
        await ada.start_prompt("go")
        await ada.leave()
        house.script.let_go("gate")
        bob.will_answer("allow_once")
        await _open(bob, ada.session)
        await bob.wait_for_text("done")
        assert (project / "made").exists()


async def test_a_question_that_was_dismissed_waits_for_nobody(open_house: OpenHouse, project: Path) -> None:
    script = Script(turn(call("shell", command="touch made")), turn(say("not done")))
    async with open_house(script=script) as house:
        ada = await house.visit()
        await ada.new_session()
        await ada.prompt("/handoff")
        ada.will_answer("cancelled")
        assert (await ada.prompt("go")).text == "not done"


async def test_protocol_2_hands_over_too(open_house: OpenHouse, project: Path) -> None:
    script = Script(turn(hold("gate"), call("shell", command="touch made")), turn(say("done")))
    async with open_house(script=script) as house:
        ada, bob = await house.visit_2(), await house.visit_2()
        await ada.new_session()
        for prompt in ("/handoff", "go"):
            await ada.insert(prompt)
        await ada.leave()
        bob.will_answer("allow_once")
        await _open(bob, ada.session)
        house.script.let_go("gate")
        await bob.wait_for_state("idle")
        assert (project / "made").exists()


async def test_where_nobody_comes_in_time_a_question_is_a_no_and_the_session_is_closed(
    open_house: OpenHouse, project: Path
) -> None:
    script = Script(turn(hold("gate"), call("shell", command="touch made")), turn(say("not done")))
    async with open_house(script=script, config=NEVER) as house:
        ada, bob = await house.visit(), await house.visit()
        await ada.new_session()
        await ada.prompt("/handoff")
        await ada.start_prompt("go")
        await ada.leave()
        house.script.let_go("gate")
        await _until_saved(bob, ada.session)
        _, replayed = await bob.load(ada.session)
        assert spoken(replayed, "agent_message_chunk").endswith("not done")
        assert not (project / "made").exists()


async def test_the_next_place_leads_from_then_on(open_house: OpenHouse) -> None:
    async with open_house(script=LONG) as house:
        ada, bob, eve = await house.visit(), await house.visit(), await house.visit()
        await ada.new_session()
        await ada.prompt("/handoff")
        running = await ada.start_prompt("long")
        await ada.wait_for_text("working")
        await _open(bob, ada.session)
        await bob.wait_for(lambda: bob.updates("available_commands_update"), "the commands")
        await bob.leave()
        assert (await running.outcome()).stop_reason == "cancelled"
        await ada.leave()
        assert await _status(eve, ada.session) == "saved"


# ------------------------------------------------------------------ places that are there


async def test_the_only_other_place_gets_the_lead_with_its_files(open_house: OpenHouse, project: Path) -> None:
    script = Script(
        turn(
            say("working"), hold("gate"), call("read_file", path="a.txt"), call("write_file", path="b.txt", content="x")
        ),
        turn(say("done")),
    )
    async with open_house(script=script, config='mode = "auto"') as house:
        ada, bob = await house.visit(), await house.visit(client="Neovim", **FULL)
        await ada.new_session()
        await _open(bob, ada.session)
        (project / "a.txt").write_text("on the disk")
        bob.files.buffers[str(project / "a.txt")] = "in the buffer"
        await ada.start_prompt("go")
        await ada.wait_for_text("working")
        await ada.start_prompt("/handoff")
        await ada.wait_for_text("`Neovim` (place 2) leads", kind="agent_thought_chunk")
        await ada.leave()
        house.script.let_go("gate")
        await bob.wait_for_text("done")
        assert str(project / "a.txt") in bob.files.reads
        assert bob.files.writes == [str(project / "b.txt")]


async def test_of_several_places_one_is_named_and_the_lead_can_be_taken_back(open_house: OpenHouse) -> None:
    async with open_house(script=LONG) as house:
        guests = [await house.visit(client=name) for name in ("Zed", "Neovim", "Emacs")]
        zed, neovim, emacs = guests
        await zed.new_session()
        await zed.wait_for(lambda: zed.updates("available_commands_update"), "the commands")
        for guest in (neovim, emacs):
            await _open(guest, zed.session)
            await guest.wait_for(partial(guest.updates, "available_commands_update"), "the commands")
        listed = (await zed.prompt("/handoff")).text
        assert all(name in listed for name in ("`/handoff 2`: `Neovim`", "`/handoff 3`: `Emacs`", "`/handoff next`"))
        assert "There is no place `9`" in (await zed.prompt("/handoff 9")).text
        assert "`Emacs` (place 3) leads" in (await zed.prompt("/handoff 3")).text
        running = await zed.start_prompt("long")
        await neovim.wait_for_text("working")
        await neovim.start_prompt("/handoff here")
        await neovim.wait_for_text("`Neovim` (place 2) is this one", kind="agent_thought_chunk")
        await emacs.leave()
        await zed.leave()
        house.script.let_go("gate")
        await neovim.wait_for_text("done")
        assert running


async def test_files_of_a_place_that_left_are_those_of_the_disk(open_house: OpenHouse, project: Path) -> None:
    script = Script(
        turn(say("working"), hold("gate"), call("read_file", path="a.txt")), turn(expect("on the disk"), say("done"))
    )
    async with open_house(script=script) as house:
        ada, bob = await house.visit(**FULL), await house.visit()
        await ada.new_session()
        (project / "a.txt").write_text("on the disk")
        await ada.prompt("/handoff")
        await ada.start_prompt("go")
        await ada.wait_for_text("working")
        await ada.leave()
        house.script.let_go("gate")
        await _open(bob, ada.session)
        await bob.wait_for_text("done")
        assert ada.files.reads == []


# ------------------------------------------------------------------ without a hub


async def test_without_a_hub_nothing_is_handed_over_and_one_is_told_how_to_start_it(open_house: OpenHouse) -> None:
    async with open_house(script=LONG, lasting=False) as house:
        ada, bob = await house.visit(), await house.visit()
        await ada.new_session()
        assert "claw-acp serve --detach" in (await ada.prompt("/handoff")).text
        await ada.start_prompt("long")
        await ada.leave()
        assert await _status(bob, ada.session) == "saved"
