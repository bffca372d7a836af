"""Copying, archiving, naming and asking about sessions (unstable: each behind its capability)."""

from pathlib import Path

import pytest

from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, spoken
from tests.support.script_files import Script, call, hold, say, turn

UNKNOWN = "ses_01aaaaaaaaaaaaaaaaaaaaaaaa"
TALK = Script(
    turn(say("reading"), call("read_file", path="a.txt")),
    turn(say("it says hello")),
    turn(say("bye")),
    loop=True,
)
FOREVER = Script(turn(say("working"), hold("never"), when="long"), turn(say("done"), when="short"))


async def _listed(editor: Editor, **params: object) -> dict[str, Json]:
    sessions = (await editor.request("session/list", params))["sessions"]
    return {session["sessionId"]: session for session in sessions}


async def _fork(editor: Editor, session: str, **params: object) -> Json:
    return await editor.request("session/fork", {"sessionId": session, "cwd": str(editor.project), **params})


def _said(updates: list[Json]) -> list[tuple[str, str]]:
    """Messages by id, in order, as an editor shows them; user messages too."""
    shown: dict[str, str] = {}
    for update in updates:
        if update["sessionUpdate"].endswith("message_chunk"):
            shown[update["messageId"]] = shown.get(update["messageId"], "") + update["content"]["text"]
    return list(shown.items())


# ------------------------------------------------------------------ offers


@pytest.mark.rule("initialize.capabilities-honest")
@pytest.mark.rule("session.archive-needs-list")
async def test_what_can_be_done_with_stored_sessions_is_offered(spawn: Spawn) -> None:
    async with spawn() as editor:
        offered = (await editor.initialize())["agentCapabilities"]["sessionCapabilities"]
        assert {"list", "fork", "archive", "status", "title"} <= set(offered)
        assert offered["systemPrompt"] == {"mode": {"override": {}}}


@pytest.mark.case(14)
@pytest.mark.rule("session.not-found")
@pytest.mark.parametrize("method", ["fork", "archive", "unarchive", "status", "set_title"])
async def test_a_session_nobody_knows_is_not_found(spawn: Spawn, method: str) -> None:
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        for unknown in (UNKNOWN, "", "\ud800", "../x"):
            params = {"sessionId": unknown, "cwd": str(editor.project), "title": "x"}
            failure = await editor.failing(f"session/{method}", params)
            assert (failure.code, failure.data) == (-32002, {"sessionId": unknown.replace("\ud800", "\ufffd")})
        assert (await editor.failing(f"session/{method}", {"cwd": "/", "title": "x"})).code == -32602
        assert await _listed(editor) == {}


# ------------------------------------------------------------------ fork


