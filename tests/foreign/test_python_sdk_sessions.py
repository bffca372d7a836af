"""The official Python SDK drives the program: sessions that last, and several at once."""

import pytest
from acp import RequestError

from tests.support.foreign.desk import Desk
from tests.support.foreign.editor import answering
from tests.support.script_files import Script, call, hold, say, think, turn

PAGE = 50  # sessions on a page of `session/list`


async def test_a_new_process_shows_the_whole_conversation_in_order_before_it_answers(desk: Desk) -> None:
    desk.file("a.txt", "alpha\n")
    desk.plays(
        Script(
            turn(think("Let me see. "), say("Reading. "), call("read_file", path="a.txt")),
            turn(call("write_file", path="b.txt", content="beta\n")),
            turn(say("Done.")),
            turn(say("You are welcome.")),
        )
    )
    async with desk.editor(answering("allow_once")) as editor:
        session = await editor.open()
        await editor.prompt(session, "Copy a to b")
        await editor.prompt(session, "Thank you")
        live = editor.seen(session)
        title = editor.title(session)
    async with desk.editor() as editor:
        loaded = await editor.agent.load_session(cwd=str(desk.project), session_id=session)
        assert loaded.modes is not None
        assert loaded.modes.current_mode_id == "ask"
        replayed = editor.seen(session)
        assert editor.asked(session) == "Copy a to bThank you"
        assert editor.said(session) == "Reading. Done.You are welcome."
        assert editor.thought(session) == "Let me see. "
        assert replayed.tool_calls == live.tool_calls
        assert [m.message_id for m in replayed.agent_messages] == [m.message_id for m in live.agent_messages]
        assert editor.title(session) == title == "Copy a to b"
        kinds = [update.session_update for update in editor.of(session)]
        assert [kind for kind in kinds if kind.endswith("chunk") or kind == "tool_call"] == [
            "user_message_chunk", "agent_thought_chunk", "agent_message_chunk", "tool_call", "tool_call",
            "agent_message_chunk", "user_message_chunk", "agent_message_chunk",
        ]  # fmt: skip


async def test_a_session_without_a_turn_can_be_loaded_by_a_new_process(desk: Desk) -> None:
    desk.plays(Script(turn(say("Hello."))))
    async with desk.editor() as editor:
        session = await editor.open()
    async with desk.editor() as editor:
        await editor.agent.load_session(cwd=str(desk.project), session_id=session)
        await editor.prompt(session, "Hi")
        assert editor.said(session) == "Hello."


async def test_resuming_goes_on_without_showing_what_was(desk: Desk) -> None:
    desk.plays(Script(turn(say("First.")), turn(say("Second."))))
    async with desk.editor() as editor:
        session = await editor.open()
        await editor.prompt(session, "One")
    async with desk.editor() as editor:
        resumed = await editor.agent.resume_session(cwd=str(desk.project), session_id=session)
        assert resumed.config_options is not None
        await editor.prompt(session, "Two")
        assert editor.said(session) == "Second."
        assert editor.asked(session) == ""


async def test_the_list_comes_in_pages_and_by_folder(desk: Desk) -> None:
    desk.plays(Script(turn(say("Hello.")), loop=True))
    elsewhere = desk.home / "elsewhere"
    elsewhere.mkdir()
    async with desk.editor() as editor:
        agent = editor.agent
        here = {await editor.open() for _ in range(PAGE + 2)}
        there = (await agent.new_session(cwd=str(elsewhere))).session_id
        assert (await agent.list_sessions()).sessions == []
        for session in (*here, there):
            await editor.prompt(session, "Hi")
        first = await agent.list_sessions(cwd=str(desk.project))
        assert first.next_cursor is not None
        second = await agent.list_sessions(cwd=str(desk.project), cursor=first.next_cursor)
        assert second.next_cursor is None
        listed = [info.session_id for info in (*first.sessions, *second.sessions)]
        assert len(listed) == len(here)
        assert set(listed) == here
        (info,) = (await agent.list_sessions(cwd=f"{elsewhere}/")).sessions
        assert (info.session_id, info.cwd) == (there, str(elsewhere))
        assert info.updated_at is not None
        assert (await agent.list_sessions(cwd=str(desk.home))).sessions == []
        with pytest.raises(RequestError) as wrong:
            await agent.list_sessions(cursor="nonsense")
        assert wrong.value.code == -32602


async def test_a_closed_session_takes_no_prompt_until_it_is_opened_again(desk: Desk) -> None:
    desk.plays(Script(turn(say("Hello."))))
    async with desk.editor() as editor:
        session = await editor.open()
        await editor.agent.close_session(session_id=session)
        error = await editor.refused(session, "Hi")
        assert error.code == -32002
        assert error.data == {"sessionId": session}
        await editor.agent.resume_session(cwd=str(desk.project), session_id=session)
        await editor.prompt(session, "Hi")
        assert editor.said(session) == "Hello."


async def test_closing_a_session_cancels_its_turn(desk: Desk) -> None:
    desk.plays(Script(turn(say("Half"), hold("never"))))
    async with desk.editor() as editor:
        session = await editor.open()
        async with editor.prompting(session, "Speak") as running:
            await editor.until(lambda: editor.said(session) == "Half")
            await editor.agent.close_session(session_id=session)
        assert running.response.stop_reason == "cancelled"


