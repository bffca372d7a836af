"""What comes before what. (The judge of every test also refuses updates outside their turn.)"""

from typing import Any

import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, call, say, turn, usage

TALK = Script(
    turn(say("reading"), call("read_file", path="a.txt"), usage(input_tokens=5, output_tokens=5)),
    turn(say("done"), usage(input_tokens=7, output_tokens=1)),
    loop=True,
)


def _place(frames: list[dict[str, Any]], **wanted: object) -> int:
    return next(index for index, frame in enumerate(frames) if wanted.items() <= frame.items())


@pytest.mark.rule("commands.after-answer")
@pytest.mark.case(10)
async def test_a_new_sessions_commands_follow_the_answer_that_names_it(spawn: Spawn) -> None:
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        creating = await editor.start("session/new", {"cwd": str(editor.project), "mcpServers": []})
        await creating.result()
        await editor.wait_for(lambda: editor.updates("available_commands_update"), "the commands")
        frames = editor.received()
        assert _place(frames, id=creating.id) < _place(frames, method="session/update")
        [commands] = editor.updates("available_commands_update")
        names = [command["name"] for command in commands["availableCommands"]]
        assert "help" in names
        assert not [name for name in names if name.startswith("/")]


@pytest.mark.rule("prompt.updates-first", "kit1.prompt")
@pytest.mark.case(9)
async def test_nothing_of_a_turn_follows_its_answer(opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        await editor.wait_for(lambda: editor.updates("available_commands_update"), "the commands")
        prompts = [await editor.start_prompt(f"turn {number}") for number in range(3)]
        for prompt in prompts:
            assert (await prompt.outcome()).stop_reason == "end_turn"
        seen = len(editor.updates())
        await editor.request("session/list", {})
        assert len(editor.updates()) == seen


@pytest.mark.rule("tool.announced-first", "tool.status-order")
@pytest.mark.case(7, 9)
async def test_a_call_is_announced_runs_and_ends_in_this_order(opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        updates = (await editor.prompt("go")).updates
    tool = [update for update in updates if update["sessionUpdate"].startswith("tool_call")]
    assert [(update["sessionUpdate"], update.get("status")) for update in tool if "status" in update] == [
        ("tool_call", "pending"),
        ("tool_call_update", "in_progress"),
        ("tool_call_update", "completed"),
    ]
    kinds = [update["sessionUpdate"] for update in updates]
    assert kinds.index("agent_message_chunk") < kinds.index("tool_call")


@pytest.mark.rule("update.usage")
@pytest.mark.case(49)
async def test_usage_counts_are_told_within_the_turn_and_summed_in_its_answer(opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        outcome = await editor.prompt("go")
        told = [update for update in outcome.updates if update["sessionUpdate"] == "usage_update"]
        assert [(update["used"], update["size"]) for update in told] == [(10, 200_000), (8, 200_000)]
        assert outcome.result["usage"] == {"totalTokens": 18, "inputTokens": 12, "outputTokens": 6}


@pytest.mark.rule("kit1.load")
@pytest.mark.case(11)
async def test_a_replay_ends_with_its_answer(opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        await editor.prompt("go")
        result, replayed = await editor.load(editor.session)
        assert result["modes"]["currentModeId"] == "ask"
        kinds = [update["sessionUpdate"] for update in replayed]
        assert kinds[0] == "user_message_chunk"
        assert kinds.count("usage_update") == 1
        before = len(editor.updates())
        await editor.request("session/list", {})
        later = editor.updates()[before:]
        assert {update["sessionUpdate"] for update in later} <= {"available_commands_update"}


@pytest.mark.case(50)
async def test_each_message_has_an_id_of_its_own(opened: Spawn) -> None:
    async with opened(script=TALK) as editor:
        updates = [*(await editor.prompt("one")).updates, *(await editor.prompt("two")).updates]
    chunks = [update for update in updates if update["sessionUpdate"] == "agent_message_chunk"]
    assert len({update["messageId"] for update in chunks}) == 4
    calls = [update["toolCallId"] for update in updates if update["sessionUpdate"] == "tool_call"]
    assert len(set(calls)) == len(calls) == 2
