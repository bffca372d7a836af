"""The official Python SDK drives the program: files and terminals that the editor serves."""

import sys

import pytest
from acp.schema import FileEditToolCallContent, TerminalToolCallContent

from tests.support.foreign.desk import Desk
from tests.support.foreign.editor import ForeignEditor, answering
from tests.support.script_files import Script, call, expect, say, turn

SLOW = f"exec {sys.executable} -c 'import signal; print(\"started\", flush=True); signal.pause()'"
"""A command that says a word and then runs until somebody ends it."""


def terminals_shown(editor: ForeignEditor, session: str) -> set[str]:
    """The terminals in the only tool call, as it is now."""
    content = editor.tool(session).content or ()
    return {item.terminal_id for item in content if isinstance(item, TerminalToolCallContent)}


# ------------------------------------------------------------------ files


async def test_reading_sees_the_unsaved_buffer(desk: Desk) -> None:
    path = desk.file("a.txt", "on disk\n")
    desk.plays(Script(turn(call("read_file", path="a.txt")), turn(expect("being typed"), say("Seen."))))
    async with desk.editor(files=True) as editor:
        editor.files.buffers[str(path)] = "being typed\n"
        session = await editor.open()
        await editor.prompt(session, "Read")
        assert editor.said(session) == "Seen."
        assert editor.files.reads == [str(path)]


async def test_an_edit_starts_from_the_buffer_and_is_written_by_the_editor(desk: Desk) -> None:
    path = desk.file("a.txt", "on disk\n")
    desk.plays(
        Script(
            turn(call("edit_file", path="a.txt", edits=[{"old_text": "typed", "new_text": "edited"}])),
            turn(say("Done.")),
        )
    )
    async with desk.editor(answering("allow_once"), files=True) as editor:
        editor.files.buffers[str(path)] = "being typed\n"
        session = await editor.open()
        await editor.prompt(session, "Edit")
        assert editor.files.writes == [str(path)]
        assert editor.files.buffers[str(path)] == "being edited\n"
        (diff,) = [item for item in editor.tool(session).content or () if isinstance(item, FileEditToolCallContent)]
        assert (diff.old_text, diff.new_text) == ("being typed\n", "being edited\n")


async def test_a_new_file_is_made_by_the_editor(desk: Desk) -> None:
    desk.plays(Script(turn(call("write_file", path="sub/new.txt", content="fresh\n")), turn(say("Done."))))
    async with desk.editor(answering("allow_once"), files=True) as editor:
        session = await editor.open()
        await editor.prompt(session, "Write")
        assert editor.tool(session).status == "completed"
        assert editor.files.writes == [str(desk.project / "sub" / "new.txt")]


async def test_a_file_that_the_editor_does_not_find_is_a_readable_failure(desk: Desk) -> None:
    desk.plays(
        Script(turn(call("read_file", path="missing.txt")), turn(expect("missing.txt"), say("It is not there.")))
    )
    async with desk.editor(files=True) as editor:
        session = await editor.open()
        await editor.prompt(session, "Read")
        assert editor.tool(session).status == "failed"
        assert editor.said(session) == "It is not there."


# ------------------------------------------------------------------ terminals


async def test_a_command_runs_in_a_live_terminal_of_the_editor(desk: Desk) -> None:
    desk.plays(Script(turn(call("shell", command="pwd; exit 0")), turn(expect(str(desk.project)), say("There."))))
    async with desk.editor(terminal=True) as editor:
        session = await editor.open()
        await editor.agent.set_session_mode(session_id=session, mode_id="auto")
        await editor.prompt(session, "Run")
        (terminal,) = editor.terminals.all
        assert terminals_shown(editor, session) == {terminal}
        assert editor.tool(session).status == "completed"
        assert editor.said(session) == "There."
        assert editor.terminals.unreleased() == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [({"command": "exit 7"}, "exit code 7"), ({"command": SLOW, "timeout": 0.3}, "timed out")],
    ids=["failure", "timeout"],
)
async def test_a_terminal_is_released_when_its_command_goes_wrong(
    desk: Desk, arguments: dict[str, object], told: str
) -> None:
    desk.plays(Script(turn(call("shell", **arguments)), turn(expect(told), say("It went wrong."))))
    async with desk.editor(answering("allow_once"), terminal=True) as editor:
        session = await editor.open()
        await editor.prompt(session, "Run")
        assert editor.tool(session).status == "failed"
        assert len(terminals_shown(editor, session)) == 1
        assert editor.said(session) == "It went wrong."
        assert editor.terminals.unreleased() == []


async def test_a_terminal_is_shown_while_it_runs_and_released_on_cancel(desk: Desk) -> None:
    desk.plays(Script(turn(call("shell", command=SLOW))))
    async with desk.editor(answering("allow_once"), terminal=True) as editor:
        session = await editor.open()
        async with editor.prompting(session, "Run") as running:
            await editor.until(lambda: editor.tools(session) and terminals_shown(editor, session))
            assert editor.tool(session).status == "in_progress"
            await editor.agent.cancel(session)
        assert running.response.stop_reason == "cancelled"
        assert editor.terminals.unreleased() == []
        assert editor.tool(session).status == "failed"


async def test_the_terminal_of_a_background_command_is_released_when_its_session_is_closed(desk: Desk) -> None:
    desk.plays(Script(turn(call("shell", command=SLOW, background=True)), turn(say("Running."))))
    async with desk.editor(answering("allow_once"), terminal=True) as editor:
        session = await editor.open()
        await editor.prompt(session, "Run")
        assert len(editor.terminals.unreleased()) == 1
        await editor.agent.close_session(session_id=session)
        assert editor.terminals.unreleased() == []
