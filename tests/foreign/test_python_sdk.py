"""The official Python SDK drives the program: the handshake, and what a turn shows."""

import base64

import pytest
from acp import RequestError, image_block, resource_link_block
from acp.schema import ContentToolCallContent, FileEditToolCallContent

from tests.support.foreign.desk import Desk
from tests.support.foreign.editor import answering
from tests.support.script_files import Script, call, expect, fail, raw_call, say, stop, think, turn, usage

PIXEL = base64.b64encode(bytes.fromhex("47494638396101000100800000000000ffffff2c00000000010001000002024401003b"))


async def test_the_handshake_tells_what_is_served(desk: Desk) -> None:
    async with desk.editor() as editor:
        capabilities = editor.hello.agent_capabilities
        assert capabilities is not None
        assert editor.hello.protocol_version == 1
        assert editor.hello.agent_info is not None
        assert editor.hello.agent_info.name == "claw-acp"
        assert capabilities.load_session is True
        sessions = capabilities.session_capabilities
        assert sessions is not None
        assert None not in (sessions.list, sessions.resume, sessions.close, sessions.delete)


async def test_text_and_thoughts_arrive_chunk_by_chunk_with_usage_and_title(desk: Desk) -> None:
    desk.plays(
        Script(turn(think("Hm, ", "well."), say("Good ", "morning", "."), usage(inputTokens=900, outputTokens=20)))
    )
    async with desk.editor() as editor:
        session = await editor.open()
        ended = await editor.prompt(session, "Hello there")
        assert ended.stop_reason == "end_turn"
        messages = editor.seen(session).agent_messages
        assert [getattr(chunk.content, "text", None) for chunk in messages] == ["Good ", "morning", "."]
        assert len({chunk.message_id for chunk in messages}) == 1
        assert editor.thought(session) == "Hm, well."
        count = editor.usage(session)
        assert count is not None
        assert (count.used, count.size) == (920, 200_000)
        assert editor.title(session) == "Hello there"
        assert ended.usage is not None
        assert ended.usage.total_tokens == 920


async def test_messages_around_a_tool_call_have_ids_of_their_own(desk: Desk) -> None:
    desk.file("a.txt", "alpha")
    desk.plays(Script(turn(say("Before."), call("read_file", path="a.txt")), turn(say("After."))))
    async with desk.editor() as editor:
        session = await editor.open()
        await editor.prompt(session, "Read it")
        first, second = editor.seen(session).agent_messages
        assert first.message_id != second.message_id
        assert None not in (first.message_id, second.message_id)


async def test_a_read_shows_its_file_and_what_was_read(desk: Desk) -> None:
    path = desk.file("a.txt", "alpha\nbeta\n")
    desk.plays(Script(turn(call("read_file", path="a.txt")), turn(expect("beta"), say("Read."))))
    async with desk.editor() as editor:
        session = await editor.open()
        assert (await editor.prompt(session, "Read it")).stop_reason == "end_turn"
        tool = editor.tool(session)
        assert (tool.kind, tool.status) == ("read", "completed")
        assert tool.title is not None
        assert "a.txt" in tool.title
        assert tool.locations is not None
        assert tool.locations[0].path == str(path)
        assert tool.raw_input == {"path": "a.txt"}
        assert editor.said(session) == "Read."


async def test_an_edit_shows_a_diff_before_it_is_allowed_and_after(desk: Desk) -> None:
    path = desk.file("a.txt", "one\ntwo\n")
    desk.plays(
        Script(
            turn(call("edit_file", path="a.txt", edits=[{"old_text": "two", "new_text": "three"}])), turn(say("Done."))
        )
    )
    async with desk.editor(answering("allow_once")) as editor:
        session = await editor.open()
        await editor.prompt(session, "Edit it")
        (question,) = editor.questions
        asked = [item for item in question.call.content or () if isinstance(item, FileEditToolCallContent)]
        tool = editor.tool(session)
        shown = [item for item in tool.content or () if isinstance(item, FileEditToolCallContent)]
        for (diff,) in (asked, shown):
            assert (diff.path, diff.old_text, diff.new_text) == (str(path), "one\ntwo\n", "one\nthree\n")
        assert (tool.kind, tool.status) == ("edit", "completed")
        assert path.read_text() == "one\nthree\n"


async def test_a_new_file_is_shown_as_a_diff_without_an_old_text(desk: Desk) -> None:
    desk.plays(Script(turn(call("write_file", path="new.txt", content="fresh\n")), turn(say("Done."))))
    async with desk.editor(answering("allow_once")) as editor:
        session = await editor.open()
        await editor.prompt(session, "Write it")
        (diff,) = [item for item in editor.tool(session).content or () if isinstance(item, FileEditToolCallContent)]
        assert (diff.old_text, diff.new_text) == (None, "fresh\n")
        assert (desk.project / "new.txt").read_text() == "fresh\n"


