"""Ending one call or one program and leaving the rest alone; programs in the background."""

from pathlib import Path

import pytest

from tests.acp2.conftest import Spawn
from tests.support.editors.editor_v2 import EditorV2, printed
from tests.support.editors.exchange import Json
from tests.support.editors.shared_house import SharedHouse
from tests.support.script_files import Script, call, hold, say, turn

AUTO = 'mode = "auto"'
WAITING = turn(call("shell", command="echo begun; sleep 60"))
SERVING = turn(call("shell", command="echo serving; sleep 60; echo over", background=True))


@pytest.mark.rule("v2.tool-cancel", "v2.cancel-advertised")
async def test_one_call_is_cancelled_and_the_turn_goes_on(opened: Spawn) -> None:
    async with opened(script=Script(WAITING, turn(say("Then not."))), config=AUTO) as editor:
        begin = len(editor.transcript)
        await editor.insert("go")
        running = await editor.wait_for_call("in_progress")
        assert running["capabilities"] == {"cancel": {}}
        answer = await editor.request("tool_call/cancel", _call(editor, running["toolCallId"]))
        assert answer == {}
        done = await editor.ended(begin)
        (ended,) = done.calls
        assert (ended["status"], ended["capabilities"]) == ("cancelled", None)
        assert (done.text, done.stop_reason) == ("Then not.", "end_turn")
        assert editor.states == ["running", "idle"]


@pytest.mark.rule("v2.tool-cancel")
async def test_a_call_that_waits_for_another_is_cancelled_at_once(project: Path, home: Path) -> None:
    script = Script(
        turn(call("shell", command="sleep 60"), call("shell", command="touch made")), turn(say("Then not."))
    )
    async with SharedHouse.opened(project=project, home=home, script=script, config=AUTO) as house:
        editor = await house.visit_2()
        await editor.new_session()
        await editor.insert("go")
        running = await editor.wait_for_call("in_progress")
        waiting = await editor.wait_for_call("pending")
        await editor.request("tool_call/cancel", _call(editor, waiting["toolCallId"]))
        assert (await editor.wait_for_call("cancelled"))["toolCallId"] == waiting["toolCallId"]
        assert (await editor.wait_for_call("in_progress"))["toolCallId"] == running["toolCallId"]
        await editor.request("tool_call/cancel", _call(editor, running["toolCallId"]))
        await editor.wait_for_text("Then not.")
    assert not (project / "made").exists()


@pytest.mark.rule("v2.tool-cancel")
async def test_a_call_that_has_ended_or_is_unknown_cannot_be_cancelled(opened: Spawn) -> None:
    async with opened(script=Script(turn(call("read_file", path="a.txt")), turn(say("ok")))) as editor:
        done = await editor.run("read")
        for call_id in (done.calls[0]["toolCallId"], "call_nobody"):
            failure = await editor.failing("tool_call/cancel", _call(editor, call_id))
            assert failure.code == -32602
        assert (await editor.failing("tool_call/cancel", {"sessionId": editor.session})).code == -32602
        unknown = await editor.failing("tool_call/cancel", {"sessionId": "ses_nobody", "toolCallId": "x"})
        assert unknown.code == -32002


@pytest.mark.rule("v2.tool-cancel", "v2.state-requires-action", "v2.cancel-requests")
async def test_a_call_that_waits_for_permission_is_cancelled_and_the_question_taken_back(opened: Spawn) -> None:
    script = Script(turn(call("write_file", path="new.txt", content="x")), turn(say("Then not.")))
    async with opened(script=script) as editor:
        editor.will_answer(None)
        begin = len(editor.transcript)
        await editor.insert("go")
        question = await editor.wait_for_question()
        call_id = editor.updates("tool_call_update")[0]["toolCallId"]
        await editor.request("tool_call/cancel", _call(editor, call_id))
        done = await editor.ended(begin)
        assert editor.withdrawn() == [question.id]
        assert [call["status"] for call in done.calls] == ["cancelled"]
        assert (done.text, editor.states) == ("Then not.", ["running", "requires_action", "running", "idle"])


