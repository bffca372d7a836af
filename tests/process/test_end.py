"""The end: in time, with nothing left behind and nothing lost, however the editor goes."""

import signal
from pathlib import Path

import pytest

from tests.support.editors.editor import FULL, Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, shown_text, spoken, tool_calls
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, call, hold, say, turn

pytestmark = pytest.mark.forked

AUTO = 'mode = "auto"'
TALKING = Script(turn(say("one "), hold("never"), say("two")), turn(say("next")), loop=True)
STUBBORN = "trap '' TERM HUP INT; touch started; sleep 300 & sleep 300"
WORKING = Script(turn(say("running"), call("shell", command=STUBBORN)), turn(say("next")), loop=True)


async def _replayed(spawn: Spawn, session: str) -> tuple[str, list[str], str]:
    """What a fresh process shows of a session: text, states of its calls, and what they say."""
    async with spawn(script=Script(turn(say("next")), loop=True)) as editor:
        await editor.initialize()
        _, updates = await editor.load(session)
        calls = tool_calls(updates).values()
        assert (await editor.prompt("go on")).text == "next"
        return (
            spoken(updates, "agent_message_chunk"),
            [call["status"] for call in calls],
            "".join(shown_text(call) for call in calls),
        )


async def _caught_working(editor: Editor) -> None:
    await editor.start_prompt("go")
    await eventually((editor.project / "started").exists, what="a running command")


@pytest.mark.case(47)
async def test_end_of_input_while_the_model_speaks_keeps_what_it_said(opened: Spawn, spawn: Spawn) -> None:
    async with opened(script=TALKING) as editor:
        session = editor.session
        await editor.start_prompt("go")
        await editor.wait_for_text("one ")
        await editor.leave()
    assert await _replayed(spawn, session) == ("one ", [], "")


@pytest.mark.rule("shutdown.eof", "kit1.shutdown")
@pytest.mark.case(47)
async def test_end_of_input_ends_a_command_that_will_not_end(opened: Spawn, spawn: Spawn) -> None:
    async with opened(script=WORKING, config=AUTO) as editor:
        session = editor.session
        await _caught_working(editor)
        await eventually(lambda: len(editor.process.children()) >= 2, what="a command with a child")
        await editor.leave()
    text, states, shown = await _replayed(spawn, session)
    assert (text, states) == ("running", ["failed"])
    assert "interrupted" in shown


@pytest.mark.case(47)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
async def test_a_signal_ends_everything_as_well(opened: Spawn, spawn: Spawn, number: signal.Signals) -> None:
    async with opened(script=WORKING, config=AUTO) as editor:
        session = editor.session
        await _caught_working(editor)
        editor.process.signal(number)
        await editor.gone()
    assert (await _replayed(spawn, session))[:2] == ("running", ["failed"])


@pytest.mark.case(47)
@pytest.mark.parametrize("how", [{}, {"background": True}], ids=["waited for", "in the background"])
async def test_even_a_kill_that_nobody_can_handle_takes_the_commands_along(opened: Spawn, how: Json) -> None:
    script = Script(turn(call("shell", command=STUBBORN, **how)), turn(say("next")), loop=True)
    async with opened(script=script, config=AUTO) as editor:
        await _caught_working(editor)
        await eventually(lambda: len(editor.process.children()) >= 2, what="a command with a child")
        await editor.kill()
        await editor.process.childless()


@pytest.mark.case(47)
async def test_a_reader_that_is_gone_ends_everything_as_well(opened: Spawn, spawn: Spawn) -> None:
    async with opened(script=WORKING, config=AUTO) as editor:
        session = editor.session
        await _caught_working(editor)
        editor.process.close_stdout()
        await editor.start("session/list", {})
        await editor.gone()
    assert (await _replayed(spawn, session))[:2] == ("running", ["failed"])


@pytest.mark.case(29, 47)
async def test_a_reader_that_is_gone_in_the_middle_of_a_flood_ends_the_turn(opened: Spawn) -> None:
    script = Script(turn(say("start "), hold("gate"), say(*["x" * 10_000] * 500)), loop=True)
    async with opened(script=script) as editor:
        await editor.start_prompt("go")
        await editor.wait_for_text("start ")
        editor.process.pause_reading()
        script.let_go("gate")
        await editor.process.idle()
        editor.process.close_stdout()
        await editor.gone()


@pytest.mark.case(29, 47)
async def test_end_of_input_from_a_client_that_stopped_reading_ends_in_time(opened: Spawn) -> None:
    script = Script(turn(say("start "), hold("gate"), say(*["x" * 10_000] * 500)), loop=True)
    async with opened(script=script) as editor:
        await editor.start_prompt("go")
        await editor.wait_for_text("start ")
        editor.process.pause_reading()
        script.let_go("gate")
        await editor.process.idle()
        editor.process.close_stdin()
        await editor.process.ended()
        editor.over = True  # what is left in the pipe ends in the middle of a frame, which is all that can be
        await editor.gone()


@pytest.mark.case(23, 47)
async def test_half_a_frame_at_the_end_is_answered_as_one_that_is_broken(opened: Spawn) -> None:
    async with opened(script=TALKING) as editor:
        await editor.start_prompt("go")
        await editor.wait_for_text("one ")
        await editor.process.write(b'{"jsonrpc":"2.0","id":7,"meth')
        await editor.leave()
        assert [(answer["id"], answer["error"]["code"]) for answer in editor.stray] == [(None, -32700)]


@pytest.mark.case(47)
@pytest.mark.parametrize("sent", [b"", b"\n\n", b"{", b"not json\n", b'{"jsonrpc":"2.0","method":"x"}\n'], ids=repr)
async def test_a_client_that_leaves_before_it_began_is_no_trouble(spawn: Spawn, sent: bytes) -> None:
    async with spawn() as editor:
        await editor.send_bytes(sent)
        await editor.leave()


@pytest.mark.case(47)
async def test_programs_in_the_background_end_with_the_server(opened: Spawn) -> None:
    script = Script(turn(call("shell", command=STUBBORN, background=True)), turn(say("started")))
    async with opened(script=script, config=AUTO) as editor:
        assert (await editor.prompt("go")).calls[0]["status"] == "completed"
        await eventually((editor.project / "started").exists, what="a running command")
        await editor.leave()


@pytest.mark.case(47)
async def test_the_end_while_a_question_is_open_is_a_no(opened: Spawn, spawn: Spawn, project: Path) -> None:
    script = Script(turn(call("shell", command="touch x")), turn(say("next")), loop=True)
    async with opened(script=script) as editor:
        session = editor.session
        editor.will_answer(None)
        await editor.start_prompt("go")
        await editor.wait_for_question()
        await editor.leave()
    assert (await _replayed(spawn, session))[1] == ["failed"]
    assert not (project / "x").exists()


@pytest.mark.case(37, 47)
async def test_the_end_while_a_command_runs_in_the_editor_does_not_wait_for_it(opened: Spawn) -> None:
    script = Script(turn(call("shell", command="sleep 300")), loop=True)
    async with opened(script=script, config=AUTO, capabilities=FULL) as editor:
        await editor.start_prompt("go")
        await editor.wait_for(lambda: editor.received("terminal/wait_for_exit"), "a program to wait for")
        await editor.leave()
