"""Sessions of protocol 2: made, resumed with and without their history, listed, closed, deleted, copied."""

from pathlib import Path
from typing import Any

import pytest

from tests.acp2.conftest import Spawn
from tests.support.editors.editor_v2 import EditorV2, said
from tests.support.editors.exchange import Json, tool_calls
from tests.support.script_files import Script, call, hold, say, think, turn

TALK = Script(
    turn(think("Look."), say("Looking. "), call("read_file", path="a.txt")),
    turn(call("plan", entries=[{"content": "Finish", "priority": "high", "status": "in_progress"}])),
    turn(say("Done.")),
    turn(say("Again.")),
)


@pytest.mark.rule("v2.new-answer", "v2.commands", "v2.options", "kit2.session")
@pytest.mark.case(10, 35)
async def test_the_answer_to_new_says_what_can_be_set_and_typed_and_has_no_modes(spawn: Spawn) -> None:
    async with spawn(script=Script()) as editor:
        await editor.initialize()
        made = await editor.new_session()
        assert set(made) == {"sessionId", "configOptions", "availableCommands", "_meta"}
        options = {option["configId"]: option for option in made["configOptions"]}
        assert options["mode"]["category"] == "mode"
        assert options["mode"]["currentValue"] == "ask"
        assert options["web"]["type"] == "boolean"
        commands = {command["name"]: command for command in made["availableCommands"]}
        assert commands["help"]["type"] == "command"
        assert commands["mode"]["input"]["type"] == "text"