@pytest.mark.rule("session.fork")
async def test_a_copy_has_the_history_and_goes_its_own_way(opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        source = editor.session
        await editor.prompt("what does it say?")
        copy = await _fork(editor, source)
        assert (copy["sessionId"] != source, {"modes", "configOptions"} <= set(copy)) == (True, True)
        await editor.prompt("only in the copy", session=copy["sessionId"])
        _, of_copy = await editor.load(copy["sessionId"])
        _, of_source = await editor.load(source)
        assert _said(of_copy)[: len(_said(of_source))] == _said(of_source)
        assert "only in the copy" in str(of_copy)
        assert "only in the copy" not in str(of_source)
        await editor.request("session/delete", {"sessionId": source})
        assert (await editor.prompt("go on", session=copy["sessionId"])).stop_reason == "end_turn"


@pytest.mark.rule("session.fork")
@pytest.mark.rule("session.new-answer-first")
async def test_a_copy_is_announced_like_a_new_session_with_its_title(opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        await editor.prompt("What does it say?")
        copy = (await _fork(editor, editor.session))["sessionId"]
        await editor.wait_for(
            lambda: editor.updates("available_commands_update", session=copy), "the commands of the copy"
        )
        [told] = editor.updates("session_info_update", session=copy)
        listed = await _listed(editor)
        assert told["title"] == listed[copy]["title"] == "What does it say? (fork)"
        assert listed[editor.session]["title"] == "What does it say?"


@pytest.mark.rule("session.fork")
async def test_a_running_turn_is_copied_as_if_it_had_been_interrupted_and_goes_on_in_its_own_session(
    opened: Spawn,
) -> None:
    slow = call("shell", command="until [ -e go ]; do :; done; echo ran")
    script = Script(
        turn(say("well"), slow, when="first"), turn(say("ran it"), when="first"), turn(say("fine"), when="second")
    )
    async with opened(script=script, config='mode = "auto"') as editor:
        source = editor.session
        running = await editor.start_prompt("first")
        await editor.wait_for_call("in_progress")
        copy = (await _fork(editor, source))["sessionId"]
        _, replayed = await editor.load(copy)
        assert [update["status"] for update in replayed if update.get("status")][-1] == "failed"
        assert (await editor.prompt("second", session=copy)).text == "fine"
        (editor.project / "go").touch()
        assert (await running.outcome()).text == "wellran it"


@pytest.mark.rule("session.fork")
async def test_a_copy_of_a_session_of_another_process_may_work_in_another_folder(
    spawn: Spawn, opened: Spawn, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("elsewhere\n")
    async with opened(script=TALK) as first:
        await first.prompt("what does it say?")
        await first.request("session/set_mode", {"sessionId": first.session, "modeId": "plan"})
        async with spawn(script=TALK) as second:
            await second.initialize()
            copy = await _fork(second, first.session, cwd=str(other), additionalDirectories=[str(second.project)])
            assert copy["modes"]["currentModeId"] == "plan"
            listed = (await _listed(second))[copy["sessionId"]]
            assert (listed["cwd"], listed["additionalDirectories"]) == (str(other), [str(second.project)])
            await second.prompt("bye", session=copy["sessionId"])
            outcome = await second.prompt("again", session=copy["sessionId"])
            assert "elsewhere" in str(outcome.calls)
        assert (await first.failing("session/fork", {"sessionId": first.session, "cwd": "here"})).code == -32602


@pytest.mark.rule("plan.whole")
@pytest.mark.rule("session.fork")
async def test_the_plan_of_a_copy_is_one_plan_that_its_own_turns_change(opened: Spawn) -> None:
    step = {"content": "look", "priority": "high", "status": "pending"}
    script = Script(turn(call("plan", entries=[step])), turn(say("planned")), loop=True)
    async with opened(script=script, capabilities={"plan": {}}) as editor:
        await editor.prompt("plan it")
        copy = (await _fork(editor, editor.session))["sessionId"]
        await editor.load(copy)
        await editor.prompt("plan it again", session=copy)
        plans = {update["plan"]["planId"] for update in editor.updates("plan_update", session=copy)}
        assert len(plans) == 1


# ------------------------------------------------------------------ archive


@pytest.mark.case(46)
@pytest.mark.rule("session.archived-flag")
@pytest.mark.rule("session.archive-filter")
async def test_archived_sessions_are_listed_only_for_those_who_ask(spawn: Spawn) -> None:
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        kept, away = [(await editor.new_session())["sessionId"] for _ in range(2)]
        for session in (kept, away):
            await editor.prompt("hi", session=session)
        for _ in range(2):
            assert await editor.request("session/archive", {"sessionId": away}) == {}
        assert set(await _listed(editor)) == set(await _listed(editor, archived="exclude")) == {kept}
        assert set(await _listed(editor, archived=None)) == {kept}
        everything = await _listed(editor, archived="include")
        assert {name: session["archived"] for name, session in everything.items()} == {kept: False, away: True}
        assert set(await _listed(editor, archived="only", cwd=str(editor.project))) == {away}
        for wrong in ("", "all", "_own", True, 7):
            assert (await editor.failing("session/list", {"archived": wrong})).code == -32602, wrong
        for _ in range(2):
            assert await editor.request("session/unarchive", {"sessionId": away}) == {}
        assert set(await _listed(editor)) == {kept, away}
        assert (await editor.failing("session/prompt", {"sessionId": away, "prompt": []})).code == -32002


@pytest.mark.case(46)
@pytest.mark.rule("session.list-cursor")
async def test_a_cursor_belongs_to_the_filter_it_came_with(spawn: Spawn) -> None:
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        for _ in range(51):
            await editor.request("session/archive", {"sessionId": (await editor.new_session())["sessionId"]})
        page = await editor.request("session/list", {"archived": "only"})
        cursor = page["nextCursor"]
        for wrong in ({}, {"archived": "include"}, {"archived": "only", "cwd": str(editor.project)}):
            assert (await editor.failing("session/list", {"cursor": cursor, **wrong})).code == -32602
        rest = await editor.request("session/list", {"archived": "only", "cursor": cursor})
        assert (len(page["sessions"]), len(rest["sessions"]), "nextCursor" in rest) == (50, 1, False)


@pytest.mark.case(15)
@pytest.mark.rule("session.archive-closes")
async def test_archiving_ends_what_runs_and_closes_the_session(opened: Spawn) -> None:
    async with opened(script=FOREVER) as editor:
        running = await editor.start_prompt("long")
        waiting = await editor.start_prompt("short")
        await editor.wait_for_text("working")
        archive = await editor.start("session/archive", {"sessionId": editor.session})
        assert await archive.result() == {}
        assert [(await prompt.outcome()).stop_reason for prompt in (running, waiting)] == ["cancelled"] * 2
        assert running.end is not None
        assert archive.end is not None
        assert running.end <= archive.end
        prompt: Json = {"sessionId": editor.session, "prompt": [{"type": "text", "text": "short"}]}
        assert (await editor.failing("session/prompt", prompt)).code == -32002
        assert await editor.request("session/status", {"sessionId": editor.session}) == {"status": "saved"}


@pytest.mark.case(12)
@pytest.mark.rule("session.load-replay")
async def test_an_archived_session_can_be_looked_at_and_used_and_stays_archived(opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        await editor.prompt("what does it say?")
        await editor.request("session/archive", {"sessionId": editor.session})
        _, replayed = await editor.load(editor.session)
        assert spoken(replayed, "user_message_chunk") == "what does it say?"
        assert (await editor.prompt("go on")).stop_reason == "end_turn"
        assert set(await _listed(editor, archived="only")) == {editor.session}
        copy = (await _fork(editor, editor.session))["sessionId"]
        assert set(await _listed(editor)) == {copy}


# ------------------------------------------------------------------ status


@pytest.mark.rule("session.status-pure")
async def test_the_status_tells_what_is_in_memory_and_changes_nothing(spawn: Spawn, opened: Spawn) -> None:
    async with opened(script=TALK) as first:
        await first.prompt("what does it say?")
        before = await _listed(first)
        asked = {"sessionId": first.session}
        assert await first.request("session/status", asked) == {"status": "open"}
        async with spawn(script=TALK) as second:
            await second.initialize()
            for _ in range(2):
                assert await second.request("session/status", asked) == {"status": "saved"}
            failure = await second.failing("session/prompt", {**asked, "prompt": [{"type": "text", "text": "x"}]})
            assert failure.code == -32002
        await first.request("session/close", asked)
        assert await first.request("session/status", asked) == {"status": "saved"}
        assert await _listed(first) == before
        await first.request("session/delete", asked)
        assert (await first.failing("session/status", asked)).code == -32002


# ------------------------------------------------------------------ title


@pytest.mark.rule("session.title-kept")
async def test_a_title_of_the_clients_is_tidied_told_and_never_replaced(opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        asked = {"sessionId": editor.session, "title": "  The\n mill "}
        assert await editor.request("session/set_title", asked) == {"title": "The mill"}
        assert [update["title"] for update in editor.updates("session_info_update")] == ["The mill"]
        outcome = await editor.prompt("What does it say?")
        assert not [update for update in outcome.updates if update["sessionUpdate"] == "session_info_update"]
        assert (await _listed(editor))[editor.session]["title"] == "The mill"
        _, replayed = await editor.load(editor.session)
        assert [update["title"] for update in replayed if "title" in update][-1] == "The mill"
        long = await editor.request("session/set_title", {"sessionId": editor.session, "title": "x" * 1000})
        assert len(long["title"]) == 200
        for wrong in ("", " \n ", None, 7):
            failure = await editor.failing("session/set_title", {"sessionId": editor.session, "title": wrong})
            assert failure.code == -32602, wrong


@pytest.mark.rule("session.title-kept")
async def test_any_session_can_be_named_also_one_that_is_not_open_and_its_place_in_the_list_stays(
    spawn: Spawn, opened: Spawn
) -> None:
    async with opened(script=TALK) as first:
        older = first.session
        await first.prompt("hi")
        await first.new_session()
        await first.prompt("hi")
        order = list(await _listed(first))
        async with spawn(script=TALK) as second:
            await second.initialize()
            await second.request("session/set_title", {"sessionId": older, "title": "Old"})
        assert list(await _listed(first)) == order
        assert (await _listed(first))[older]["title"] == "Old"
        outcome = await first.prompt("What does it say?", session=older)
        told = [update["title"] for update in outcome.updates if update["sessionUpdate"] == "session_info_update"]
        assert told == ["Old"]
        assert (await _listed(first))[older]["title"] == "Old"
