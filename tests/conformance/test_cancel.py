"""Stopping: whatever a turn is doing, it ends at once with `cancelled`, and the next prompt works."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.editors.editor import FULL
from tests.support.editors.editor_desk import SILENCE
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json
from tests.support.script_files import Script, call, hold, say, turn

SLEEPING = 'mode = "auto"'


@pytest.mark.rule("cancel.result", "cancel.stops-work", "kit1.cancel")
@pytest.mark.case(1, 2)
async def test_cancelled_while_the_model_speaks(opened: Spawn) -> None:
    script = Script(turn(say("one "), hold("never"), say("two")), turn(say("next")))
    async with opened(script=script) as editor:
        prompt = await editor.start_prompt("go")
        await editor.wait_for_text("one ")
        await editor.cancel()
        assert (await prompt.outcome()).stop_reason == "cancelled"
        assert (await editor.prompt("on")).text == "next"


@pytest.mark.case(1, 2)
async def test_cancelled_before_the_model_said_anything(opened: Spawn) -> None:
    script = Script(turn(hold("never"), when="go"), turn(say("next")))
    async with opened(script=script) as editor:
        prompt = await editor.start_prompt("go")
        await editor.cancel()
        outcome = await prompt.outcome()
        assert (outcome.stop_reason, outcome.text) == ("cancelled", "")
        assert (await editor.prompt("on")).text == "next"


@pytest.mark.case(1)
async def test_a_cancel_right_behind_its_prompt_is_not_lost(opened: Spawn) -> None:
    async with opened(script=Script(turn(hold("never")), loop=True)) as editor:
        for number in range(5):
            text = [{"type": "text", "text": "go"}]
            prompt = {"sessionId": editor.session, "prompt": text}
            frames: list[Json] = [
                {"jsonrpc": "2.0", "id": f"p{number}", "method": "session/prompt", "params": prompt},
                {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": editor.session}},
            ]
            await editor.send_bytes(b"".join(json.dumps(frame).encode() + b"\n" for frame in frames))
            await editor.wait_for(lambda n=number: len(editor.stray) > n, "the answer to the prompt")
        assert [answer["result"]["stopReason"] for answer in editor.stray] == ["cancelled"] * 5


@pytest.mark.case(1, 37)
async def test_cancelled_while_a_command_runs_here(opened: Spawn, project: Path) -> None:
    script = Script(turn(call("shell", command="touch started; sleep 60; touch finished")), turn(say("next")))
    async with opened(script=script, config=SLEEPING) as editor:
        prompt = await editor.start_prompt("go")
        await editor.wait_for_call("in_progress")
        await editor.cancel()
        outcome = await prompt.outcome()
        assert (outcome.stop_reason, [tool["status"] for tool in outcome.calls]) == ("cancelled", ["failed"])
        assert (await editor.prompt("on")).text == "next"
    assert not (project / "finished").exists()


@pytest.mark.case(1, 37)
async def test_cancelled_while_a_command_runs_in_the_editor_frees_the_terminal(opened: Spawn) -> None:
    script = Script(turn(call("shell", command="sleep 60")), turn(say("next")))
    async with opened(script=script, config=SLEEPING, capabilities=FULL) as editor:
        prompt = await editor.start_prompt("go")
        await editor.wait_for(lambda: editor.received("terminal/wait_for_exit"), "a program to wait for")
        await editor.cancel()
        outcome = await prompt.outcome()
        assert (outcome.stop_reason, [tool["status"] for tool in outcome.calls]) == ("cancelled", ["failed"])
        assert (list(editor.terminals.all), editor.terminals.unreleased()) == (["term-1"], [])
        assert (await editor.prompt("on")).text == "next"


@pytest.mark.rule("cancel.result")
@pytest.mark.case(1)
@pytest.mark.parametrize("answering", [True, False], ids=["answered cancelled", "never answered"])
async def test_cancelled_while_permission_is_asked(opened: Spawn, project: Path, answering: bool) -> None:  # noqa: FBT001
    script = Script(turn(call("shell", command="touch x"), call("shell", command="touch y")), turn(say("next")))
    async with opened(script=script) as editor:
        editor.will_answer(None)
        prompt = await editor.start_prompt("go")
        await editor.wait_for_question()
        await editor.cancel(answering=answering)
        outcome = await prompt.outcome()
        assert outcome.stop_reason == "cancelled"
        assert [tool["status"] for tool in outcome.calls] == ["failed", "failed"]
        assert (await editor.prompt("on")).text == "next"
    assert not (project / "x").exists()


@pytest.mark.case(1)
async def test_cancelled_while_the_editor_is_slow_to_write_a_file(opened: Spawn) -> None:
    script = Script(turn(call("write_file", path="new.txt", content="x")), turn(say("next")))
    async with opened(script=script, config='mode = "edit"', capabilities=FULL) as editor:
        editor.serve("fs/write_text_file", lambda _: SILENCE)
        prompt = await editor.start_prompt("go")
        await editor.wait_for(lambda: editor.received("fs/write_text_file"), "a file to write")
        await editor.cancel()
        assert (await prompt.outcome()).stop_reason == "cancelled"
        assert (await editor.prompt("on")).text == "next"


@pytest.mark.rule("cancel.unknown", "kit1.cancel")
@pytest.mark.case(3)
async def test_cancelling_what_does_not_run_is_silent_and_harmless(opened: Spawn) -> None:
    script = Script(turn(say("one")), turn(say("two")))
    async with opened(script=script) as editor:
        await editor.wait_for(lambda: editor.updates("available_commands_update"), "the commands")
        before = len(editor.received())
        for session in (editor.session, editor.session, "ses_unknown", ""):
            await editor.notify("session/cancel", {"sessionId": session})
        nonsense: list[Any] = [{}, {"sessionId": 7}, {"sessionId": None}, []]
        for broken in nonsense:
            await editor.notify("session/cancel", broken)
        await editor.request("session/list", {})
        assert len(editor.received()) == before + 1
        assert (await editor.prompt("go")).text == "one"
        await editor.notify("session/cancel", {"sessionId": editor.session})
        assert (await editor.prompt("on")).text == "two"


@pytest.mark.case(3)
async def test_cancelling_twice_answers_once(opened: Spawn) -> None:
    script = Script(turn(say("one"), hold("never")), turn(say("next")))
    async with opened(script=script) as editor:
        prompt = await editor.start_prompt("go")
        await editor.wait_for_text("one")
        await editor.cancel()
        await editor.cancel()
        assert (await prompt.outcome()).stop_reason == "cancelled"
        assert (await editor.prompt("on")).text == "next"


@pytest.mark.case(3, 32)
async def test_cancelling_ends_the_prompts_that_wait_too(opened: Spawn) -> None:
    script = Script(turn(say("one"), hold("never")), turn(say("next")))
    async with opened(script=script) as editor:
        running = await editor.start_prompt("go")
        await editor.wait_for_text("one")
        waiting = [await editor.start_prompt("later") for _ in range(3)]
        await editor.request("session/list", {})
        await editor.cancel()
        stops = [(await prompt.outcome()).stop_reason for prompt in (running, *waiting)]
        assert stops == ["cancelled"] * 4
        assert (await editor.prompt("on")).text == "next"


@pytest.mark.rule("cancel.request")
@pytest.mark.case(45)
async def test_cancelling_a_prompt_by_its_request_gives_one_answer(opened: Spawn) -> None:
    script = Script(turn(say("one"), hold("never")), turn(say("next")))
    async with opened(script=script) as editor:
        prompt = await editor.start_prompt("go")
        await editor.wait_for_text("one")
        for _ in range(2):
            await editor.notify("$/cancel_request", {"requestId": prompt.id})
        assert (await prompt.outcome()).stop_reason == "cancelled"
        assert (await editor.prompt("on")).text == "next"


@pytest.mark.case(45)
async def test_cancelling_a_waiting_prompt_by_its_request_leaves_the_running_one(opened: Spawn) -> None:
    script = Script(turn(say("one"), hold("gate"), say(" done")), turn(say("next")))
    async with opened(script=script) as editor:
        running = await editor.start_prompt("go")
        await editor.wait_for_text("one")
        waiting = await editor.start_prompt("later")
        await editor.notify("$/cancel_request", {"requestId": waiting.id})
        assert (await waiting.outcome()).stop_reason == "cancelled"
        assert not running.answered
        editor.script.let_go("gate")
        assert (await running.outcome()).text == "one done"


@pytest.mark.rule("cancel.unknown")
@pytest.mark.case(45)
async def test_cancelling_requests_that_are_not_there_is_ignored(opened: Spawn) -> None:
    async with opened(script=Script(turn(say("ok")))) as editor:
        targets: list[Any] = [1, 999, "1", "nobody", None, 1.5, [], {}, True]
        for target in targets:
            await editor.notify("$/cancel_request", {"requestId": target})
        nonsense: list[Any] = [{}, []]
        for broken in nonsense:
            await editor.notify("$/cancel_request", broken)
        listing = await editor.start("session/list", {})
        await editor.notify("$/cancel_request", {"requestId": listing.id})
        await editor.wait_for(lambda: listing.answered, "exactly one answer")
        assert listing.answer is not None
        assert "result" in listing.answer or listing.answer["error"]["code"] == -32800
        assert (await editor.prompt("go")).text == "ok"