async def test_a_command_without_a_terminal_runs_here_and_shows_what_it_printed(desk: Desk) -> None:
    desk.plays(Script(turn(call("shell", command="printf 'a\\nb' && exit 3")), turn(expect("exit"), say("It failed."))))
    async with desk.editor(answering("allow_once")) as editor:
        session = await editor.open()
        await editor.prompt(session, "Run it")
        tool = editor.tool(session)
        assert (tool.kind, tool.status) == ("execute", "failed")
        assert tool.raw_output["exitCode"] == 3
        shown = [item.content for item in tool.content or () if isinstance(item, ContentToolCallContent)]
        assert any("a\nb" in getattr(content, "text", "") for content in shown)


async def test_what_a_model_gets_wrong_in_a_call_fails_the_call_and_not_the_turn(desk: Desk) -> None:
    desk.plays(
        Script(
            turn(raw_call("read_file", "{not json"), call("no_such_tool"), call("read_file", path="missing.txt")),
            turn(say("Three mistakes.")),
        )
    )
    async with desk.editor() as editor:
        session = await editor.open()
        assert (await editor.prompt(session, "Try")).stop_reason == "end_turn"
        assert [tool.status for tool in editor.tools(session)] == ["failed"] * 3
        assert editor.said(session) == "Three mistakes."


async def test_a_plan_is_replaced_as_a_whole(desk: Desk) -> None:
    def entries(*states: str) -> list[dict[str, str]]:
        return [{"content": f"Step {n}", "priority": "high", "status": state} for n, state in enumerate(states, 1)]

    desk.plays(
        Script(
            turn(call("plan", entries=entries("in_progress", "pending"))),
            turn(call("plan", entries=entries("completed", "completed", "in_progress"))),
            turn(say("Planned.")),
        )
    )
    async with desk.editor() as editor:
        session = await editor.open()
        await editor.prompt(session, "Plan it")
        plan = editor.seen(session).plan_entries
        assert [(entry.content, entry.priority, entry.status) for entry in plan] == [
            ("Step 1", "high", "completed"),
            ("Step 2", "high", "completed"),
            ("Step 3", "high", "in_progress"),
        ]


async def test_a_model_that_stops_early_says_why(desk: Desk) -> None:
    desk.plays(Script(turn(say("Half"), stop("max_tokens")), turn(say(", no"), stop("refusal"))))
    async with desk.editor() as editor:
        session = await editor.open()
        assert (await editor.prompt(session, "Go")).stop_reason == "max_tokens"
        assert (await editor.prompt(session, "Go on")).stop_reason == "refusal"
        assert editor.said(session) == "Half, no"


async def test_a_turn_that_uses_up_its_requests_says_so(desk: Desk) -> None:
    desk.file("a.txt", "alpha")
    script = Script(*[turn(call("read_file", path="a.txt")) for _ in range(2)], turn(say("That is how far I came.")))
    desk.plays(script, config="[limits]\nmax_turn_requests = 2\n")
    async with desk.editor() as editor:
        session = await editor.open()
        assert (await editor.prompt(session, "Go")).stop_reason == "max_turn_requests"
        assert editor.said(session) == "That is how far I came."


async def test_a_link_is_accepted_and_an_image_is_refused_by_a_model_that_cannot_see(desk: Desk) -> None:
    desk.plays(Script(turn(say("I see a link.")), images=False))
    async with desk.editor() as editor:
        session = await editor.open()
        error = await editor.refused(session, "Look", image_block(PIXEL.decode(), "image/gif"))
        assert error.code == -32602
        assert "image" in str(error)
        assert editor.tools(session) == []
        await editor.prompt(session, "Look", resource_link_block("a.txt", "file:///a.txt"))
        assert editor.said(session) == "I see a link."


async def test_an_image_reaches_a_model_that_can_see(desk: Desk) -> None:
    desk.plays(Script(turn(say("One pixel."))))
    async with desk.editor() as editor:
        session = await editor.open()
        await editor.prompt(session, "Look", image_block(PIXEL.decode(), "image/gif"))
        assert editor.said(session) == "One pixel."


async def test_commands_are_listed_once_the_session_is_known_and_help_answers(desk: Desk) -> None:
    desk.plays(Script())
    async with desk.editor() as editor:
        session = await editor.open()
        await editor.until(lambda: session in editor.known and editor.seen(session).available_commands)
        names = [command.name for command in editor.seen(session).available_commands]
        assert "help" in names
        assert not any(name.startswith("/") for name in names)
        assert (await editor.prompt(session, "/help")).stop_reason == "end_turn"
        assert all(f"/{name}" in editor.said(session) for name in names)


async def test_a_model_that_fails_ends_in_an_error_with_its_words(desk: Desk) -> None:
    desk.plays(Script(turn(fail("QuotaExceeded", message="the account is empty; add credit"))))
    async with desk.editor() as editor:
        session = await editor.open()
        error = await editor.refused(session, "Go")
        assert str(error) == "the account is empty; add credit"
        assert error.data is not None
        assert error.data["kind"] == "QuotaExceeded"


async def test_an_unknown_method_is_refused_and_the_connection_goes_on(desk: Desk) -> None:
    desk.plays(Script(turn(say("Still here."))))
    async with desk.editor() as editor:
        with pytest.raises(RequestError) as refusal:
            await editor.agent.ext_method("made/up", {})
        assert refusal.value.code == -32601
        await editor.agent.ext_notification("made/up", {})
        session = await editor.open()
        await editor.prompt(session, "Go")
        assert editor.said(session) == "Still here."
