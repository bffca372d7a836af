"""Stopping: whatever runs ends idle with `cancelled`, prompts that wait are given back, and nothing follows."""

import json
from pathlib import Path

import pytest

from tests.acp2.conftest import Spawn
from tests.support.editors.editor_v2 import EditorV2
from tests.support.editors.exchange import Json
from tests.support.script_files import Script, call, hold, say, turn

NEVER = Script(turn(say("Half"), hold("never"), when="go"), turn(say("next"), when="on"))
SLEEPING = Script(turn(call("shell", command="touch started; sleep 60"), when="go"), turn(say("next"), when="on"))
AUTO = 'mode = "auto"'


@pytest.mark.rule("v2.cancel", "kit2.cancel")
@pytest.mark.case(1, 2, 9)
async def test_cancelled_while_the_model_speaks(opened: Spawn) -> None:
    async with opened(script=NEVER) as editor:
        begin = len(editor.transcript)
        await editor.insert("go")
        await editor.wait_for_text("Half")
        await editor.cancel()
        done = await editor.ended(begin)
        assert (done.stop_reason, done.text) == ("cancelled", "Half")
        after = len(editor.updates())
        await editor.request("session/list", {})
        assert len(editor.updates()) == after
        assert (await editor.run("on")).text == "next"


@pytest.mark.case(1, 37)
@pytest.mark.rule("v2.cancel")
async def test_cancelled_while_a_command_runs(opened: Spawn) -> None:
    async with opened(script=SLEEPING, config=AUTO) as editor:
        begin = len(editor.transcript)
        await editor.insert("go")
        await editor.wait_for_call("in_progress")
        await editor.wait_for(lambda: editor.updates("terminal_update"), "the terminal")
        await editor.cancel()
        done = await editor.ended(begin)
        assert done.stop_reason == "cancelled"
        assert [call["status"] for call in done.calls] == ["cancelled"]
        assert [update for update in done.updates if update.get("exitStatus") is not None]
        assert (await editor.run("on")).text == "next"


@pytest.mark.case(1)
@pytest.mark.rule("v2.cancel", "v2.cancel-requests")
async def test_cancelled_while_permission_is_asked(opened: Spawn, project: Path) -> None:
    script = Script(turn(call("write_file", path="new.txt", content="x"), when="go"), turn(say("next"), when="on"))
    async with opened(script=script) as editor:
        editor.will_answer(None)
        begin = len(editor.transcript)
        await editor.insert("go")
        question = await editor.wait_for_question()
        await editor.cancel(answering=False)
        done = await editor.ended(begin)
        assert done.stop_reason == "cancelled"
        assert editor.withdrawn() == [question.id]
        await editor.answer(question, "allow_once")
        assert (await editor.run("on")).text == "next"
        assert not (project / "new.txt").exists()


@pytest.mark.case(3)
@pytest.mark.rule("v2.cancel")
async def test_cancelling_what_does_not_run_is_silent(opened: Spawn) -> None:
    async with opened(script=NEVER) as editor:
        await editor.cancel()
        await editor.cancel("ses_nobody")
        await editor.notify("session/cancel", {"sessionId": 7})
        await editor.notify("session/cancel")
        assert editor.updates() == []
        assert (await editor.run("on")).text == "next"
        await editor.cancel()
        await editor.request("session/list", {})
        assert editor.states == ["running", "idle"]


@pytest.mark.case(3)
async def test_cancelled_twice_it_ends_once(opened: Spawn) -> None:
    async with opened(script=NEVER) as editor:
        begin = len(editor.transcript)
        await editor.insert("go")
        await editor.cancel()
        await editor.cancel()
        await editor.ended(begin)
        assert (await editor.run("on")).text == "next"
        assert editor.states == ["running", "idle", "running", "idle"]


