"""Making, loading, resuming, listing, closing and deleting sessions."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json
from tests.support.script_files import Script, call, fail, say, think, turn, usage

UNKNOWN = "ses_01aaaaaaaaaaaaaaaaaaaaaaaa"
TALK = Script(
    turn(think("hm"), say("reading"), call("read_file", path="a.txt"), call("read_file", path="missing.txt")),
    turn(say("it says hello"), usage(input_tokens=10, output_tokens=2)),
    turn(say("bye")),
    loop=True,
)


def _shape(updates: list[dict[str, Any]]) -> list[tuple[str, object]]:
    """What an editor ends up showing, without how it was cut into pieces."""
    shown: list[tuple[str, object]] = []
    for update in updates:
        kind = update["sessionUpdate"]
        if kind.endswith("_chunk"):
            place = (kind, update["messageId"])
            if shown and shown[-1][0] == str(place):
                shown[-1] = (str(place), str(shown[-1][1]) + update["content"]["text"])
            else:
                shown.append((str(place), update["content"]["text"]))
        elif kind.startswith("tool_call"):
            shown.append((update["toolCallId"], update.get("status")))
    return shown


@pytest.mark.rule("tool.unique-id", "kit1.load")
@pytest.mark.case(11, 12, 50)
async def test_a_fresh_process_replays_what_was_shown_with_the_same_ids(spawn: Spawn, opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        session = editor.session
        live = [*(await editor.prompt("what does it say?")).updates, *(await editor.prompt("thanks")).updates]
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        result, replayed = await editor.load(session)
        assert {"modes", "configOptions"} <= set(result)
        said = [shown for shown in _shape(replayed) if "user_message" not in shown[0]]
        assert said == _shape(live)
        asked = [update["content"]["text"] for update in replayed if update["sessionUpdate"] == "user_message_chunk"]
        assert asked == ["what does it say?", "thanks"]
        outcome = await editor.prompt("again")
        old = {update["toolCallId"] for update in live if update["sessionUpdate"] == "tool_call"}
        assert old.isdisjoint(tool["toolCallId"] for tool in outcome.calls)


@pytest.mark.case(12)
async def test_a_session_that_is_open_is_replayed_again_without_duplicates(opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        await editor.prompt("what does it say?")
        _, first = await editor.load(editor.session)
        _, second = await editor.load(editor.session)
        assert first == second
        assert len([update for update in first if update["sessionUpdate"] == "user_message_chunk"]) == 1


@pytest.mark.rule("session.unique-id", "kit1.session")
@pytest.mark.case(12)
@pytest.mark.forked
async def test_a_session_without_a_turn_can_be_loaded_by_a_fresh_process(spawn: Spawn, opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        session = editor.session
        await editor.kill()
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        _, replayed = await editor.load(session)
        assert _shape(replayed) == []
        assert (await editor.prompt("hi")).stop_reason == "end_turn"


@pytest.mark.rule("session.resume-silent", "kit1.resume")
@pytest.mark.case(13)
async def test_resume_opens_without_showing_anything_again(spawn: Spawn, opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        session = editor.session
        await editor.prompt("what does it say?")
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        resumed = await editor.start("session/resume", {"sessionId": session, "cwd": str(editor.project)})
        assert {"modes", "configOptions"} <= set(await resumed.result())
        assert resumed.updates == []
        editor.session = session
        assert (await editor.prompt("thanks")).text == "bye"


@pytest.mark.rule("update.notice-not-replayed")
@pytest.mark.case(11)
async def test_a_model_error_is_no_part_of_the_replayed_conversation(opened: Spawn) -> None:
    script = Script(turn(say("half an ans"), fail("QuotaExceeded", message="no credit")), turn(say("fine now")))
    async with opened(script=script, capabilities={"session": {"notices": {}}}) as editor:
        await (await editor.start_prompt("hi")).failure()
        _, replayed = await editor.load(editor.session)
    assert not [update for update in replayed if update["sessionUpdate"] == "notice"]
    assert "no credit" not in str(replayed)


@pytest.mark.case(14)
async def test_an_unknown_session_is_named_in_every_refusal(spawn: Spawn) -> None:
    async with spawn() as editor:
        await editor.initialize()
        here: Json = {"sessionId": UNKNOWN, "cwd": str(editor.project), "mcpServers": []}
        requests: dict[str, Json] = {
            "session/load": here,
            "session/resume": here,
            "session/prompt": {"sessionId": UNKNOWN, "prompt": [{"type": "text", "text": "hi"}]},
            "session/set_mode": {"sessionId": UNKNOWN, "modeId": "plan"},
            "session/set_config_option": {"sessionId": UNKNOWN, "configId": "mode", "value": "plan"},
            "session/close": {"sessionId": UNKNOWN},
        }
        for method, params in requests.items():
            failure = await editor.failing(method, params)
            assert (failure.code, failure.data) == (-32002, {"sessionId": UNKNOWN}), method
        assert await editor.request("session/delete", {"sessionId": UNKNOWN}) == {}
        assert (await editor.failing("session/load", {**here, "sessionId": "../../etc/passwd"})).code == -32002
        assert (await editor.failing("session/load", {**here, "sessionId": "\ud800"})).code == -32002


@pytest.mark.case(15)
async def test_a_closed_session_is_gone_from_the_connection_and_kept_in_the_store(opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        assert await editor.request("session/close", {"sessionId": editor.session}) == {}
        assert (await (await editor.start_prompt("hi")).failure()).code == -32002
        assert (await editor.failing("session/close", {"sessionId": editor.session})).code == -32002
        await editor.load(editor.session)
        assert (await editor.prompt("what?")).text.endswith("it says hello")


@pytest.mark.rule("session.delete", "kit1.delete")
@pytest.mark.case(15)
async def test_a_deleted_session_is_gone_for_good(opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        for _ in range(2):
            assert await editor.request("session/delete", {"sessionId": editor.session}) == {}
        assert (await (await editor.start_prompt("hi")).failure()).code == -32002
        assert (await editor.request("session/list", {})) == {"sessions": []}
        here: Json = {"sessionId": editor.session, "cwd": str(editor.project), "mcpServers": []}
        assert (await editor.failing("session/load", here)).code == -32002


@pytest.mark.rule("session.close", "kit1.close")
@pytest.mark.case(15)
@pytest.mark.parametrize("method", ["session/close", "session/delete"])
async def test_ending_a_session_cancels_its_turn(opened: Spawn, method: str) -> None:
    script = Script(turn(say("working"), {"wait_for": "never"}))
    async with opened(script=script) as editor:
        prompt = await editor.start_prompt("go")
        await editor.wait_for_text("working")
        assert await editor.request(method, {"sessionId": editor.session}) == {}
        assert (await prompt.outcome()).stop_reason == "cancelled"


@pytest.mark.rule("session.cwd-absolute", "kit1.session")
@pytest.mark.case(38)
async def test_a_working_directory_must_be_an_absolute_path_of_a_directory(spawn: Spawn, project: Path) -> None:
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        for wrong in (".", "sub", "", "~", "~/x", str(project / "a.txt"), str(project / "nowhere"), None, 7, "\x00"):
            failure = await editor.failing("session/new", {"cwd": wrong, "mcpServers": []})
            assert failure.code == -32602, (wrong, failure)
        assert (await editor.failing("session/new", {"mcpServers": []})).code == -32602
        assert (await editor.request("session/list", {})) == {"sessions": []}


@pytest.mark.rule("session.cwd-used")
@pytest.mark.case(38)
@pytest.mark.forked
async def test_a_session_works_where_it_was_told_to_wherever_the_process_is(spawn: Spawn, tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    (real / "here.txt").write_text("by link\n")
    script = Script(turn(call("read_file", path="here.txt"), call("shell", command="pwd -P")), turn(say("ok")))
    async with spawn(script=script, config='mode = "auto"') as editor:
        await editor.initialize()
        await editor.new_session(cwd=str(link))
        outcome = await editor.prompt("look")
        assert [tool["status"] for tool in outcome.calls] == ["completed", "completed"]
        assert str(real) in str(outcome.calls[1])
        [listed] = (await editor.request("session/list", {"cwd": str(link)}))["sessions"]
        assert listed["cwd"] == str(link)
        assert editor.process.cwd() == editor.project


@pytest.mark.rule("session.additional-directories", "kit1.adddirs")
@pytest.mark.case(39)
async def test_additional_directories_are_absolute_and_reach_further(spawn: Spawn, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.txt").write_text("beside\n")
    script = Script(turn(call("read_file", path=str(other / "b.txt"))), turn(say("ok")), loop=True)
    async with spawn(script=script) as editor:
        await editor.initialize()
        for wrong in (["sub"], [str(other), "."], [str(other / "b.txt")], [str(tmp_path / "nowhere")]):
            params = {"cwd": str(editor.project), "mcpServers": [], "additionalDirectories": wrong}
            assert (await editor.failing("session/new", params)).code == -32602, wrong
        await editor.new_session(additionalDirectories=[str(other)])
        assert (await editor.prompt("look")).calls[0]["status"] == "completed"
        [listed] = (await editor.request("session/list", {}))["sessions"]
        assert listed["additionalDirectories"] == [str(other)]
        await editor.request("session/close", {"sessionId": editor.session})
        await editor.load(editor.session)
        editor.will_answer("reject_once")
        assert (await editor.prompt("look")).calls[0]["status"] == "failed"


@pytest.mark.case(40)
async def test_a_session_is_made_whatever_servers_the_client_names(spawn: Spawn) -> None:
    broken = {"name": "broken", "command": "/nowhere/at/all", "args": ["--x"], "env": [{"name": "A", "value": "b"}]}
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[broken, broken])
        assert (await editor.prompt("hi")).stop_reason == "end_turn"
        listed = await editor.request("session/list", {})
        assert len(listed["sessions"]) == 1


@pytest.mark.rule("session.list-array", "session.list-cwd", "kit1.list")
@pytest.mark.case(46)
async def test_the_list_knows_titles_times_and_working_directories(spawn: Spawn, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        assert await editor.request("session/list") == {"sessions": []}
        await editor.new_session(cwd=str(other))
        await editor.prompt("hi")
        await editor.new_session()
        assert len((await editor.request("session/list"))["sessions"]) == 1  # nothing was said in this one
        await editor.prompt("What does a.txt say?\nTell me.")
        everything = (await editor.request("session/list", {"cwd": None, "cursor": None}))["sessions"]
        assert [item["cwd"] for item in everything] == [str(editor.project), str(other)]
        assert everything[0]["title"] == "What does a.txt say?"
        for cwd in (str(other), f"{other}/"):
            [found] = (await editor.request("session/list", {"cwd": cwd}))["sessions"]
            assert found["cwd"] == str(other)
        assert await editor.request("session/list", {"cwd": "/nowhere"}) == {"sessions": []}
        assert (await editor.failing("session/list", {"cwd": "relative"})).code == -32602
        assert (await editor.failing("session/list", {"cursor": "made up"})).code == -32602


@pytest.mark.case(46)
async def test_a_long_list_comes_in_pages_that_fit_together(spawn: Spawn) -> None:
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        made = {(await editor.new_session())["sessionId"] for _ in range(60)}
        for session in made:
            await editor.prompt("/help", session=session)
        first = await editor.request("session/list", {})
        second = await editor.request("session/list", {"cursor": first["nextCursor"]})
        assert "nextCursor" not in second
        listed = [item["sessionId"] for item in first["sessions"] + second["sessions"]]
        assert (len(listed), set(listed)) == (60, made)
        foreign = {"cursor": first["nextCursor"], "cwd": "/elsewhere"}
        assert (await editor.failing("session/list", foreign)).code == -32602


async def _titles(editor: Editor) -> list[str | None]:
    return [item.get("title") for item in (await editor.request("session/list", {}))["sessions"]]


@pytest.mark.case(46)
async def test_a_title_is_told_once_and_kept(opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        assert await _titles(editor) == []
        first = await editor.prompt("Name me " + "very " * 30 + "long")
        second = await editor.prompt("Another thing")
        told = [update["title"] for update in first.updates if update["sessionUpdate"] == "session_info_update"]
        assert (len(told), len(told[0]) <= 60) == (1, True)
        assert not [update for update in second.updates if update["sessionUpdate"] == "session_info_update"]
        assert await _titles(editor) == told
        _, replayed = await editor.load(editor.session)
        assert [update["title"] for update in replayed if update["sessionUpdate"] == "session_info_update"] == told
