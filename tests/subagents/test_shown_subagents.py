"""Clients that can show the sessions of subagents see them work; all others see the latest steps in the call."""

from pathlib import Path

import pytest

from tests.subagents.test_background import LEAVES
from tests.subagents.test_delegate import AUTO, delegated, works
from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, spoken
from tests.support.script_files import Script, call, expect, hold, say, turn

SHOWS: Json = {"subagents": {}}


def told(editor: Editor, session: str) -> list[Json]:
    """The updates about the subagents of a session."""
    return [
        {key: value for key, value in update.items() if key != "sessionUpdate"}
        for update in editor.updates("subagent_update", session=session)
    ]


@pytest.mark.rule("subagent.announced")
async def test_a_subagent_is_announced_then_seen_at_work_and_idle_in_the_end(opened: Spawn, project: Path) -> None:
    script = Script(
        delegated(),
        *works(turn(call("read_file", path="a.txt")), turn(say("It says hello."))),
        turn(expect("It says hello."), say("done")),
    )
    async with opened(script=script, capabilities=SHOWS) as editor:
        await editor.prompt("go")
        begun, ended = told(editor, editor.session)
        child = begun["sessionId"]
        assert begun == {"sessionId": child, "title": "look", "state": {"state": "running"}}
        assert ended == {"sessionId": child, "state": {"state": "idle", "stopReason": "end_turn"}}
        shown = editor.updates(session=child)
        assert spoken(shown, "user_message_chunk").endswith("Look.")
        assert spoken(shown, "agent_message_chunk") == "It says hello."
        assert [update["title"] for update in shown if update["sessionUpdate"] == "tool_call"] == ["Read a.txt"]


async def test_subagents_of_subagents_are_announced_in_the_session_that_gave_them_their_task(opened: Spawn) -> None:
    script = Script(
        delegated("first", title="one"),
        *works(delegated("second", title="two"), turn(say("up")), on=r"agent .*\s+first"),
        *works(turn(say("deep")), on=r"agent .*\s+second"),
        turn(expect("up"), say("done")),
    )
    async with opened(script=script, capabilities=SHOWS) as editor:
        await editor.prompt("go")
        (one,) = {update["sessionId"] for update in told(editor, editor.session)}
        (two,) = {update["sessionId"] for update in told(editor, one)}
        assert spoken(editor.updates(session=two), "agent_message_chunk") == "deep"


async def test_a_task_in_the_background_is_seen_after_the_turn_until_its_session_is_closed(opened: Spawn) -> None:
    script = Script(LEAVES, turn(say("begun")), *works(turn(say("I begin."), hold("gate"), say("never"))))
    async with opened(script=script, capabilities=SHOWS, prompted_by="anyone") as editor:
        await editor.prompt("go")
        child = told(editor, editor.session)[0]["sessionId"]
        await editor.wait_for(lambda: spoken(editor.updates(session=child), "agent_message_chunk"), "its words")
        await editor.request("session/close", {"sessionId": editor.session})
        assert told(editor, editor.session)[-1]["state"] == {"state": "idle", "stopReason": "cancelled"}


@pytest.mark.parametrize("capabilities", [{}, {"subagents": None}])
async def test_other_clients_see_the_steps_in_the_call(opened: Spawn, project: Path, capabilities: Json) -> None:
    script = Script(
        delegated(),
        *works(turn(call("read_file", path="a.txt")), turn(hold("gate"), say("It says hello."))),
        turn(say("done")),
    )
    async with opened(script=script, config=AUTO, capabilities=capabilities) as editor:
        running = await editor.start_prompt("go")
        await editor.wait_for(lambda: "- Read a.txt" in str(editor.updates("tool_call_update")), "the step")
        script.let_go("gate")
        await running.outcome()
        assert editor.updates("subagent_update") == []
        assert {frame["params"]["sessionId"] for frame in editor.received("session/update")} == {editor.session}
