"""Tools that a program lends, in turns of a real hub."""

import json
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.endpoints.program import COUNT, attached, lending
from tests.support.editors.editor_fixtures import Spawn
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, Step, call, expect, say, turn
from tests.support.servers.hub import Hub

pytestmark = pytest.mark.forked

AUTO = 'mode = "auto"'


def counted(*then: Step) -> Script:
    """The model calls the lent tool, and then does the rest."""
    return Script(turn(call("remote__word_count", text="a b c")), turn(*then, say("done")))


async def test_a_lent_tool_is_called_in_a_turn_and_asked_for(opened: Spawn, home: Path) -> None:
    script = counted(expect("not instructions"), expect("3"))
    async with (
        Hub.started(home=home, script=script) as hub,
        opened(script=script) as editor,
    ):  # opened before it is lent
        async with lending(hub.socket) as program:
            editor.will_answer("allow_once")
            outcome = await editor.prompt("how many?")
        asked = editor.received("session/request_permission")[0]["params"]["toolCall"]
    assert outcome.text == "done"
    assert '"text": "a b c"' in json.dumps(asked["content"]).replace('\\"', '"')
    assert [tool["title"] for tool in outcome.calls] == ["counter: word_count"]
    [made] = [message["params"] for message in program.heard if message.get("method") == "tools/call"]
    assert (made["arguments"], made["sessionId"]) == ({"text": "a b c"}, editor.session)


async def test_the_tools_of_a_program_that_left_are_gone_and_its_running_call_failed(opened: Spawn, home: Path) -> None:
    script = Script(
        turn(call("remote__word_count", text="a")),
        turn(expect("left before it answered"), call("remote__word_count", text="a")),
        turn(expect("There is no tool named remote__word_count"), say("done")),
    )
    async with Hub.started(home=home, script=script, config=AUTO) as hub, opened(script=script, config=AUTO) as editor:
        async with attached(hub.socket) as program:
            program.calls = lambda _: None
            await program.introduce()
            await program.lend()
            turn_ = await editor.start_prompt("go")
            while not any(message.get("method") == "tools/call" for message in program.heard):
                await program.receive()
        assert (await turn_.outcome()).text == "done"


@pytest.mark.parametrize("scope", ["session", "folder", "elsewhere"])
async def test_tools_are_lent_to_one_session_or_to_a_folder(
    opened: Spawn, home: Path, project: Path, scope: str
) -> None:
    seen = scope != "elsewhere"
    script = counted(expect("3" if seen else "There is no tool named"))
    async with Hub.started(home=home, script=script, config=AUTO) as hub, opened(script=script, config=AUTO) as editor:
        lent = {"session": {"session": editor.session}, "folder": {"folder": str(project)}}
        async with lending(hub.socket, COUNT, **lent.get(scope, {"folder": str(home)})):
            assert (await editor.prompt("go")).text == "done"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"content": [{"type": "text", "text": "no file"}], "isError": True}, "no file"),
        ({"content": "3"}, "gave an answer that is no result: content"),
        ({"content": [{"type": "text", "text": "x" * 9_000_000}]}, "9,000,0"),
        ({}, "not instructions"),
    ],
)
async def test_answers_that_are_failures_or_nonsense_are_told_to_the_model(
    opened: Spawn, home: Path, answer: Any, words: str
) -> None:
    script = counted(expect(words) if answer else expect(""))
    async with (
        Hub.started(home=home, script=script, config=AUTO) as hub,
        opened(script=script, config=AUTO) as editor,
        lending(hub.socket) as program,
    ):
        program.calls = lambda _: answer
        outcome = await editor.prompt("go")
    assert outcome.text == "done"
    assert [tool["status"] for tool in outcome.calls] == ["failed" if answer else "completed"]


async def test_a_cancelled_turn_cancels_the_call_in_the_program(opened: Spawn, home: Path) -> None:
    script = counted()
    async with (
        Hub.started(home=home, script=script, config=AUTO) as hub,
        opened(script=script, config=AUTO) as editor,
        lending(hub.socket) as program,
    ):
        program.calls = lambda _: None
        running = await editor.start_prompt("go")
        await eventually(lambda: any(one.get("method") == "tools/call" for one in program.heard), what="the call")
        await editor.notify("session/cancel", {"sessionId": editor.session})
        assert (await running.outcome()).stop_reason == "cancelled"
        await eventually(lambda: any(one.get("method") == "$/cancel_request" for one in program.heard), what="its end")


async def test_a_hub_that_ends_asks_its_programs_to_leave(home: Path) -> None:
    async with Hub.started(home=home, script=Script()) as hub, attached(hub.socket) as program:
        await program.introduce()
        await program.lend()
        hub.process.signal(signal.SIGTERM)
        with anyio.fail_after(20):
            await program.hear_all()
    assert [one.get("method") for one in program.heard if "method" in one] == ["initialize", "shutdown"]
