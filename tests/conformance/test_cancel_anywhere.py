"""Cancelling at any frame of a turn, in both ways, again and again in one session."""

import random

import pytest

from tests.support.editors.editor import FULL
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import tool_calls
from tests.support.script_files import Script, call, say, think, turn

ROUNDS = 12
FRAMES = 35  # a whole turn has about as many
TALK = (
    turn(think("hm ", "well "), say("let ", "me ", "see "), call("read_file", path="a.txt"), call("glob", pattern="*")),
    turn(call("write_file", path="new.txt", content="x"), call("shell", command="echo ran"), say("on ")),
    turn(call("shell", command="sleep 60 & echo left"), call("read_file", path="missing.txt"), call("no_such_tool")),
    turn(say("all ", "done ", "now ")),
)


@pytest.mark.rule("prompt.updates-first", "cancel.result")
@pytest.mark.case(1, 9, 45)
@pytest.mark.parametrize("capabilities", [None, FULL], ids=["working here", "working in the editor"])
@pytest.mark.parametrize("seed", [1, 2])
async def test_a_turn_cancelled_at_any_frame_ends_cleanly(opened: Spawn, capabilities: object, seed: int) -> None:
    chance = random.Random(seed)
    script = Script(turn(say("calm"), when="calm"), *TALK, loop=True)
    async with opened(script=script, capabilities=capabilities, late_cancel="allowed") as editor:
        for _ in range(ROUNDS):
            frames = chance.randrange(FRAMES)
            editor.will_answer(chance.choice(["allow_once", "reject_once", None]))
            start = len(editor.received())
            prompt = await editor.start_prompt("go")
            await editor.wait_for(
                lambda prompt=prompt, until=start + frames: (
                    prompt.answered or editor.questions or len(editor.received()) >= until
                ),
                "the point to cancel at",
            )
            if chance.random() < 0.5:
                await editor.cancel()
            else:
                await editor.notify("$/cancel_request", {"requestId": prompt.id})
            outcome = await prompt.outcome()
            assert outcome.stop_reason in {"cancelled", "end_turn"}
            assert {tool["status"] for tool in outcome.calls} <= {"completed", "failed"}
            editor.questions.clear()
        assert editor.terminals.unreleased() == []
        assert (await editor.prompt("calm")).text == "calm"
        _, replayed = await editor.load(editor.session)
        assert {tool["status"] for tool in tool_calls(replayed).values()} <= {"completed", "failed"}
