"""A prompt is answered once it is in the conversation; what follows is told as updates and states."""

from pathlib import Path
from typing import Any

import pytest

from tests.acp2.conftest import Spawn
from tests.support.editors.editor_v2 import EditorV2
from tests.support.editors.exchange import Json
from tests.support.script_files import Script, call, fail, hold, say, think, turn, usage

NEVER = Script(turn(say("Half"), hold("never")), loop=True)


@pytest.mark.rule(
    "v2.prompt-answer",
    "v2.user-message",
    "v2.state-running",
    "v2.state-stop-reason",
    "v2.message-id",
    "kit2.prompt",
    "kit2.state",
)
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
        assert editor.states == ["running", "idle"]


@pytest.mark.rule("v2.prompt-answer")
async def test_the_answer_does_not_wait_for_the_work(opened: Spawn) -> None:
    script = Script(turn(say("Half"), hold("go on"), say(" done")))
    async with opened(script=script) as editor:
        begin = len(editor.transcript)
        assert await editor.insert("work")
        assert editor.states == ["running"]
        script.let_go("go on")
        assert (await editor.ended(begin)).text == "Half done"


@pytest.mark.case(48)
@pytest.mark.rule("v2.state-error", "v2.prompt-no-late-error")
async def test_a_turn_that_fails_ends_idle_with_the_reason(opened: Spawn) -> None:
    broken = turn(fail("RequestRejected", message="the vendor said no"), when="work")
    script = Script(broken, turn(say("Better."), when="again"))
    async with opened(script=script) as editor:
        done = await editor.run("work")
        assert done.end["stopReason"] == "error"
        assert "the vendor said no" in done.end["error"]["message"]
        assert done.end["error"]["code"] == -31112
        assert "notice" not in done.kinds
        assert (await editor.run("again")).text == "Better."


@pytest.mark.parametrize("reason", ["max_tokens", "refusal"])
@pytest.mark.rule("v2.state-stop-reason")
async def test_the_reason_of_the_model_is_the_reason_of_the_end(opened: Spawn, reason: str) -> None:
    async with opened(script=Script(turn(say("Half"), {"stop": reason}))) as editor:
        assert (await editor.run("work")).stop_reason == reason


@pytest.mark.case(41)
@pytest.mark.rule("v2.prompt-content")
@pytest.mark.parametrize(
    "prompt",
    [
        [],
        [{"type": "audio", "data": "aGk=", "mimeType": "audio/amr"}],
        [{"type": "text", "text": "fine"}, {"type": "_own"}],
        [{"type": "hologram", "text": "x"}],
        [{"type": "text"}],
        "hi",
        None,
    ],
)
async def test_a_prompt_that_cannot_be_taken_is_refused_and_nothing_happens(opened: Spawn, prompt: object) -> None:
    async with opened(script=NEVER) as editor:
        failure = await editor.failing("session/prompt", {"sessionId": editor.session, "prompt": prompt})
        assert failure.code == -32602
        assert editor.updates() == []