@pytest.mark.rule("v2.terminal-cancel", "v2.cancel-advertised")
async def test_one_program_is_ended_and_its_call_tells_how(opened: Spawn) -> None:
    async with opened(script=Script(WAITING, turn(say("It ended."))), config=AUTO) as editor:
        begin = len(editor.transcript)
        await editor.insert("go")
        await editor.wait_for(lambda: editor.updates("terminal_output_chunk"), "output")
        terminal = editor.updates("terminal_update")[0]
        assert terminal["capabilities"] == {"cancel": {}}
        await editor.request("terminal/cancel", _terminal(editor, terminal["terminalId"]))
        done = await editor.ended(begin)
        end = [update for update in done.updates if update.get("exitStatus") is not None]
        assert [(update["exitStatus"], update["capabilities"]) for update in end] == [({"signal": "SIGTERM"}, None)]
        assert printed(done.updates, terminal["terminalId"]) == "begun\n"
        assert (done.text, done.stop_reason) == ("It ended.", "end_turn")
        again = await editor.failing("terminal/cancel", _terminal(editor, terminal["terminalId"]))
        assert again.code == -32602


@pytest.mark.rule("v2.background", "v2.background-always", "v2.cancel-background", "v2.terminal-cancel")
async def test_a_program_in_the_background_outlives_its_turn_and_is_listed_until_it_ends(opened: Spawn) -> None:
    script = Script(SERVING, turn(say("It serves.")), turn(hold("never")))
    async with opened(script=script, config=AUTO) as editor:
        done = await editor.run("serve")
        (listed,) = done.end["background"]
        terminal = listed["terminalId"]
        assert listed == {"type": "terminal", "terminalId": terminal}
        begin = len(editor.transcript)
        await editor.insert("wait")
        await editor.cancel()
        assert (await editor.ended(begin)).end["background"] == [listed], "a cancel is for what is in the foreground"
        await editor.request("terminal/cancel", _terminal(editor, terminal))
        await editor.wait_for(lambda: editor.updates("state_update")[-1]["background"] == [], "an empty list")
        end = next(update for update in editor.updates("terminal_update") if update.get("exitStatus") is not None)
        assert end["terminalId"] == terminal
        assert editor.states[-1] == "idle"


@pytest.mark.rule("v2.background", "v2.resume-state")
async def test_a_program_in_the_background_is_shown_again_to_who_resumes(opened: Spawn) -> None:
    async with opened(script=Script(SERVING, turn(say("It serves."))), config=AUTO) as editor:
        done = await editor.run("serve")
        (listed,) = done.end["background"]
        await editor.wait_for(lambda: printed(editor.updates(), listed["terminalId"]) == "serving\n", "the output")
        _, replayed = await editor.resume(replay=True)
        assert replayed[-1]["background"] == [listed]
        assert printed(replayed, listed["terminalId"]) == "serving\n"
        shown = [update for update in replayed if update["sessionUpdate"] == "terminal_update"]
        assert [update.get("exitStatus") for update in shown] == [None]
        assert shown[0]["capabilities"] == {"cancel": {}}


@pytest.mark.rule("v2.cancel-background", "v2.close")
async def test_closing_ends_the_background_too(opened: Spawn) -> None:
    async with opened(script=Script(SERVING, turn(say("It serves."))), config=AUTO) as editor:
        await editor.run("serve")
        await editor.request("session/close", {"sessionId": editor.session})
        ended = [update for update in editor.updates("terminal_update") if update.get("exitStatus") is not None]
        assert len(ended) == 1


@pytest.mark.rule("v2.background")
@pytest.mark.forked
async def test_a_program_that_was_in_the_background_of_another_process_has_ended(opened: Spawn, spawn: Spawn) -> None:
    async with opened(script=Script(SERVING, turn(say("It serves."))), config=AUTO) as editor:
        await editor.run("serve")
        session = editor.session
        await editor.kill()
    async with spawn(script=Script(), config=AUTO) as editor:
        await editor.initialize()
        _, replayed = await editor.resume(session, replay=True)
        (shown,) = [update for update in replayed if update["sessionUpdate"] == "terminal_update"]
        assert shown["exitStatus"] == {}, "nobody knows how"
        assert replayed[-1]["background"] == []


def _call(editor: EditorV2, call_id: str) -> Json:
    return {"sessionId": editor.session, "toolCallId": call_id}


def _terminal(editor: EditorV2, terminal_id: str) -> Json:
    return {"sessionId": editor.session, "terminalId": terminal_id}
