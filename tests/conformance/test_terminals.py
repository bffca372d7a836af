"""Commands in the editor's terminals, and on this machine where it has none."""

import os

import anyio
import pytest

from tests.support.editors.editor import FULL
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, RpcFailure, shown_text, tool_calls
from tests.support.script_files import Script, call, expect, say, turn

AUTO = 'mode = "auto"'


def _run(command: str, **more: object) -> Script:
    return Script(turn(call("shell", command=command, **more)), turn(say("seen")))


@pytest.mark.rule("terminal.released")
@pytest.mark.case(37)
async def test_a_command_runs_in_a_terminal_that_the_call_shows_and_is_released(opened: Spawn) -> None:
    script = Script(turn(call("shell", command="echo out; exit 3")), turn(expect("out"), expect("3"), say("seen")))
    async with opened(script=script, config=AUTO, capabilities=FULL) as editor:
        outcome = await editor.prompt("run it")
        [created] = editor.received("terminal/create")
        assert created["params"]["cwd"] == str(editor.project)
        assert created["params"]["outputByteLimit"] > 0
        assert outcome.text == "seen"
        assert outcome.calls[0]["status"] == "failed"
        assert {"type": "terminal", "terminalId": "term-1"} in outcome.calls[0]["content"]
        assert editor.terminals.unreleased() == []


@pytest.mark.case(37)
async def test_a_command_that_takes_too_long_is_killed_and_its_terminal_released(opened: Spawn) -> None:
    async with opened(script=_run("sleep 60", timeout=0.2), config=AUTO, capabilities=FULL) as editor:
        outcome = await editor.prompt("run it")
        assert outcome.calls[0]["status"] == "failed"
        assert "timed out" in shown_text(outcome.calls[0])
        assert (len(editor.received("terminal/kill")), editor.terminals.unreleased()) == (1, [])


@pytest.mark.case(37)
async def test_a_program_killed_by_its_user_is_a_result(opened: Spawn) -> None:
    script = Script(turn(call("shell", command="sleep 60")), turn(expect("SIGKILL"), say("seen")))
    async with opened(script=script, config=AUTO, capabilities=FULL) as editor:
        prompt = await editor.start_prompt("run it")
        await editor.wait_for(lambda: editor.received("terminal/wait_for_exit"), "a program to wait for")
        editor.terminals.all["term-1"].kill()
        assert (await prompt.outcome()).text == "seen"
        assert editor.terminals.unreleased() == []


@pytest.mark.rule("terminal.gated", "kit1.clientcap")
@pytest.mark.case(36)
@pytest.mark.parametrize("capabilities", [None, {"terminal": False}, {"terminal": {}}], ids=str)
async def test_without_terminals_commands_run_here(opened: Spawn, capabilities: Json | None) -> None:
    script = Script(turn(call("shell", command="echo here")), turn(expect("here"), say("seen")))
    async with opened(script=script, config=AUTO, capabilities=capabilities) as editor:
        outcome = await editor.prompt("run it")
    assert outcome.text == "seen"
    assert "here" in shown_text(outcome.calls[0])


@pytest.mark.case(36)
async def test_an_editor_that_cannot_open_a_terminal_is_worked_around(opened: Spawn) -> None:
    def refuse(_params: Json) -> object:
        raise RpcFailure(-32601, "no terminals after all")

    async with opened(script=_run("echo here"), config=AUTO, capabilities=FULL) as editor:
        editor.serve("terminal/create", refuse)
        outcome = await editor.prompt("run it")
    assert (outcome.text, outcome.calls[0]["status"]) == ("seen", "completed")


@pytest.mark.case(36, 37)
@pytest.mark.parametrize("method", ["terminal/wait_for_exit", "terminal/output", "terminal/release"])
async def test_a_terminal_that_breaks_later_fails_the_call_and_not_the_turn(opened: Spawn, method: str) -> None:
    def refuse(_params: Json) -> object:
        raise RpcFailure(-32603, "the terminal broke")

    async with opened(script=_run("echo here"), config=AUTO, capabilities=FULL) as editor:
        editor.serve(method, refuse)
        outcome = await editor.prompt("run it")
        assert (outcome.stop_reason, outcome.text) == ("end_turn", "seen")
        expected = "completed" if method == "terminal/release" else "failed"
        assert outcome.calls[0]["status"] == expected


@pytest.mark.case(37)
async def test_a_background_program_is_released_when_its_session_is_closed(opened: Spawn) -> None:
    async with opened(script=_run("sleep 60", background=True), config=AUTO, capabilities=FULL) as editor:
        assert (await editor.prompt("run it")).calls[0]["status"] == "completed"
        assert editor.terminals.unreleased() == ["term-1"]
        await editor.request("session/close", {"sessionId": editor.session})
        assert editor.terminals.unreleased() == []


@pytest.mark.case(9)
async def test_a_program_in_the_background_is_not_heard_of_between_turns(opened: Spawn) -> None:
    command = "read < go; echo late; sleep 0.5; echo > over"
    script = Script(turn(call("shell", command=command, background=True)), turn(say("seen")), turn(say("on")))
    async with opened(script=script, config=AUTO) as editor:
        for name in ("go", "over"):
            os.mkfifo(editor.project / name)
        outcome = await editor.prompt("run it")
        assert "background" in shown_text(outcome.calls[0])
        before = len(editor.received())
        async with await anyio.open_file(editor.project / "go", "w") as go:
            await go.write("\n")
        async with await anyio.open_file(editor.project / "over") as over:
            await over.read()
        await editor.request("session/list", {})
        assert len(editor.received()) == before + 1, "only the answer"
        assert (await editor.prompt("go on")).text == "on"


@pytest.mark.case(11)
async def test_a_command_that_ran_here_is_replayed_as_it_was_seen(opened: Spawn) -> None:
    script = Script(
        turn(
            call("shell", command="echo out; exit 3"),
            call("shell", command="true"),
            call("shell", command="echo '```'"),
        ),
        turn(say("seen")),
    )
    async with opened(script=script, config=AUTO) as editor:
        outcome = await editor.prompt("run it")
        shown = ["```\nout\n```\nexit code 3", "exit code 0", "````\n```\n````"]
        assert [shown_text(each) for each in outcome.calls] == shown
        _, updates = await editor.load(editor.session)
        assert [shown_text(each) for each in tool_calls(updates).values()] == shown
