"""A prompt is answered once it is in the conversation; what follows is told as updates and states."""

import pytest

from tests.acp2.conftest import Spawn
from tests.support.script_files import Script, call, fail, hold, say, think, turn


@pytest.mark.rule("v2.prompt-answer", "v2.user-message", "v2.state-running", "v2.state-stop-reason", "v2.message-id")
async def test_a_prompt_is_inserted_answered_worked_on_and_ended(opened: Spawn) -> None:
    script = Script(turn(think("Hm."), say("One, ", "two."), call("read_file", path="a.txt")), turn(say("Done.")))
    async with opened(script=script) as editor:
        done = await editor.run("count")
        assert done.kinds[:3] == ["session_info_update", "running", "user_message"]
        shown = next(update for update in done.updates if update["sessionUpdate"] == "user_message")
        assert shown == {
            "sessionUpdate": "user_message",
            "messageId": done.message,
            "content": [{"type": "text", "text": "count"}],
        }
        assert (done.text, done.thoughts, done.stop_reason) == ("One, two.Done.", "Hm.", "end_turn")
        assert [(call["name"], call["status"]) for call in done.calls] == [("read_file", "completed")]


@pytest.mark.rule("v2.prompt-answer")
async def test_the_answer_does_not_wait_for_the_work(opened: Spawn) -> None:
    script = Script(turn(say("Half"), hold("go on"), say(" done")))
    async with opened(script=script) as editor:
        begin = len(editor.transcript)
        message = await editor.insert("work")
        assert message
        assert editor.states == ["running"]
        script.let_go("go on")
        assert (await editor.ended(begin)).text == "Half done"


@pytest.mark.rule("v2.state-error", "v2.prompt-no-late-error")
async def test_a_turn_that_fails_ends_idle_with_the_reason(opened: Spawn) -> None:
    script = Script(turn(fail("RequestRejected", message="the vendor said no")))
    async with opened(script=script) as editor:
        done = await editor.run("work")
        assert done.end["stopReason"] == "error"
        assert "the vendor said no" in done.end["error"]["message"]
        assert done.end["error"]["code"] == -31112
        assert [update for update in done.updates if update["sessionUpdate"] == "notice"] == []
