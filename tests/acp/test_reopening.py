"""`session/load` whenever it comes: twice at once, in the middle of a turn, with other directories."""

from pathlib import Path

import pytest

from tests.support.editors.editor import FULL, Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Call, Json, shown_text, spoken
from tests.support.foreign.models import conversation
from tests.support.script_files import Script, call, hold, say, turn
from tests.support.servers.model_server import ModelServer

AUTO = 'mode = "auto"'
TALK = Script(turn(say("hello")), loop=True)
UNTIL_GO = "until [ -e go ]; do :; done; echo ran"


async def _start_load(editor: Editor, session: str, **params: object) -> Call:
    asked: Json = {"sessionId": session, "cwd": str(editor.project), "mcpServers": [], **params}
    return await editor.start("session/load", asked)


async def test_two_loads_at_once_open_one_conversation(spawn: Spawn, opened: Spawn) -> None:
    async with ModelServer() as server:
        env = {"OPENAI_API_KEY": "sk-test-0123456789", "OPENAI_BASE_URL": server.openai_url}
        settings = {"env": env, "config": 'model = "openai/test-model"'}
        server.will_say("first answer")
        async with opened(**settings) as editor:
            session = editor.session
            await editor.prompt("one")
        server.will_say("second answer")
        async with spawn(**settings) as editor:
            await editor.initialize()
            for load in [await _start_load(editor, session) for _ in range(2)]:
                await load.result()
            outcome = await editor.prompt("two", session=session)
        assert outcome.text == "second answer"
        heard = [(message["role"], message["content"]) for message in conversation(server.requests[-1])]
        assert heard == [("user", "one"), ("assistant", "first answer"), ("user", "two")]


async def test_a_session_that_was_loaded_twice_at_once_is_closed_by_one_close(spawn: Spawn, opened: Spawn) -> None:
    script = Script(turn(say("working"), hold("never")))
    async with opened(script=script) as editor:
        session = editor.session
    async with spawn(script=script) as editor:
        await editor.initialize()
        for load in [await _start_load(editor, session) for _ in range(2)]:
            await load.result()
        prompt = await editor.start_prompt("go", session=session)
        await editor.wait_for_text("working")
        assert await editor.request("session/close", {"sessionId": session}) == {}
        assert (await prompt.outcome()).stop_reason == "cancelled"


async def test_a_call_that_runs_while_its_session_is_loaded_is_shown_running_and_then_done(
    opened: Spawn, project: Path
) -> None:
    script = Script(turn(say("wait"), call("shell", command=UNTIL_GO)), turn(say("done")))
    async with opened(script=script, config=AUTO) as editor:
        prompt = await editor.start_prompt("go")
        running = await editor.wait_for_call("in_progress")
        load = await _start_load(editor, editor.session)
        await load.result()
        assert spoken(load.updates, "agent_message_chunk") == "wait"
        assert _statuses(load.updates, running) == ["pending", "in_progress"]
        (project / "go").touch()
        assert (await prompt.outcome()).stop_reason == "end_turn"
        assert load.end is not None
        later = [frame.update for frame in editor.transcript[load.end :] if frame.update]
        assert (spoken(later, "agent_message_chunk"), _statuses(later, running)) == ("done", ["completed"])


def _statuses(updates: list[Json], of: Json) -> list[str]:
    return [update["status"] for update in updates if update.get("toolCallId") == of["toolCallId"] and update["status"]]


async def test_text_that_streams_while_its_session_is_loaded_is_shown_once(opened: Spawn) -> None:
    script = Script(turn(say("one "), hold("gate"), *(say(f"{number} ") for number in range(200))))
    async with opened(script=script) as editor:
        prompt = await editor.start_prompt("go")
        await editor.wait_for_text("one ")
        load = await _start_load(editor, editor.session)
        editor.script.let_go("gate")
        await load.result()
        await prompt.result()
        await editor.request("session/list", {})
        shown = [frame.update for frame in editor.transcript[load.begin :] if frame.update]
        replayed = next(place for place, update in enumerate(shown) if "user_message" in update["sessionUpdate"])
        wanted = "one " + "".join(f"{number} " for number in range(200))
        assert spoken(shown[replayed:], "agent_message_chunk") == wanted