@pytest.mark.case(41)
@pytest.mark.rule("v2.prompt-content")
async def test_links_resources_and_pictures_are_taken_and_shown_as_they_came(opened: Spawn) -> None:
    blocks: list[Json] = [
        {"type": "text", "text": "look"},
        {"type": "resource_link", "uri": "file:///a", "name": "a", "icons": [{"src": "data:,"}], "size": 3},
        {"type": "resource", "resource": {"uri": "file:///b", "text": "inside"}},
        {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
    ]
    script = Script(turn(say("Seen.")), images=True)
    async with opened(script=script) as editor:
        done = await editor.run(blocks)
        assert done.text == "Seen."
        (shown,) = [update for update in done.updates if update["sessionUpdate"] == "user_message"]
        del blocks[1]["icons"]
        assert shown["content"] == blocks


@pytest.mark.case(32)
@pytest.mark.rule("v2.prompt-answer")
async def test_a_second_prompt_is_held_and_inserted_when_its_turn_comes(opened: Spawn) -> None:
    script = Script(turn(say("First."), hold("go on"), when="one"), turn(say("Second."), when="two"))
    async with opened(script=script) as editor:
        await editor.insert("one")
        second = await editor.start_prompt("two")
        await editor.wait_for_text("First.")
        assert not second.answered
        script.let_go("go on")
        message = (await second.result())["messageId"]
        await editor.wait_for(lambda: editor.states == ["running", "idle", "running", "idle"], "the end of both")
        users = [update["messageId"] for update in editor.updates("user_message")]
        assert users[1] == message


@pytest.mark.case(32)
async def test_too_many_held_prompts_are_refused(opened: Spawn) -> None:
    async with opened(script=NEVER) as editor:
        await editor.insert("work")
        held = [await editor.start_prompt("more") for _ in range(16)]
        refused = await editor.start_prompt("too much")
        failure = await refused.failure()
        assert failure.code == -31010
        assert editor.states == ["running"], "a refused prompt does not end the work"
        assert not any(prompt.answered for prompt in held)
        await editor.cancel()
        assert {(await prompt.failure()).code for prompt in held} == {-32800}


@pytest.mark.case(32)
async def test_sessions_work_at_the_same_time(opened: Spawn) -> None:
    script = Script(turn(say("slow"), hold("never"), when="one"), turn(say("quick"), when="two"))
    async with opened(script=script) as editor:
        await editor.insert("one")
        await editor.new_session()
        assert (await editor.run("two")).text == "quick"


@pytest.mark.rule("v2.state-running", "v2.prompt-answer")
async def test_a_slash_command_has_the_life_of_a_turn(opened: Spawn) -> None:
    async with opened(script=Script()) as editor:
        done = await editor.run("/mode plan")
        assert done.stop_reason == "end_turn"
        assert done.kinds == ["config_option_update", "running", "user_message", "agent_message_chunk", "idle"]
        _, replayed = await editor.resume(replay=True)
        assert [update.get("messageId") for update in replayed][:2] == [done.message, done.updates[3]["messageId"]]


async def test_a_slash_command_that_cannot_be_followed_says_so(opened: Spawn) -> None:
    async with opened(script=Script()) as editor:
        done = await editor.run("/model nobody/nothing")
        assert "nobody/nothing" in done.text
        assert done.stop_reason == "end_turn"


@pytest.mark.case(49)
@pytest.mark.rule("v2.plan")
async def test_a_plan_has_an_id_and_all_its_steps_and_usage_is_told(opened: Spawn) -> None:
    steps: list[dict[str, Any]] = [
        {"content": "Look", "priority": "high", "status": "completed"},
        {"content": "Act", "priority": "low", "status": "pending"},
    ]
    script = Script(
        turn(call("plan", entries=steps), usage(inputTokens=10, outputTokens=5)), turn(say("ok")), contextWindow=1000
    )
    async with opened(script=script) as editor:
        done = await editor.run("plan")
        (plan,) = [update["plan"] for update in done.updates if update["sessionUpdate"] == "plan_update"]
        assert plan == {"type": "items", "planId": plan["planId"], "entries": steps}
        used = next(update for update in done.updates if update["sessionUpdate"] == "usage_update")
        assert used["size"] == 1000
        _, replayed = await editor.resume(replay=True)
        assert [update["plan"] for update in replayed if update["sessionUpdate"] == "plan_update"] == [plan]
        assert [update["sessionUpdate"] for update in replayed].count("usage_update") == 1


@pytest.mark.rule("v2.no-client-services", "kit2.clientcap")
@pytest.mark.case(36)
async def test_files_and_commands_are_our_own_whatever_the_client_says_it_has(opened: Spawn) -> None:
    script = Script(turn(call("read_file", path="a.txt"), call("shell", command="echo here")), turn(say("ok")))
    offered: Json = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
    async with opened(script=script, capabilities=offered, config='mode = "auto"') as editor:
        done = await editor.run("work")
        assert [call["status"] for call in done.calls] == ["completed", "completed"]
        assert {frame["method"] for frame in editor.received() if "method" in frame} == {"session/update"}


@pytest.mark.rule("v2.state-error")
async def test_a_turn_whose_session_another_process_deletes_ends_with_an_error(opened: Spawn, home: Path) -> None:
    async with opened(script=Script(turn(say("Half"), hold("go on"), say("done")))) as editor:
        begin = len(editor.transcript)
        await editor.insert("work")
        await editor.wait_for_text("Half")
        async with EditorV2.spawned(project=editor.project, home=home) as other:
            await other.initialize()
            await other.request("session/delete", {"sessionId": editor.session})
        editor.script.let_go("go on")
        done = await editor.ended(begin)
        assert done.end["stopReason"] == "error"
        assert done.end["error"]["message"]
