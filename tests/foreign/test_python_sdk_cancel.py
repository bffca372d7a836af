"""The official Python SDK drives the program: cancelling, whatever it is doing."""

import sys

import anyio

from tests.support.foreign.desk import Desk
from tests.support.foreign.editor import Question, answering
from tests.support.script_files import Script, call, hold, say, turn

NEXT = turn(say("Back again."), when="^Next")
SLOW = f"exec {sys.executable} -c 'import signal; print(\"started\", flush=True); signal.pause()'"


async def test_while_the_model_speaks(desk: Desk) -> None:
    desk.plays(Script(turn(say("Half an ans"), hold("never"), say("wer")), NEXT))
    async with desk.editor() as editor:
        session = await editor.open()
        async with editor.prompting(session, "Speak") as running:
            await editor.until(lambda: editor.said(session) == "Half an ans")
            await editor.agent.cancel(session)
            await editor.agent.cancel(session)
        assert running.response.stop_reason == "cancelled"
        assert (await editor.prompt(session, "Next")).stop_reason == "end_turn"
        assert editor.said(session) == "Half an ansBack again."


async def test_while_the_model_is_silent(desk: Desk) -> None:
    desk.plays(Script(turn(hold("never")), NEXT))
    async with desk.editor() as editor:
        session = await editor.open()
        async with editor.prompting(session, "Speak") as running:
            await editor.until(lambda: editor.title(session))
            await editor.agent.cancel(session)
        assert running.response.stop_reason == "cancelled"
        await editor.prompt(session, "Next")
        assert editor.said(session) == "Back again."


async def test_while_a_command_runs(desk: Desk) -> None:
    desk.plays(Script(turn(call("shell", command=SLOW), call("read_file", path="a.txt")), NEXT))
    async with desk.editor(answering("allow_once")) as editor:
        session = await editor.open()
        async with editor.prompting(session, "Run") as running:
            await editor.until(lambda: [tool.status for tool in editor.tools(session)] == ["in_progress", "pending"])
            await editor.agent.cancel(session)
        assert running.response.stop_reason == "cancelled"
        assert [tool.status for tool in editor.tools(session)] == ["failed", "failed"]
        await editor.prompt(session, "Next")
        assert editor.said(session) == "Back again."


async def test_while_a_question_is_open(desk: Desk) -> None:
    desk.plays(Script(turn(call("write_file", path="a.txt", content="new")), NEXT))
    cancelled = anyio.Event()

    async def decide(_question: Question) -> str:
        await cancelled.wait()
        return "cancelled"  # what the protocol asks of clients that cancel

    async with desk.editor(decide) as editor:
        session = await editor.open()
        async with editor.prompting(session, "Write") as running:
            await editor.until(lambda: editor.questions)
            await editor.agent.cancel(session)
            cancelled.set()
        assert running.response.stop_reason == "cancelled"
        assert editor.tool(session).status == "failed"
        assert not (desk.project / "a.txt").exists()
        await editor.prompt(session, "Next")
        assert editor.said(session) == "Back again."


async def test_with_nothing_to_cancel(desk: Desk) -> None:
    desk.plays(Script(NEXT))
    async with desk.editor() as editor:
        session = await editor.open()
        for idle in (session, "ses_unknown"):
            await editor.agent.cancel(idle)
        assert (await editor.prompt(session, "Next")).stop_reason == "end_turn"
        assert editor.said(session) == "Back again."


async def test_what_waits_behind_the_turn_is_cancelled_too(desk: Desk) -> None:
    desk.plays(Script(turn(say("First"), hold("never")), NEXT))
    async with desk.editor() as editor:
        session = await editor.open()
        async with editor.prompting(session, "One") as first, editor.prompting(session, "Two") as second:
            await editor.until(lambda: editor.said(session) == "First")
            await editor.agent.cancel(session)
        assert [turn.response.stop_reason for turn in (first, second)] == ["cancelled", "cancelled"]
        await editor.prompt(session, "Next")
        assert editor.said(session) == "FirstBack again."


async def test_another_session_goes_on(desk: Desk) -> None:
    script = desk.plays(Script(turn(say("Half"), hold("go"), say(" and half"))))
    async with desk.editor() as editor:
        one, other = await editor.open(), await editor.open()
        async with editor.prompting(one, "Speak") as ended, editor.prompting(other, "Speak") as goes_on:
            await editor.until(lambda: editor.said(one) == editor.said(other) == "Half")
            await editor.agent.cancel(one)
            await editor.until(lambda: ended.answer)
            script.let_go("go")
        assert ended.response.stop_reason == "cancelled"
        assert goes_on.response.stop_reason == "end_turn"
        assert (editor.said(one), editor.said(other)) == ("Half", "Half and half")
