"""Several things at once."""

import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Call
from tests.support.script_files import Script, call, hold, say, turn


@pytest.mark.case(32)
async def test_a_second_prompt_waits_for_the_first_and_never_mixes_with_it(opened: Spawn) -> None:
    script = Script(turn(say("a1 "), hold("gate"), say("a2")), turn(say("b")))
    async with opened(script=script) as editor:
        first = await editor.start_prompt("one")
        await editor.wait_for_text("a1 ")
        second = await editor.start_prompt("two")
        await editor.request("session/list", {})
        assert not second.updates
        editor.script.let_go("gate")
        assert (await first.outcome()).text == "a1 a2"
        assert (await second.outcome()).text.endswith("b")
        assert first.end is not None
        assert [update for frame in editor.transcript[first.end :] if (update := frame.update)]


@pytest.mark.case(32)
async def test_a_queue_that_is_full_refuses_in_words_and_keeps_what_waits(opened: Spawn) -> None:
    script = Script(turn(say("first"), hold("gate")), turn(say("next")), loop=True)
    async with opened(script=script) as editor:
        running = await editor.start_prompt("go")
        await editor.wait_for_text("first")
        waiting = [await editor.start_prompt(f"later {number}") for number in range(16)]
        failure = await (await editor.start_prompt("one too many")).failure()
        assert (failure.code, "16" in failure.message) == (-31010, True)
        editor.script.let_go("gate")
        assert [(await prompt.outcome()).stop_reason for prompt in (running, *waiting)] == ["end_turn"] * 17


@pytest.mark.case(32)
async def test_a_session_that_waits_for_permission_holds_up_nobody(opened: Spawn) -> None:
    script = Script(
        turn(call("shell", command="touch x"), when="ask"),
        turn(say("never mind"), when="ask"),
        turn(say("quick"), when="quick"),
    )
    async with opened(script=script) as editor:
        editor.will_answer(None)
        slow = await editor.start_prompt("ask")
        question = await editor.wait_for_question()
        assert len((await editor.request("session/list", {}))["sessions"]) == 1
        await editor.new_session()
        assert (await editor.prompt("quick")).text == "quick"
        assert not slow.answered
        await editor.answer(question, "reject_once")
        assert (await slow.outcome()).text == "never mind"


@pytest.mark.case(30, 32)
async def test_two_sessions_stream_at_the_same_time(opened: Spawn) -> None:
    halves = [turn(say(f"{name}1 "), hold(name), say(f"{name}2"), when=name) for name in ("a", "b")]
    async with opened(script=Script(*halves)) as editor:
        first = await editor.start_prompt("a")
        await editor.new_session()
        second = await editor.start_prompt("b")
        await editor.wait_for_text("a1 ")
        await editor.wait_for_text("b1 ")
        editor.script.let_go("b")
        assert (await second.outcome()).text == "b1 b2"
        assert not first.answered
        editor.script.let_go("a")
        assert (await first.outcome()).text == "a1 a2"


@pytest.mark.case(30)
async def test_many_sessions_at_once_keep_their_frames_whole_and_apart(opened: Spawn) -> None:
    names = [f"s{number}e" for number in range(12)]
    turns = [turn(say(*[f"{name}-{part} " * 200 for part in range(20)]), when=name) for name in names]
    async with opened(script=Script(*turns)) as editor:
        prompts: dict[str, Call] = {}
        for name in names:
            await editor.new_session()
            prompts[name] = await editor.start_prompt(name)
        for name, prompt in prompts.items():
            assert (await prompt.outcome()).text == "".join(f"{name}-{part} " * 200 for part in range(20))
