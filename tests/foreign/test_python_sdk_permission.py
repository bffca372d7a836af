"""The official Python SDK drives the program: asking before acting."""

import tomllib

import anyio

from tests.support.foreign.desk import Desk
from tests.support.foreign.editor import Question, answering
from tests.support.script_files import Script, call, expect, say, turn


def write(name: str) -> Script:
    return Script(
        turn(call("write_file", path=name, content="new\n")), turn(say("First.")),
        turn(call("write_file", path=name, content="newer\n")), turn(say("Second.")),
    )  # fmt: skip


async def test_allowed_once_is_asked_again(desk: Desk) -> None:
    desk.plays(write("a.txt"))
    async with desk.editor(answering("allow_once", "allow_once")) as editor:
        session = await editor.open()
        await editor.prompt(session, "Write")
        await editor.prompt(session, "Write again")
        assert [question.session for question in editor.questions] == [session] * 2
        asked = [question.call.tool_call_id for question in editor.questions]
        assert asked == [tool.tool_call_id for tool in editor.tools(session)]
        assert (desk.project / "a.txt").read_text() == "newer\n"


async def test_always_is_not_asked_again_not_even_by_the_next_process(desk: Desk) -> None:
    desk.plays(write("a.txt"))
    async with desk.editor(answering("allow_always")) as editor:
        session = await editor.open()
        await editor.prompt(session, "Write")
    rules = tomllib.loads((desk.claw / "permissions.toml").read_text())
    assert rules == {str(desk.project): {"allow": ["write(/a.txt)"]}}
    (desk.project / "a.txt").unlink()
    async with desk.editor() as editor:
        await editor.agent.load_session(cwd=str(desk.project), session_id=session)
        await editor.prompt(session, "Write again")
        assert editor.questions == []
        assert (desk.project / "a.txt").read_text() == "newer\n"


async def test_rejected_leaves_the_file_alone_and_tells_the_model(desk: Desk) -> None:
    desk.plays(
        Script(turn(call("write_file", path="a.txt", content="new\n")), turn(expect("rejected"), say("As you wish.")))
    )
    async with desk.editor(answering("reject_once")) as editor:
        session = await editor.open()
        assert (await editor.prompt(session, "Write")).stop_reason == "end_turn"
        assert editor.tool(session).status == "failed"
        assert editor.said(session) == "As you wish."
        assert not (desk.project / "a.txt").exists()


async def test_always_rejected_is_not_asked_again(desk: Desk) -> None:
    desk.plays(write("a.txt"))
    async with desk.editor(answering("reject_always")) as editor:
        session = await editor.open()
        await editor.prompt(session, "Write")
        await editor.prompt(session, "Write again")
        assert [tool.status for tool in editor.tools(session)] == ["failed", "failed"]
        assert len(editor.questions) == 1
        assert not (desk.project / "a.txt").exists()


async def test_a_dismissed_question_is_no_consent_and_the_turn_goes_on(desk: Desk) -> None:
    desk.plays(Script(turn(call("write_file", path="a.txt", content="new\n")), turn(say("Not written."))))
    async with desk.editor(answering("cancelled")) as editor:
        session = await editor.open()
        assert (await editor.prompt(session, "Write")).stop_reason == "end_turn"
        assert editor.tool(session).status == "failed"
        assert editor.said(session) == "Not written."
        assert not (desk.project / "a.txt").exists()


async def test_an_open_question_in_one_session_holds_up_no_other(desk: Desk) -> None:
    desk.plays(
        Script(
            turn(call("write_file", path="a.txt", content="new\n"), when="^Write"),
            turn(say("Written."), when="^Write"),
            turn(say("Quick."), when="^Talk"),
        )
    )
    decided = anyio.Event()

    async def decide(_question: Question) -> str:
        await decided.wait()
        return "allow_once"

    async with desk.editor(decide) as editor:
        asking, talking = await editor.open(), await editor.open()
        async with editor.prompting(asking, "Write"):
            await editor.until(lambda: editor.questions)
            await editor.prompt(talking, "Talk")
            assert editor.said(talking) == "Quick."
            listed = await editor.agent.list_sessions()
            assert {info.session_id for info in listed.sessions} == {asking, talking}
            decided.set()
        assert editor.said(asking) == "Written."


async def test_a_mode_chosen_while_a_turn_runs_counts_for_its_next_call(desk: Desk) -> None:
    desk.plays(
        Script(
            turn(call("write_file", path="a.txt", content="1\n")),
            turn(call("write_file", path="b.txt", content="2\n")),
            turn(say("Done.")),
        )
    )

    async def decide(question: Question) -> str:
        await editor.agent.set_session_mode(session_id=question.session, mode_id="edit")
        return "allow_once"

    async with desk.editor(decide) as editor:
        session = await editor.open()
        await editor.prompt(session, "Write")
        assert len(editor.questions) == 1
        assert editor.seen(session).current_mode_id == "edit"
        assert editor.option(session, "mode") == "edit"
        assert (desk.project / "b.txt").read_text() == "2\n"


async def test_nothing_is_written_in_plan_mode(desk: Desk) -> None:
    desk.plays(Script(turn(call("write_file", path="a.txt", content="1\n")), turn(say("Only planned."))))
    async with desk.editor() as editor:
        session = await editor.open()
        await editor.agent.set_config_option(config_id="mode", session_id=session, value="plan")
        await editor.prompt(session, "Write")
        assert editor.tool(session).status == "failed"
        assert not (desk.project / "a.txt").exists()
