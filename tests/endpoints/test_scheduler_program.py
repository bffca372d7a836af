"""Programs that say what is due, in a real hub: each fire runs once, and its result goes back."""

from pathlib import Path
from typing import Any

import pytest

from claw_acp.schedule.program_fires import MOST_WAITING
from tests.endpoints.program import Json, Program, attached
from tests.support.program.processes import run_program
from tests.support.script_files import Script, call, hold, say, turn
from tests.support.servers.hub import Hub, environment_of

pytestmark = pytest.mark.forked


DONE = Script(turn(say("done")))


async def fired(program: Program, fire_id: str, **more: Any) -> Json:
    """The answer to a fire."""
    return await program.request("schedule/fire", fireId=fire_id, prompt="look", **more)


async def finished(program: Program) -> Json:
    """The next result."""
    while True:
        message = next((one for one in program.heard if one.get("method") == "schedule/finished"), None)
        if message is not None:
            program.heard.remove(message)
            return message["params"]
        assert await program.receive() is not None, "it was let go"


async def test_a_fire_runs_once_and_its_result_goes_back(home: Path) -> None:
    async with Hub.started(home=home, script=DONE) as hub, attached(hub.socket) as program:
        await program.introduce("scheduler")
        assert (await fired(program, "monday", job="Weekly look", folder=str(home)))["result"] == {"known": False}
        result = await finished(program)
        assert (result["fireId"], result["status"], result["text"]) == ("monday", "succeeded", "done")
        assert (await fired(program, "monday"))["result"] == {"known": True}
        assert await finished(program) == result
        assert (await fired(program, "tuesday"))["result"] == {"known": False}
        assert (await finished(program))["fireId"] == "tuesday"
        shown = run_program("cron", "show", "Weekly-look", cwd=home, env=environment_of(home)).stdout
        assert "succeeded" in shown
        assert "    taken by the program counter\n" in shown
        assert (
            "counter 1 fires schedules" in run_program("serve", "--status", cwd=home, env=environment_of(home)).stdout
        )


async def test_a_fire_outlives_its_connection_and_the_result_waits_for_the_same_program(home: Path) -> None:
    async with Hub.started(home=home, script=DONE) as hub:
        async with attached(hub.socket) as first:
            await first.introduce("scheduler")
            first.deaf = True
            await fired(first, "one", folder=str(home))
            lost = await finished(first)  # heard, and not answered: nobody knows that it arrived
        async with attached(hub.socket) as other:
            await other.introduce("scheduler", endpointInfo={"name": "other", "version": "1"})
            assert (await fired(other, "one", folder=str(home)))["result"] == {"known": False}
            assert (await finished(other))["sessionId"] != lost["sessionId"]
        async with attached(hub.socket) as again:
            await again.introduce("scheduler")
            assert await finished(again) == lost


async def test_a_stored_fire_has_a_result_whenever_the_hub_is_killed(home: Path) -> None:
    async with Hub.started(home=home, script=Script(turn(hold("never")))) as hub, attached(hub.socket) as program:
        await program.introduce("scheduler")
        await fired(program, "one", folder=str(home))
    async with Hub.started(home=home, script=DONE) as hub, attached(hub.socket) as program:
        await program.introduce("scheduler")
        result = await finished(program)  # interrupted, if it had begun already
    assert (result["fireId"], result["status"] in {"interrupted", "succeeded"}) == ("one", True)


async def test_nobody_is_asked_and_what_was_refused_is_told(home: Path) -> None:
    script = Script(turn(call("write_file", path="a.txt", content="x")), turn(say("I could not")))
    async with Hub.started(home=home, script=script) as hub, attached(hub.socket) as program:
        await program.introduce("scheduler")
        await fired(program, "one", folder=str(home), mode="ask")
        result = await finished(program)
    assert "nobody was there to allow it" in result["detail"]
    assert not (home / "a.txt").exists()


async def test_a_prompt_of_a_program_may_hold_text_of_strangers_so_nothing_reaches_out_unasked(home: Path) -> None:
    leak = call("fetch", url="http://127.0.0.1:9/?key=42")
    script = Script(turn(leak, call("write_file", path="new.txt", content="x")), turn(say("I could not")))
    async with Hub.started(home=home, script=script) as hub, attached(hub.socket) as program:
        await program.introduce("scheduler")
        await fired(program, "one", folder=str(home), mode="auto")
        result = await finished(program)
    assert result["detail"].count("text from the attached program counter is in this conversation") == 2
    assert not (home / "new.txt").exists()


WRONG: dict[str, Json] = {
    "fireId": {"fireId": ""},
    "prompt": {"prompt": ""},
    "folder": {"folder": "here"},
    "tools": {"tools": ["x" * 200]},
    "mode": {"mode": "yolo"},
    "budget": {"budget": 0},
    "timeout": {"timeout": -1},
    "mode: a job that belongs to a session": {"session": "ses_1", "mode": "ask"},
    "prompt: must be text": {"prompt": "a\0b"},
}


async def test_a_wrong_fire_is_refused_with_its_place_and_a_flood_is_bounded(home: Path) -> None:
    script = Script(*(turn(hold("never")) for _ in range(4)))
    async with Hub.started(home=home, script=script) as hub, attached(hub.socket) as program:
        await program.introduce("scheduler")
        for words, wrong in WRONG.items():
            answer = await program.request("schedule/fire", **{"fireId": "one", "prompt": "look", **wrong})
            assert words in answer["error"]["message"]
        for number in range(MOST_WAITING):
            assert "result" in await fired(program, str(number), folder=str(home))
        assert "fire again later" in (await fired(program, "more"))["error"]["message"]
        assert (await fired(program, "1"))["result"] == {"known": True}
