"""Whole conversations over a network, by either profile: nothing is different from stdio."""

from pathlib import Path

import pytest

from tests.gateway.conftest import Serve
from tests.support.editors.editor import FULL
from tests.support.editors.exchange import spoken, tool_calls
from tests.support.editors.remote_wires import PROFILES, Profile, remote_editor
from tests.support.script_files import Script, call, expect, hold, say, turn

WORK = Script(
    turn(say("Reading. "), call("read_file", path="a.txt")),
    turn(
        expect("hello"),
        call("edit_file", path="a.txt", edits=[{"old_text": "hello", "new_text": "good bye"}]),
        call("shell", command="echo from-the-shell"),
    ),
    turn(say("Done.")),
    turn(say("Half"), hold("never")),
    turn(say("Welcome back.")),
)
STYLES = [(profile, False) for profile in PROFILES] + [("http1", True), ("http2", True)]


@pytest.mark.parametrize(("profile", "late"), STYLES)
async def test_a_whole_conversation(serve: Serve, project: Path, profile: Profile, late: bool) -> None:  # noqa: FBT001
    async with serve(script=WORK) as server:
        async with remote_editor(server, profile, project=project, script=WORK, late=late) as editor:
            await editor.initialize()
            await editor.new_session()
            editor.will_answer("allow_once")
            work = await editor.prompt("Work")
            assert (work.stop_reason, work.text) == ("end_turn", "Reading. Done.")
            assert [call["status"] for call in work.calls] == ["completed"] * 3
            assert (project / "a.txt").read_text() == "good bye\n"
            waiting = await editor.start_prompt("Wait")
            await editor.wait_for_text("Half")
            await editor.cancel()
            assert (await waiting.outcome()).stop_reason == "cancelled"
            session = editor.session
        async with remote_editor(server, profile, project=project, script=WORK, late=late) as editor:
            await editor.initialize()
            _, replayed = await editor.load(session)
            assert spoken(replayed, "user_message_chunk") == "WorkWait"
            assert spoken(replayed, "agent_message_chunk") == "Reading. Done.Half"
            assert [call["status"] for call in tool_calls(replayed).values()] == ["completed"] * 3
            assert (await editor.prompt("I am back")).text == "Welcome back."
            listed = await editor.request("session/list", {})
            assert [info["sessionId"] for info in listed["sessions"]] == [session]
            await editor.request("session/close", {"sessionId": session})
            await editor.request("session/delete", {"sessionId": session})


@pytest.mark.parametrize("profile", PROFILES)
async def test_files_and_terminals_of_the_client_are_used(serve: Serve, project: Path, profile: Profile) -> None:
    script = Script(turn(call("read_file", path="a.txt"), call("shell", command="echo hi")), turn(say("Seen.")))
    async with (
        serve(script=script, config='mode = "auto"') as server,
        remote_editor(server, profile, project=project, capabilities=FULL) as editor,
    ):
        editor.files.buffers[str(project / "a.txt")] = "typed, not saved\n"
        await editor.initialize()
        await editor.new_session()
        work = await editor.prompt("Look")
        assert [call["status"] for call in work.calls] == ["completed"] * 2
        assert editor.received("fs/read_text_file")
        assert editor.received("terminal/release")


@pytest.mark.parametrize("profile", PROFILES)
async def test_sessions_of_one_connection_do_not_wait_for_each_other(
    serve: Serve, project: Path, profile: Profile
) -> None:
    script = Script(turn(say("slow"), hold("later"), say("er"), when="wait"), turn(say("quick")), loop=True)
    async with serve(script=script) as server, remote_editor(server, profile, project=project) as editor:
        await editor.initialize()
        await editor.new_session()
        slow = await editor.start_prompt("wait")
        await editor.wait_for_text("slow")
        await editor.new_session()
        assert (await editor.prompt("go")).text == "quick"
        assert not slow.answered
        script.let_go("later")
        assert (await slow.outcome()).text == "slower"


async def test_two_clients_work_side_by_side(serve: Serve, project: Path) -> None:
    script = Script(turn(say("slow"), hold("later"), say("er"), when="wait"), turn(say("quick")), loop=True)
    async with (
        serve(script=script) as server,
        remote_editor(server, "websocket", project=project) as one,
        remote_editor(server, "http2", project=project) as other,
    ):
        for editor in (one, other):
            await editor.initialize()
            await editor.new_session()
        waiting = await one.start_prompt("wait")
        await one.wait_for_text("slow")
        assert (await other.prompt("go")).text == "quick"
        script.let_go("later")
        assert (await waiting.outcome()).text == "slower"
        assert not other.updates(session=one.session)
        assert not one.updates(session=other.session)
