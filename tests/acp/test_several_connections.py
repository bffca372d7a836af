"""Several editors that share sessions: who sees what, who ends what, and who waits for whom."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import TypeAlias

import anyio
import pytest

from claw_acp.core.events import TextDelta
from claw_acp.rpc.dispatcher import HIGH_WATER, OVERLOADED
from tests.support.editors.exchange import Call, Json, spoken, tool_calls
from tests.support.editors.shared_house import Guest, SharedHouse
from tests.support.program.agent_process import TIMEOUT
from tests.support.script_files import Script, Step, call, hold, say, turn

OpenHouse: TypeAlias = Callable[..., AbstractAsyncContextManager[SharedHouse]]

TALK = Script(turn(say("hello")), loop=True)
PIECE = "x" * 256 * 1024
LONG = Script(
    turn(
        say("first "),
        hold("gate"),
        *(say(PIECE) for _ in range(5 * OVERLOADED // 4 // len(PIECE))),
        say(" last"),
        when="long",
    ),
    turn(say("short"), when="short"),
)
CUT = Script(turn(say("working"), hold("never"), when="long"), turn(say("short"), when="short"))


@pytest.fixture
def open_house(project: Path, home: Path) -> OpenHouse:
    return partial(SharedHouse.opened, project=project, home=home)


async def _join(guest: Guest, session: str, *, method: str = "resume") -> Json:
    guest.session = session
    params: Json = {"sessionId": session, "cwd": str(guest.project), "mcpServers": []}
    return await guest.request(f"session/{method}", params)


async def _gone(guest: Guest, session: str) -> bool:
    """Whether a session is not active for this one."""
    prompt: Json = {"sessionId": session, "prompt": [{"type": "text", "text": "short"}]}
    failure = await guest.failing("session/prompt", prompt)
    return (failure.code, failure.data) == (-32002, {"sessionId": session})


async def _status(guest: Guest, session: str) -> str:
    return (await guest.request("session/status", {"sessionId": session}))["status"]


# ------------------------------------------------------------------ sharing


async def test_a_turn_is_seen_by_everybody_and_answered_to_the_one_who_asked(open_house: OpenHouse) -> None:
    async with open_house(script=TALK) as house:
        ada, bob = await house.visit(), await house.visit()
        await ada.new_session()
        await _join(bob, ada.session)
        assert (await ada.prompt("hi")).text == "hello"
        assert (await bob.prompt("hi, too")).text == "hello"
        assert spoken(bob.updates(), "agent_message_chunk") == "hellohello"
        assert [spoken(guest.updates(), "user_message_chunk") for guest in (ada, bob)] == ["hi, too", "hi"]
        assert spoken(ada.updates(), "agent_message_chunk") == "hellohello"


async def test_titles_modes_and_options_are_told_to_everybody(open_house: OpenHouse) -> None:
    async with open_house(script=TALK) as house:
        ada, bob, eve = [await house.visit() for _ in range(3)]
        await ada.new_session()
        await _join(bob, ada.session)
        await eve.request("session/set_title", {"sessionId": ada.session, "title": "Ours"})
        await bob.request("session/set_mode", {"sessionId": ada.session, "modeId": "plan"})
        for guest in (ada, bob):
            assert [update["title"] for update in guest.updates("session_info_update")] == ["Ours"]
            assert [update["currentModeId"] for update in guest.updates("current_mode_update")] == ["plan"]
        assert await _status(eve, ada.session) == "open"
        assert await _gone(eve, ada.session)  # being asked about it did not open it there


async def test_whoever_joins_a_running_turn_is_told_of_its_calls_first(open_house: OpenHouse, project: Path) -> None:
    script = Script(
        turn(say("wait"), call("shell", command="until [ -e go ]; do :; done; echo ran")), turn(say("done"))
    )
    async with open_house(script=script, config='mode = "auto"') as house:
        ada, bob = await house.visit(), await house.visit()
        await ada.new_session()
        prompt = await ada.start_prompt("go")
        running = await ada.wait_for_call("in_progress")
        await _join(bob, ada.session)
        await bob.wait_for(lambda: tool_calls(bob.updates()), "the call")
        assert bob.updates("user_message_chunk") == []
        assert bob.updates("tool_call")[0]["toolCallId"] == running["toolCallId"]
        (project / "go").touch()
        await prompt.result()
        await bob.wait_for_text("done")
        assert tool_calls(bob.updates())[running["toolCallId"]]["status"] == "completed"


# ------------------------------------------------------------------ leaving


async def test_closing_cancels_the_work_and_leaves_the_session_open_for_others(open_house: OpenHouse) -> None:
    async with open_house(script=CUT) as house:
        ada, bob = await house.visit(), await house.visit()
        await ada.new_session()
        await _join(bob, ada.session)
        running = await bob.start_prompt("long")
        await ada.wait_for_text("working")
        assert await ada.request("session/close", {"sessionId": ada.session}) == {}
        assert (await running.outcome()).stop_reason == "cancelled"
        assert await _gone(ada, ada.session)
        assert await _status(ada, ada.session) == "open"
        assert (await bob.prompt("short")).text == "short"
        seen = len(ada.updates())
        await bob.prompt("short")
        assert len(ada.updates()) == seen
        await bob.request("session/close", {"sessionId": bob.session})
        assert await _status(ada, ada.session) == "saved"


async def test_when_all_close_at_once_the_session_is_closed(open_house: OpenHouse) -> None:
    async with open_house(script=CUT) as house:
        ada, bob, eve = [await house.visit() for _ in range(3)]
        await ada.new_session()
        await _join(bob, ada.session)
        running = await ada.start_prompt("long")
        await bob.wait_for_text("working")
        calls = [await each.start("session/close", {"sessionId": ada.session}) for each in (ada, bob)]
        assert [await each.result() for each in calls] == [{}, {}]
        assert (await running.outcome()).stop_reason == "cancelled"
        assert await _status(eve, ada.session) == "saved"


async def test_who_hangs_up_ends_what_they_started_and_closes_only_what_nobody_else_watches(
    open_house: OpenHouse,
) -> None:
    async with open_house(script=CUT) as house:
        ada, bob, eve = [await house.visit() for _ in range(3)]
        await ada.new_session()
        alone = ada.session
        await ada.new_session()
        shared = ada.session
        await _join(bob, shared)
        await ada.start_prompt("long")
        await bob.wait_for_text("working")
        await ada.leave()
        assert await _status(eve, alone) == "saved"
        assert await _status(eve, shared) == "open"
        assert (await bob.prompt("short")).text == "short"
        await bob.leave()
        assert await _status(eve, shared) == "saved"


@pytest.mark.parametrize("method", ["delete", "archive"])
async def test_what_is_deleted_or_archived_is_gone_for_everybody(open_house: OpenHouse, method: str) -> None:
    async with open_house(script=CUT) as house:
        ada, bob, eve = [await house.visit() for _ in range(3)]
        await ada.new_session()
        await _join(bob, ada.session)
        running = await ada.start_prompt("long")
        await bob.wait_for_text("working")
        assert await eve.request(f"session/{method}", {"sessionId": ada.session}) == {}
        assert (await running.outcome()).stop_reason == "cancelled"
        assert await _gone(ada, ada.session)
        assert await _gone(bob, ada.session)
        for guest in (ada, bob):
            failure = await guest.failing("session/set_mode", {"sessionId": ada.session, "modeId": "plan"})
            assert failure.code == -32002
        if method == "archive":
            await _join(bob, ada.session, method="load")
            assert (await bob.prompt("short")).text == "short"


class _Slow:
    """Something that a tool kept, and that takes its time to be freed."""

    def __init__(self) -> None:
        self.asked = anyio.Event()
        self.freed = anyio.Event()

    async def aclose(self) -> None:
        self.asked.set()
        await self.freed.wait()


async def test_a_session_that_is_being_closed_takes_no_prompt(open_house: OpenHouse) -> None:
    async with open_house(script=TALK) as house:
        ada, bob = await house.visit(), await house.visit()
        await ada.new_session()
        await _join(bob, ada.session)
        kept = _Slow()
        (await house.session(ada.session)).tool_state.items["slow"] = kept
        archive = await ada.start("session/archive", {"sessionId": ada.session})
        await kept.asked.wait()
        assert await _gone(bob, ada.session)
        assert await _gone(ada, ada.session)
        kept.freed.set()
        assert await archive.result() == {}


# ------------------------------------------------------------------ slow readers


async def test_one_who_does_not_read_holds_up_nobody_and_is_disconnected(open_house: OpenHouse) -> None:
    async with open_house(script=LONG) as house:
        ada, bob = await house.visit(), await house.visit()
        await ada.new_session()
        await _join(bob, ada.session)
        prompt = await ada.start_prompt("long")
        await bob.wait_for_text("first")
        bob.wire.stall()
        house.script.let_go("gate")
        assert (await prompt.outcome()).text.endswith(" last")
        await bob.until_ended()
        assert bob.wire.backlog <= OVERLOADED + 2 * len(PIECE)
        assert (await ada.prompt("short")).text == "short"


async def test_one_who_only_pauses_gets_everything(open_house: OpenHouse) -> None:
    pieces = [say(PIECE) for _ in range(OVERLOADED // len(PIECE) // 2)]  # more than is kept for one who reads alone
    script = Script(turn(say("first "), hold("gate"), *pieces, say(" last")), loop=True)
    async with open_house(script=script) as house:
        ada, bob = await house.visit(), await house.visit()
        await ada.new_session()
        await _join(bob, ada.session)
        prompt = await ada.start_prompt("long")
        await bob.wait_for_text("first")
        bob.wire.stall()
        house.script.let_go("gate")
        whole = (await prompt.outcome()).text
        assert bob.wire.backlog > HIGH_WATER
        bob.wire.go_on()
        await bob.wait_for_text(" last")
        assert spoken(bob.updates(), "agent_message_chunk") == whole


async def test_where_nobody_reads_the_turn_waits_for_the_first_who_does(open_house: OpenHouse) -> None:
    async with open_house(script=LONG) as house:
        ada, bob, eve = [await house.visit() for _ in range(3)]
        await ada.new_session()
        await _join(bob, ada.session)
        prompt = await ada.start_prompt("long")
        await bob.wait_for_text("first")
        ada.wire.stall()
        bob.wire.stall()
        house.script.let_go("gate")
        await _full(ada)
        await eve.request("session/list", {})  # others are served meanwhile
        assert max(ada.wire.backlog, bob.wire.backlog) < 2 * HIGH_WATER
        ada.wire.go_on()
        assert (await prompt.outcome()).text.endswith(" last")
        await bob.until_ended()


async def test_a_single_reader_is_waited_for_as_long_as_it_takes(open_house: OpenHouse) -> None:
    async with open_house(script=LONG) as house:
        ada, eve = await house.visit(), await house.visit()
        await ada.new_session()
        prompt = await ada.start_prompt("long")
        await ada.wait_for_text("first")
        ada.wire.stall()
        house.script.let_go("gate")
        await _full(ada)
        for _ in range(100):
            await eve.request("session/list", {})
        assert ada.wire.backlog < 2 * HIGH_WATER
        ada.wire.go_on()
        assert (await prompt.outcome()).text.endswith(" last")


async def test_a_turn_that_waits_for_one_reader_goes_on_for_the_next_who_comes(open_house: OpenHouse) -> None:
    script = Script(turn(say("first "), hold("gate"), *(say(PIECE) for _ in range(12)), say(" last")))
    async with open_house(script=script) as house:
        ada, bob = await house.visit(), await house.visit()
        await ada.new_session()
        prompt = await ada.start_prompt("long")
        await ada.wait_for_text("first")
        ada.wire.stall()
        house.script.let_go("gate")
        await _full(ada)
        await _join(bob, ada.session)
        await bob.wait_for_text(" last")
        ada.wire.go_on()
        assert len((await prompt.outcome()).text) == len("first  last") + 12 * len(PIECE)


async def _full(guest: Guest) -> None:
    await _until(lambda: guest.wire.backlog > HIGH_WATER)


async def _until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(TIMEOUT):
        while not condition():
            await anyio.lowlevel.checkpoint()


# ------------------------------------------------------------------ loading while others work


async def _start_load(guest: Guest, session: str, **more: object) -> Call:
    params: Json = {"sessionId": session, "cwd": str(guest.project), "mcpServers": [], **more}
    return await guest.start("session/load", params)


async def test_what_streams_while_a_session_is_loaded_is_shown_once_and_in_order(open_house: OpenHouse) -> None:
    pieces = [say(f"{number} ") for number in range(600)]
    async with open_house(script=Script(turn(say("begin "), hold("gate"), *pieces))) as house:
        ada, bob = await house.visit(), await house.visit()
        await ada.new_session()
        prompt = await ada.start_prompt("go")
        await ada.wait_for_text("begin")
        house.script.let_go("gate")
        loads = [await _start_load(guest, ada.session) for guest in (bob, ada, bob, ada)]
        for load in loads:
            await load.result()
        whole = "begin " + "".join(f"{number} " for number in range(600))
        assert (await prompt.outcome()).stop_reason == "end_turn"
        last = loads[3]
        shown = [frame.update for frame in ada.transcript[last.begin :] if frame.update]
        replays = [place for place, update in enumerate(shown) if update["sessionUpdate"] == "user_message_chunk"]
        assert spoken(shown[replays[-1] :], "agent_message_chunk") == whole
        await bob.wait_for_text("599 ")
        assert spoken(bob.updates()[_last_replay(bob) :], "agent_message_chunk") == whole


def _last_replay(guest: Guest) -> int:
    kinds = [update["sessionUpdate"] for update in guest.updates()]
    return len(kinds) - 1 - kinds[::-1].index("user_message_chunk")


async def test_what_happens_while_a_loaded_session_is_still_being_opened_is_shown_once(open_house: OpenHouse) -> None:
    changed: Json = {
        "mode": "append",
        "content": [{"type": "text", "text": "Be brief."}],
    }  # opening waits for the store
    async with open_house(script=TALK) as house:
        ada = await house.visit()
        await ada.new_session()
        await ada.prompt("hi")
        session = await house.session(ada.session)
        load = await _start_load(ada, ada.session, systemPrompt=changed)
        await _let_others_work(10)
        numbers = range(300)
        for number in numbers:
            await session.publish(TextDelta(item="msg_more", text=f"{number} "))
            await anyio.lowlevel.checkpoint()
        await load.result()
        await ada.request("session/list", {})
        replayed = ada.updates()[_last_replay(ada) :]
        assert spoken(replayed, "agent_message_chunk") == "hello" + "".join(f"{number} " for number in numbers)


def _stuck_turn(*steps: Step) -> Script:
    """A turn that has said much before it waits at the gate, and then goes on with these steps."""
    return Script(turn(*(say(PIECE) for _ in range(10)), hold("gate"), *steps), turn(say("done")))


async def _start_stuck_load(house: SharedHouse, ada: Guest) -> tuple[Call, Call]:
    """A turn at its gate and a load whose replay cannot go on, while somebody else keeps up with the session."""
    await ada.new_session()
    prompt = await ada.start_prompt("go")
    await ada.wait_for(lambda: len(spoken(ada.updates(), "agent_message_chunk")) == 10 * len(PIECE), "all")
    bob = await house.visit()
    bob.will_answer(None)
    await _join(bob, ada.session)
    ada.wire.stall()
    load = await _start_load(ada, ada.session)
    await _full(ada)
    return prompt, load


async def test_a_turn_that_ends_while_its_session_is_loaded_is_answered_after_its_last_update(
    open_house: OpenHouse,
) -> None:
    async with open_house(script=_stuck_turn(say("last"))) as house:
        ada = await house.visit()
        prompt, load = await _start_stuck_load(house, ada)
        house.script.let_go("gate")
        session = await house.session(ada.session)
        await _until(lambda: not session.busy)
        ada.wire.go_on()
        await load.result()
        await prompt.result()
        assert prompt.end is not None
        told = [frame.update for frame in ada.transcript[load.begin : prompt.end] if frame.update]
        assert spoken(told, "agent_message_chunk").endswith("last")


async def test_a_question_about_a_call_comes_after_the_call_also_during_a_load(open_house: OpenHouse) -> None:
    async with open_house(script=_stuck_turn(call("shell", command="touch made"))) as house:
        ada = await house.visit()
        ada.will_answer("reject_once")
        prompt, load = await _start_stuck_load(house, ada)
        house.script.let_go("gate")
        session = await house.session(ada.session)
        await _until(lambda: session.history.unfinished_calls)
        await _let_others_work(100)
        ada.wire.go_on()
        await load.result()
        assert (await prompt.outcome()).stop_reason == "end_turn"  # the judge refuses a question before its call
        assert len(ada.received("session/request_permission")) == 1


async def _let_others_work(rounds: int) -> None:
    for _ in range(rounds):
        await anyio.lowlevel.checkpoint()
