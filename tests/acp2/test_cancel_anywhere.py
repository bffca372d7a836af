"""Cancelling at any frame of a turn, in every way, again and again in one session."""

import random

import pytest

from tests.acp2.conftest import Spawn
from tests.support.editors.editor_v2 import EditorV2
from tests.support.editors.exchange import tool_calls
from tests.support.script_files import Script, call, say, think, turn

ROUNDS = 12
FRAMES = 40  # a whole turn has about as many
TALK = (
    turn(think("hm ", "well "), say("let ", "me ", "see "), call("read_file", path="a.txt"), call("glob", pattern="*")),
    turn(call("write_file", path="new.txt", content="x"), call("shell", command="echo ran"), say("on ")),
    turn(call("shell", command="sleep 60", background=True), call("shell", command="sleep 0.2; echo slow")),
    turn(say("all ", "done ", "now ")),
)
FINAL = {"completed", "failed", "cancelled"}


@pytest.mark.case(1, 9, 45)
@pytest.mark.rule("v2.cancel", "v2.cancel-requests", "v2.background")
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_a_turn_cancelled_at_any_frame_ends_cleanly(opened: Spawn, seed: int) -> None:
    chance = random.Random(seed)
    script = Script(turn(say("calm"), when="calm"), *TALK, loop=True)
    async with opened(script=script, late_cancel="allowed") as editor:
        for _ in range(ROUNDS):
            frames = chance.randrange(FRAMES)
            editor.will_answer(chance.choice(["allow_once", "reject_once", None]))
            start, begin, told = len(editor.received()), len(editor.transcript), len(editor.states)
            prompt = await editor.start_prompt("go")
            await editor.wait_for(
                lambda until=start + frames, told=told: (
                    "idle" in editor.states[told:] or editor.questions or len(editor.received()) >= until
                ),
                "the point to cancel at",
            )
            await _stop(editor, chance)
            await editor.wait_for(lambda prompt=prompt: prompt.answered, "the answer to the prompt")
            if prompt.answer and "result" in prompt.answer:
                done = await editor.ended(begin)
                assert done.stop_reason in {"cancelled", "end_turn"}
                assert {item["status"] for item in done.calls} <= FINAL
            else:
                assert (await prompt.failure()).code == -32800
            editor.questions.clear()
        assert (await editor.run("calm")).text == "calm"
        _, replayed = await editor.resume(replay=True)
        assert {item["status"] for item in tool_calls(replayed).values()} <= FINAL
        assert replayed[-1]["state"] == "idle"


async def _stop(editor: EditorV2, chance: random.Random) -> None:
    """Cancel the turn, or close the session and open it again."""
    if chance.random() < 0.8:
        await editor.cancel(answering=False)
    else:
        await editor.request("session/close", {"sessionId": editor.session})
        await editor.resume(replay=chance.random() < 0.5)