@pytest.mark.case(1)
@pytest.mark.rule("v2.cancel")
async def test_a_cancel_right_behind_its_prompt_is_not_lost(opened: Spawn) -> None:
    async with opened(script=Script(turn(hold("never")), loop=True)) as editor:
        for number in range(5):
            prompt: Json = {"sessionId": editor.session, "prompt": [{"type": "text", "text": "go"}]}
            frames: list[Json] = [
                {"jsonrpc": "2.0", "id": f"p{number}", "method": "session/prompt", "params": prompt},
                {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": editor.session}},
            ]
            await editor.send_bytes(b"".join(json.dumps(frame).encode() + b"\n" for frame in frames))
            await editor.wait_for(lambda n=number: len(editor.stray) > n, "the answer to the prompt")
            await editor.wait_for(lambda: editor.states[-1:] in ([], ["idle"]), "an idle session")
        for answer in editor.stray:
            assert "messageId" in answer.get("result", {}) or answer["error"]["code"] == -32800
        assert {update.get("stopReason") for update in editor.updates("state_update")} <= {"cancelled", None}


@pytest.mark.case(45)
@pytest.mark.rule("v2.cancel-request")
async def test_a_held_prompt_is_given_back_and_what_runs_goes_on(opened: Spawn) -> None:
    script = Script(turn(say("Half"), hold("go on"), say(" done"), when="go"))
    async with opened(script=script) as editor:
        begin = len(editor.transcript)
        await editor.insert("go")
        held = await editor.start_prompt("on")
        await editor.notify("$/cancel_request", {"requestId": held.id})
        assert (await held.failure()).code == -32800
        script.let_go("go on")
        assert (await editor.ended(begin)).text == "Half done"
        assert len(editor.updates("user_message")) == 1


@pytest.mark.case(45)
@pytest.mark.rule("v2.cancel-request", "v2.prompt-no-late-error")
async def test_taking_back_a_prompt_that_was_answered_does_nothing(opened: Spawn) -> None:
    script = Script(turn(say("Half"), hold("go on"), say(" done"), when="go"))
    async with opened(script=script) as editor:
        begin = len(editor.transcript)
        prompt = await editor.start_prompt("go")
        await prompt.result()
        await editor.notify("$/cancel_request", {"requestId": prompt.id})
        await editor.notify("$/cancel_request", {"requestId": "nobody"})
        await editor.notify("$/cancel_request", {})
        await editor.request("session/list", {})
        script.let_go("go on")
        assert (await editor.ended(begin)).stop_reason == "end_turn"


@pytest.mark.rule("v2.close", "v2.close-held", "v2.cancel-requests")
async def test_closing_ends_what_runs_gives_back_what_waits_and_is_followed_by_silence(
    opened: Spawn, project: Path
) -> None:
    script = Script(turn(call("write_file", path="new.txt", content="x"), when="go"))
    async with opened(script=script) as editor:
        editor.will_answer(None)
        begin = len(editor.transcript)
        await editor.insert("go")
        question = await editor.wait_for_question()
        held = await editor.start_prompt("on")
        await editor.request("session/close", {"sessionId": editor.session})
        done = await editor.ended(begin)
        assert done.stop_reason == "cancelled"
        assert editor.withdrawn() == [question.id]
        assert (await held.failure()).code == -32800
        await editor.answer(question, "cancelled")
        after = len(editor.updates())
        await editor.request("session/list", {})
        assert len(editor.updates()) == after
        assert not (project / "new.txt").exists()


@pytest.mark.rule("v2.close", "v2.close-unknown")
async def test_closed_twice_at_once_both_answers_come_after_the_end(opened: Spawn) -> None:
    async with opened(script=SLEEPING, config=AUTO) as editor:
        await editor.insert("go")
        await editor.wait_for_call("in_progress")
        closing = [await editor.start("session/close", {"sessionId": editor.session}) for _ in range(2)]
        assert [await call.result() for call in closing] == [{}, {}]
        assert editor.updates()[-1]["stopReason"] == "cancelled"


@pytest.mark.rule("v2.close")
@pytest.mark.parametrize("method", ["session/delete", "session/archive"])
async def test_deleting_and_archiving_end_what_runs_in_the_same_way(opened: Spawn, method: str) -> None:
    async with opened(script=NEVER) as editor:
        begin = len(editor.transcript)
        await editor.insert("go")
        await editor.wait_for_text("Half")
        await editor.request(method, {"sessionId": editor.session})
        assert (await editor.ended(begin)).stop_reason == "cancelled"


@pytest.mark.case(47)
async def test_the_end_of_the_input_ends_the_turn_and_keeps_it(project: Path, home: Path) -> None:
    async with EditorV2.opened(project=project, home=home, script=SLEEPING, config=AUTO) as editor:
        await editor.insert("go")
        await editor.wait_for_call("in_progress")
        session = editor.session
    async with EditorV2.spawned(project=project, home=home, script=SLEEPING) as editor:
        await editor.initialize()
        _, replayed = await editor.resume(session, replay=True)
        assert [update["status"] for update in replayed if update["sessionUpdate"] == "tool_call_update"] == [
            "cancelled"
        ]
        assert (await editor.run("on")).text == "next"
