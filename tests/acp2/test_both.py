"""One session in both protocols, one after the other: the same conversation with the same ids."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.editors.editor import Editor
from tests.support.editors.editor_v2 import EditorV2, printed, said
from tests.support.editors.exchange import Json, spoken, tool_calls
from tests.support.script_files import Script, call, say, think, turn

CONFIG = 'mode = "auto"'
FIRST = Script(
    turn(think("Look."), say("Looking. "), call("read_file", path="a.txt")),
    turn(call("shell", command="echo printed"), call("edit_file", path="nowhere.txt", edits=[])),
    turn(call("plan", entries=[{"content": "Finish", "priority": "high", "status": "in_progress"}])),
    turn(say("Done.")),
    turn(say("More.")),
)


@pytest.mark.case(12, 50)
@pytest.mark.rule("v2.replay-ids", "v2.replay-from")
async def test_what_was_said_in_protocol_1_is_there_in_protocol_2(project: Path, home: Path) -> None:
    async with Editor.opened(project=project, home=home, script=FIRST, config=CONFIG) as editor:
        await editor.prompt("Work")
        session = editor.session
        _, shown_in_1 = await editor.load(session)
    async with EditorV2.spawned(project=project, home=home, script=FIRST, config=CONFIG) as editor:
        await editor.initialize()
        _, shown_in_2 = await editor.resume(session, replay=True)
        assert in_2(shown_in_2) == in_1(shown_in_1)
        assert (await editor.run("And?")).text == "More."


@pytest.mark.case(12, 50)
@pytest.mark.rule("v2.replay-ids")
async def test_what_was_said_in_protocol_2_is_there_in_protocol_1(project: Path, home: Path) -> None:
    async with EditorV2.opened(project=project, home=home, script=FIRST, config=CONFIG) as editor:
        live = await editor.run("Work")
        session = editor.session
        _, shown_in_2 = await editor.resume(session, replay=True)
    async with Editor.spawned(project=project, home=home, script=FIRST, config=CONFIG) as editor:
        await editor.initialize()
        _, shown_in_1 = await editor.load(session)
        assert in_1(shown_in_1) == in_2(shown_in_2)
        assert in_1(shown_in_1)["users"] == {live.message: "Work"}
        assert (await editor.prompt("And?")).text == "More."


@pytest.mark.case(33)
async def test_options_and_titles_are_the_same_in_both(project: Path, home: Path) -> None:
    async with EditorV2.opened(project=project, home=home, script=FIRST, config=CONFIG) as editor:
        await editor.run("Work")
        session = editor.session
        params = {"sessionId": session, "configId": "mode", "type": "id", "value": "plan"}
        set_in_2 = await editor.request("session/set_config_option", params)
    async with Editor.spawned(project=project, home=home, capabilities=SWITCHES, script=FIRST) as editor:
        await editor.initialize()
        loaded, _ = await editor.load(session)
        assert loaded["modes"]["currentModeId"] == "plan"
        as_in_2 = [
            {"configId": option["id"], **{key: option[key] for key in option if key != "id"}}
            for option in loaded["configOptions"]
        ]
        assert as_in_2 == set_in_2["configOptions"]
        (listed,) = (await editor.request("session/list", {}))["sessions"]
        assert listed["title"] == "Work"


SWITCHES: Json = {"session": {"configOptions": {"boolean": {}}}}


def in_1(updates: Sequence[Json]) -> Json:
    """A conversation of protocol 1."""
    users = {
        update["messageId"]: update["content"]["text"]
        for update in updates
        if update["sessionUpdate"] == "user_message_chunk"
    }
    plans = [update["entries"] for update in updates if update["sessionUpdate"] == "plan"]
    return {
        "users": users,
        "said": spoken(updates, "agent_message_chunk"),
        "thought": spoken(updates, "agent_thought_chunk"),
        "plan": plans[-1],
        "calls": {
            call_id: {key: shown.get(key) for key in ("name", "title", "kind", "status", "rawInput", "rawOutput")}
            for call_id, shown in tool_calls(updates).items()
        },
        "printed": [
            item["content"]["text"].strip("`\n")
            for shown in tool_calls(updates).values()
            if shown["kind"] == "execute"
            for item in shown["content"]
        ],
    }


def in_2(updates: Sequence[Json]) -> Json:
    """The same of protocol 2."""
    users = {
        update["messageId"]: update["content"][0]["text"]
        for update in updates
        if update["sessionUpdate"] == "user_message"
    }
    plans = [update["plan"]["entries"] for update in updates if update["sessionUpdate"] == "plan_update"]
    calls = tool_calls(updates)
    return {
        "users": users,
        "said": said(updates, "agent_message"),
        "thought": said(updates, "agent_thought"),
        "plan": plans[-1],
        "calls": {
            call_id: {key: shown.get(key) for key in ("name", "title", "kind", "status", "rawInput", "rawOutput")}
            for call_id, shown in calls.items()
        },
        "printed": [
            printed(updates, item["terminalId"]).rstrip()
            for shown in calls.values()
            if shown["kind"] == "execute"
            for item in shown["content"]
        ],
    }