async def test_closed_and_loaded_at_once_while_a_turn_runs_it_is_one_session_that_works(opened: Spawn) -> None:
    stubborn = call("shell", command="trap '' TERM; sleep 60", background=True)  # makes closing take its time
    script = Script(
        turn(stubborn, when="first"),
        turn(say("working"), hold("never"), when="first"),
        turn(say("alive"), when="second"),
    )
    async with opened(script=script, config=AUTO) as editor:
        first = await editor.start_prompt("first")
        await editor.wait_for_text("working")
        close = await editor.start("session/close", {"sessionId": editor.session})
        load = await _start_load(editor, editor.session)
        assert await close.result() == {}
        assert (await first.outcome()).stop_reason == "cancelled"
        await load.result()
        assert (await editor.prompt("second")).text == "alive"
        assert len((await editor.request("session/list", {}))["sessions"]) == 1


@pytest.mark.forked
async def test_nothing_follows_the_answer_to_a_load(spawn: Spawn, opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        session = editor.session
        await editor.prompt("hi")
    async with spawn(script=TALK, capabilities={"session": {"notices": {}}}) as editor:
        await editor.initialize()
        load = await _start_load(editor, session)
        await load.result()
        await editor.process.idle()
        await editor.request("session/list", {})
        assert load.end is not None
        assert [frame.update for frame in editor.transcript[load.end :] if frame.update] == []
        told = [update["sessionUpdate"] for update in load.updates]
        assert {"user_message_chunk", "agent_message_chunk", "available_commands_update"} <= set(told)


async def test_a_past_call_shows_its_output_and_not_a_terminal_that_is_gone(spawn: Spawn, opened: Spawn) -> None:
    script = Script(turn(call("shell", command="echo from the terminal")), turn(say("seen")))
    async with opened(script=script, config=AUTO, capabilities=FULL) as editor:
        session = editor.session
        [live] = (await editor.prompt("run it")).calls
        assert {"type": "terminal", "terminalId": "term-1"} in live["content"]
    async with spawn(script=script, capabilities=FULL) as editor:
        await editor.initialize()
        _, replayed = await editor.load(session)
        assert "term-1" not in str(replayed)
        [past] = [update for update in replayed if update.get("status") == "completed"]
        assert "from the terminal" in shown_text(past)


async def test_a_load_says_anew_which_directories_belong_to_the_session(opened: Spawn, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "secret.txt").write_text("there")
    script = Script(turn(call("read_file", path=str(other / "secret.txt"))), turn(say("ok")), loop=True)
    async with opened(script=script) as editor:
        await editor.new_session(additionalDirectories=[str(other)])
        assert await _reads_freely(editor, listed=[str(other)])
        await editor.load(editor.session)  # left out: none
        assert not await _reads_freely(editor, listed=None)
        await editor.load(editor.session, additionalDirectories=[str(other)])
        assert await _reads_freely(editor, listed=[str(other)])


async def _reads_freely(editor: Editor, *, listed: list[str] | None) -> bool:
    asked = len(editor.received("session/request_permission"))
    editor.will_answer("reject_once")
    status = (await editor.prompt("read")).calls[0]["status"]
    sessions = (await editor.request("session/list", {}))["sessions"]
    [session] = [session for session in sessions if session["sessionId"] == editor.session]
    assert session.get("additionalDirectories") == listed
    free = len(editor.received("session/request_permission")) == asked
    assert status == ("completed" if free else "failed")
    return free


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
@pytest.mark.parametrize("fresh", [True, False], ids=["in a fresh process", "where it is open"])
async def test_a_session_is_not_moved_to_another_folder(
    spawn: Spawn,
    opened: Spawn,
    tmp_path: Path,
    method: str,
    fresh: bool,  # noqa: FBT001 - a table
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with opened(script=TALK) as first:
        asked: Json = {"sessionId": first.session, "cwd": str(other), "mcpServers": []}
        if not fresh:
            assert (await first.failing(method, asked)).code == -32602
            assert (await first.prompt("hi")).text == "hello"
            return
    async with spawn(script=TALK) as second:
        await second.initialize()
        failure = await second.failing(method, asked)
        assert (failure.code, str(second.project) in failure.message) == (-32602, True)
