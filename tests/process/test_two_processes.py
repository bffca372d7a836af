"""Two processes on one store."""

import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import spoken
from tests.support.script_files import Script, hold, say, turn

pytestmark = pytest.mark.forked


@pytest.mark.case(12)
async def test_a_session_that_runs_elsewhere_is_refused_by_name_and_can_be_read(spawn: Spawn, opened: Spawn) -> None:
    script = Script(turn(say("busy"), hold("gate"), say(" done")), turn(say("mine now")))
    async with opened(script=script) as first:
        running = await first.start_prompt("go")
        await first.wait_for_text("busy")
        async with spawn(script=script) as second:
            await second.initialize()
            await second.load(first.session)
            refused = await (await second.start_prompt("me too")).failure()
            assert (refused.code, str(first.process.pid) in refused.message) == (-31010, True)
            assert refused.data == {"sessionId": first.session, "pid": first.process.pid}
            first.script.let_go("gate")
            assert (await running.outcome()).text == "busy done"
            assert (await second.prompt("me too")).text == "mine now"


@pytest.mark.case(12)
async def test_turns_of_another_process_are_part_of_the_conversation(spawn: Spawn, opened: Spawn) -> None:
    script = Script(turn(say("first")), turn(say("second")), turn(say("third")))
    async with opened(script=script) as first, spawn(script=script) as second:
        await first.prompt("one")
        await second.initialize()
        await second.load(first.session)
        assert (await second.prompt("two")).text == "second"
        assert (await first.prompt("three")).text == "third"
        _, replayed = await second.load(first.session)
        assert spoken(replayed, "agent_message_chunk") == "firstsecondthird"


async def test_sessions_of_two_processes_do_not_hold_each_other_up(opened: Spawn) -> None:
    script = Script(turn(say("a"), hold("gate")), loop=True)
    async with opened(script=script) as first, opened(script=script) as second:
        prompts = [await first.start_prompt("go"), await second.start_prompt("go")]
        await first.wait_for_text("a")
        await second.wait_for_text("a")
        listed = (await second.request("session/list", {}))["sessions"]
        assert {item["sessionId"] for item in listed} == {first.session, second.session}
        script.let_go("gate")
        assert [(await prompt.outcome()).stop_reason for prompt in prompts] == ["end_turn", "end_turn"]


async def test_a_session_deleted_elsewhere_is_gone_here(spawn: Spawn, opened: Spawn) -> None:
    script = Script(turn(say("a")), loop=True)
    async with opened(script=script) as first, spawn(script=script) as second:
        await first.prompt("go")
        await second.initialize()
        assert await second.request("session/delete", {"sessionId": first.session}) == {}
        assert (await first.request("session/list", {})) == {"sessions": []}
        assert (await (await first.start_prompt("on")).failure()).code == -32002