async def test_a_session_that_never_was_cannot_be_opened(desk: Desk) -> None:
    desk.plays(Script())
    async with desk.editor() as editor:
        for opening in (editor.agent.load_session, editor.agent.resume_session):
            with pytest.raises(RequestError) as refusal:
                await opening(cwd=str(desk.project), session_id="ses_unknown")
            assert refusal.value.code == -32002
            assert refusal.value.data == {"sessionId": "ses_unknown"}


async def test_an_option_that_does_not_exist_is_refused_by_name(desk: Desk) -> None:
    desk.plays(Script())
    async with desk.editor() as editor:
        session = await editor.open()
        for option, value in (("mode", "nonsense"), ("model", "nonsense"), ("nonsense", "ask")):
            with pytest.raises(RequestError, match="nonsense") as refusal:
                await editor.agent.set_config_option(config_id=option, session_id=session, value=value)
            assert refusal.value.code == -32602


async def test_options_are_set_at_once_while_a_turn_runs(desk: Desk) -> None:
    script = desk.plays(Script(turn(say("Half"), hold("go"), say(" and half"))))
    async with desk.editor() as editor:
        created = await editor.agent.new_session(cwd=str(desk.project))
        session = created.session_id
        assert created.config_options is not None
        assert [option.category for option in created.config_options][:2] == ["mode", "model"]
        async with editor.prompting(session, "Speak"):
            await editor.until(lambda: editor.said(session) == "Half")
            await editor.agent.set_session_mode(session_id=session, mode_id="plan")
            answer = await editor.agent.set_config_option(config_id="mode", session_id=session, value="edit")
            values = {option.id: option.current_value for option in answer.config_options}
            assert (values["mode"], values["model"]) == ("edit", "scripted/play")
            script.let_go("go")
        assert editor.said(session) == "Half and half"
        assert editor.seen(session).current_mode_id == "edit"
        await editor.agent.close_session(session_id=session)
        resumed = await editor.agent.resume_session(cwd=str(desk.project), session_id=session)
        assert resumed.modes is not None
        assert resumed.modes.current_mode_id == "edit"


async def test_sessions_run_side_by_side(desk: Desk) -> None:
    script = desk.plays(Script(turn(say("Half"), hold("go"), say(" and half"))))
    async with desk.editor() as editor:
        sessions = [await editor.open() for _ in range(3)]
        one, two, three = sessions
        async with editor.prompting(one, "A"), editor.prompting(two, "B"), editor.prompting(three, "C"):
            await editor.until(lambda: all(editor.said(session) == "Half" for session in sessions))
            script.let_go("go")
        assert [editor.said(session) for session in sessions] == ["Half and half"] * 3


async def test_prompts_in_one_session_wait_for_each_other(desk: Desk) -> None:
    script = desk.plays(Script(turn(say("One"), hold("go"), say(". ")), turn(say("Two. ")), turn(say("Three."))))
    async with desk.editor() as editor:
        session = await editor.open()
        async with editor.prompting(session, "1") as first:
            await editor.until(lambda: editor.said(session) == "One")
            async with editor.prompting(session, "2") as second, editor.prompting(session, "3") as third:
                script.let_go("go")
        assert editor.said(session) == "One. Two. Three."
        assert {turn.response.stop_reason for turn in (first, second, third)} == {"end_turn"}


async def test_loading_an_open_session_shows_it_again_and_stores_nothing_twice(desk: Desk) -> None:
    desk.file("a.txt", "alpha\n")
    desk.plays(Script(turn(say("Reading."), call("read_file", path="a.txt")), turn(say("Read."))))
    async with desk.editor() as editor:
        session = await editor.open()
        await editor.prompt(session, "Read it")
        for _ in range(2):
            before = len(editor.of(session))
            await editor.agent.load_session(cwd=str(desk.project), session_id=session)
            shown = [update.session_update for update in editor.of(session)[before:]]
            assert shown.count("user_message_chunk") == 1
            assert shown.count("agent_message_chunk") == 2
            assert shown.count("tool_call") == 1


async def test_a_session_can_be_loaded_while_its_turn_runs(desk: Desk) -> None:
    script = desk.plays(Script(turn(say("Half"), hold("go"), say(" and half"))))
    async with desk.editor() as editor:
        session = await editor.open()
        async with editor.prompting(session, "Speak") as running:
            await editor.until(lambda: editor.said(session) == "Half")
            await editor.agent.load_session(cwd=str(desk.project), session_id=session)
            assert editor.asked(session) == "Speak"
            script.let_go("go")
        assert running.response.stop_reason == "end_turn"
        assert editor.said(session) == "HalfHalf and half"


async def test_two_editors_share_a_session_but_not_a_turn(desk: Desk) -> None:
    script = desk.plays(Script(turn(say("One"), hold("go"), say(".")), turn(say("Two.")), turn(say("Three."))))
    async with desk.editor() as here, desk.editor() as there:
        session = await here.open()
        async with here.prompting(session, "1"):
            await here.until(lambda: here.said(session) == "One")
            await there.agent.resume_session(cwd=str(desk.project), session_id=session)
            error = await there.refused(session, "2")
            assert error.code == -31010
            assert "another" in str(error)
            script.let_go("go")
        await there.prompt(session, "2")
        await here.prompt(session, "3")
        assert (here.said(session), there.said(session)) == ("One.Three.", "Two.")