@pytest.mark.rule("v2.replay-from", "v2.replay-ids", "v2.resume-state", "kit2.resume")
@pytest.mark.case(10, 11, 13, 50)
async def test_a_replay_shows_what_was_shown_with_the_same_ids_and_then_the_state(opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        live = await editor.run("Work")
        _, replayed = await editor.resume(replay=True)
        assert replayed[-1] == {"sessionUpdate": "state_update", "state": "idle", "background": []}
        assert _history(replayed) == _history(live.updates)
        kinds = [update["sessionUpdate"] for update in replayed]
        assert "notice" not in kinds
        assert kinds.count("user_message") == 1
        assert not [kind for kind in kinds if kind.endswith("_chunk")], "whole messages replace what the client has"
        assert (await editor.run("More")).text == "Again."


@pytest.mark.case(12)
@pytest.mark.rule("v2.replay-ids")
async def test_another_process_replays_the_same(project: Path, home: Path) -> None:
    async with EditorV2.opened(project=project, home=home, script=TALK) as editor:
        live = await editor.run("Work")
        session = editor.session
    async with EditorV2.spawned(project=project, home=home) as editor:
        await editor.initialize()
        _, replayed = await editor.resume(session, replay=True)
        assert _history(replayed) == _history(live.updates)
        _, again = await editor.resume(session, replay=True)
        assert again == replayed


@pytest.mark.case(13)
@pytest.mark.rule("v2.resume-state")
async def test_without_a_place_to_replay_from_only_the_state_is_told(project: Path, home: Path) -> None:
    async with EditorV2.opened(project=project, home=home, script=TALK) as editor:
        await editor.run("Work")
        session = editor.session
    async with EditorV2.spawned(project=project, home=home, script=TALK) as editor:
        await editor.initialize()
        answer, before = await editor.resume(session)
        assert set(answer) == {"configOptions", "availableCommands", "_meta"}
        assert before == [{"sessionUpdate": "state_update", "state": "idle", "background": []}]


@pytest.mark.rule("v2.replay-from")
@pytest.mark.parametrize("cursor", [{"type": "message", "messageId": "m"}, {"type": "_x"}, {}, "start", 7])
async def test_any_other_place_to_replay_from_is_refused(opened: Spawn, cursor: object) -> None:
    async with opened(script=TALK) as editor:
        params: Json = {"sessionId": editor.session, "cwd": str(editor.project), "replayFrom": cursor}
        assert (await editor.failing("session/resume", params)).code == -32602
        assert editor.updates() == []


@pytest.mark.rule("v2.resume-state")
async def test_a_session_that_is_resumed_while_it_works_is_said_to_run(opened: Spawn) -> None:
    script = Script(turn(say("Half"), hold("go on"), say(" done")))
    async with opened(script=script) as editor:
        begin = len(editor.transcript)
        await editor.insert("work")
        await editor.wait_for_text("Half")
        _, shown = await editor.resume(replay=True)
        assert shown[-1]["state"] == "running"
        assert said(shown, "agent_message") == "Half"
        script.let_go("go on")
        done = await editor.ended(begin)
        assert said(done.updates, "agent_message") == "Half done"


@pytest.mark.forked
@pytest.mark.rule("v2.replay-ids")
async def test_a_call_that_a_crash_left_unfinished_is_replayed_as_failed(project: Path, home: Path) -> None:
    script = Script(turn(call("shell", command="sleep 60")))
    config = 'mode = "auto"'
    async with EditorV2.opened(project=project, home=home, script=script, config=config) as editor:
        await editor.insert("go")
        await editor.wait_for_call("in_progress")
        session = editor.session
        await editor.kill()
    async with EditorV2.spawned(project=project, home=home, script=script) as editor:
        await editor.initialize()
        _, replayed = await editor.resume(session, replay=True)
        (shown,) = tool_calls(replayed).values()
        assert shown["status"] == "failed"
        assert replayed[-1]["state"] == "idle"


@pytest.mark.rule("kit2.list")
@pytest.mark.case(46)
async def test_sessions_are_listed_by_directory(opened: Spawn, project: Path) -> None:
    async with opened(script=TALK) as editor:
        await editor.run("Work")
        (listed,) = (await editor.request("session/list", {"cwd": str(project)}))["sessions"]
        assert (listed["sessionId"], listed["title"], listed["archived"]) == (editor.session, "Work", False)
        assert (await editor.request("session/list", {"cwd": str(project.parent)})) == {"sessions": []}
        assert (await editor.failing("session/list", {"cursor": "nonsense"})).code == -32602


@pytest.mark.rule("v2.close-unknown", "kit2.close", "kit2.delete")
@pytest.mark.case(14, 15)
async def test_a_closed_or_deleted_or_unknown_session_takes_nothing_and_can_be_closed_again(opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        session = editor.session
        await editor.request("session/close", {"sessionId": session})
        await editor.request("session/close", {"sessionId": session})
        await editor.request("session/close", {"sessionId": "ses_nobody"})
        prompt: Json = {"sessionId": session, "prompt": [{"type": "text", "text": "hi"}]}
        failure = await editor.failing("session/prompt", prompt)
        assert (failure.code, failure.data) == (-32002, {"sessionId": session})
        await editor.resume(session)
        assert (await editor.run("hi")).stop_reason == "end_turn"
        await editor.request("session/delete", {"sessionId": session})
        await editor.request("session/delete", {"sessionId": session})
        unknown = await editor.failing("session/resume", {"sessionId": session, "cwd": str(editor.project)})
        assert (unknown.code, unknown.data) == (-32002, {"sessionId": session})


@pytest.mark.rule("v2.options-refused", "kit2.config")
@pytest.mark.case(34, 33)
async def test_an_option_is_set_and_wrong_ones_change_nothing(opened: Spawn) -> None:
    async with opened(script=Script(turn(say("Half"), hold("never")))) as editor:
        await editor.insert("work")
        answer = await _set(editor, configId="mode", type="id", value="plan")
        assert _values(answer)["mode"] == "plan"
        assert [_values(update)["mode"] for update in editor.updates("config_option_update")] == ["plan"]
        assert _values(await _set(editor, configId="web", type="boolean", value=False))["web"] is False
        for wrong in (
            {"configId": "nobody", "type": "id", "value": "x"},
            {"configId": "mode", "type": "id", "value": "nonsense"},
            {"configId": "mode", "type": "boolean", "value": True},
            {"configId": "mode", "type": "boolean", "value": "plan"},
            {"configId": "mode", "type": "_own", "value": "ask"},
            {"configId": "mode", "value": "ask"},
            {"configId": "web", "type": "id", "value": "on"},
        ):
            params = {"sessionId": editor.session, **wrong}
            assert (await editor.failing("session/set_config_option", params)).code == -32602, wrong
        answer, _ = await editor.resume()
        assert (_values(answer)["mode"], _values(answer)["web"]) == ("plan", False)


@pytest.mark.rule("kit2.adddirs")
@pytest.mark.case(38, 39)
async def test_directories_must_be_absolute_and_exist(opened: Spawn, tmp_path: Path) -> None:
    async with opened(script=TALK) as editor:
        for cwd in ("relative", str(tmp_path / "nowhere"), "~", 7):
            assert (await editor.failing("session/new", {"cwd": cwd})).code == -32602
        more = {"cwd": str(editor.project), "additionalDirectories": ["relative"]}
        assert (await editor.failing("session/new", more)).code == -32602
        await editor.new_session(additionalDirectories=[str(tmp_path)])
        await editor.prompt("/help")
        listed = (await editor.request("session/list", {}))["sessions"]
        assert [item.get("additionalDirectories") for item in listed if item["sessionId"] == editor.session] == [
            [str(tmp_path)]
        ]
        await editor.resume()
        listed = (await editor.request("session/list", {}))["sessions"]
        assert "additionalDirectories" not in next(item for item in listed if item["sessionId"] == editor.session)


@pytest.mark.rule("v2.mcp-transport")
@pytest.mark.parametrize(
    "servers",
    [
        [{"type": "sse", "name": "far", "url": "http://127.0.0.1:9/"}],
        [{"type": "_x", "name": "far"}],
        [{"name": "near", "command": "/bin/true"}],
        [{"type": "stdio", "name": "near"}],
        [
            {"type": "stdio", "name": "same", "command": "/bin/true"},
            {"type": "http", "name": "same", "url": "http://a"},
        ],
    ],
    ids=["sse", "unknown", "untyped", "incomplete", "the same name twice"],
)
async def test_a_server_of_a_kind_that_was_not_offered_is_refused(opened: Spawn, servers: list[Json]) -> None:
    async with opened(script=TALK) as editor:
        failure = await editor.failing("session/new", {"cwd": str(editor.project), "mcpServers": servers})
        assert failure.code == -32602
        assert (await editor.request("session/list", {}))["sessions"] == []


async def test_a_copy_goes_its_own_way(opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        await editor.run("Work")
        source = editor.session
        copy = await editor.request("session/fork", {"sessionId": source, "cwd": str(editor.project)})
        assert set(copy) == {"sessionId", "configOptions", "availableCommands", "_meta"}
        assert copy["sessionId"] != source
        assert (await editor.run("More", session=copy["sessionId"])).text == "Again."
        _, replayed = await editor.resume(source, replay=True)
        assert said(replayed, "agent_message") == "Looking. Done."


@pytest.mark.rule("v2.status-state")
async def test_the_status_of_a_session_says_whether_it_works(opened: Spawn) -> None:
    script = Script(turn(say("Half"), hold("go on")))
    async with opened(script=script) as editor:
        assert await _status(editor) == {"status": "open", "state": {"state": "idle", "background": []}}
        begin = len(editor.transcript)
        await editor.insert("work")
        assert (await _status(editor))["state"]["state"] == "running"
        script.let_go("go on")
        await editor.ended(begin)
        await editor.request("session/close", {"sessionId": editor.session})
        assert await _status(editor) == {"status": "saved"}
        assert (await editor.failing("session/status", {"sessionId": "ses_nobody"})).code == -32002


async def test_sessions_are_archived_and_named(opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        answer = await editor.request("session/set_title", {"sessionId": editor.session, "title": "  My   work "})
        assert editor.updates("session_info_update")[-1]["title"] == answer["title"]
        assert (await editor.failing("session/set_title", {"sessionId": editor.session, "title": " "})).code == -32602
        await editor.request("session/archive", {"sessionId": editor.session})
        assert (await editor.request("session/list", {}))["sessions"] == []
        (shown,) = (await editor.request("session/list", {"archived": "only"}))["sessions"]
        assert shown["archived"] is True
        assert (await editor.failing("session/list", {"archived": "sometimes"})).code == -32602
        await editor.request("session/unarchive", {"sessionId": editor.session})
        assert len((await editor.request("session/list", {}))["sessions"]) == 1


async def test_instructions_that_cannot_be_followed_are_refused(opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        text: Json = {"type": "text", "text": "Answer in French."}
        await editor.new_session(systemPrompt={"mode": "append", "content": [text]})
        refused: list[Json] = [
            {"mode": "whisper", "content": [text]},
            {"mode": "append", "content": []},
            {"mode": "append", "content": [{"type": "resource_link", "uri": "file:///a", "name": "a"}]},
        ]
        for wrong in refused:
            params: Json = {"cwd": str(editor.project), "systemPrompt": wrong}
            assert (await editor.failing("session/new", params)).code == -32602, wrong


async def _set(editor: EditorV2, **params: Any) -> Json:
    return await editor.request("session/set_config_option", {"sessionId": editor.session, **params})


async def _status(editor: EditorV2) -> Json:
    return await editor.request("session/status", {"sessionId": editor.session})


def _values(holder: Json) -> Json:
    return {option["configId"]: option["currentValue"] for option in holder["configOptions"]}


def _history(updates: list[Json]) -> Json:
    """A conversation as a client ends up seeing it."""
    calls = {
        call_id: {key: value for key, value in shown.items() if key not in {"sessionUpdate", "capabilities"}}
        for call_id, shown in tool_calls(updates).items()
    }
    users = [update for update in updates if update["sessionUpdate"] == "user_message"]
    plans = [update["plan"] for update in updates if update["sessionUpdate"] == "plan_update"]
    said_by = {kind: _messages(updates, kind) for kind in ("agent_message", "agent_thought")}
    return {"calls": calls, "users": users, "plan": plans[-1:], **said_by}


def _messages(updates: list[Json], kind: str) -> Json:
    kinds = {kind, f"{kind}_chunk"}
    ids = dict.fromkeys(update["messageId"] for update in updates if update["sessionUpdate"] in kinds)
    return {
        message: said([update for update in updates if update.get("messageId") == message], kind) for message in ids
    }
