"""A prompt that joins the turn which runs, when the client asks for that in its `_meta`."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pytest

from claw_acp.core.errors import SessionBusy
from claw_acp.session.session import QUEUE_LIMIT
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Call, Json, spoken
from tests.support.editors.shared_house import Guest, SharedHouse
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, Step, call, expect, hold, say, turn
from tests.support.servers.model_replies import Say
from tests.support.servers.model_server import ModelServer

OpenHouse: TypeAlias = Callable[..., AbstractAsyncContextManager[SharedHouse]]
NOTE = "and be quick"
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
CALLING = turn(say("one moment"), call("shell", command="until [ -e go ]; do :; done; echo ran"))


@pytest.fixture
def open_house(project: Path, home: Path) -> OpenHouse:
    return partial(SharedHouse.opened, project=project, home=home, config='mode = "auto"')


async def steer(guest: Guest, content: str | Json = NOTE, *, steering: bool = True) -> Call:
    """Send a prompt that is to join the turn, and see that it has arrived."""
    block: Json = {"type": "text", "text": content} if isinstance(content, str) else content
    prompt: Json = {"sessionId": guest.session, "prompt": [block]}
    sent = await guest.start("session/prompt", {**prompt, "_meta": {"claw-acp/steer": steering}})
    await guest.request("session/status", {"sessionId": guest.session})
    return sent


async def begun(house: SharedHouse) -> tuple[Guest, Call]:
    """A guest whose turn runs a command until there is a file `go`."""
    guest = await house.visit()
    await guest.new_session()
    running = await guest.start_prompt("begin")
    await guest.wait_for_call("in_progress")
    return guest, running


async def test_it_joins_before_the_next_model_request_and_is_answered_with_the_turn(
    open_house: OpenHouse, project: Path
) -> None:
    async with open_house(script=Script(CALLING, turn(expect(NOTE), say("quickly done")))) as house:
        guest, running = await begun(house)
        steering = await steer(guest)
        (project / "go").touch()
        assert (await running.outcome()).stop_reason == (await steering.outcome()).stop_reason == "end_turn"
        roles = [message.role for message in (await house.session(guest.session)).history.messages()]
        assert roles == ["user", "assistant", "tool", "user", "assistant"]


async def test_one_that_comes_while_the_model_gives_its_last_answer_is_still_answered(open_house: OpenHouse) -> None:
    script = Script(turn(say("almost"), hold("gate")), turn(expect(NOTE), say("and quickly")))
    async with open_house(script=script) as house:
        guest = await house.visit()
        await guest.new_session()
        running = await guest.start_prompt("begin")
        await guest.wait_for_text("almost")
        steering = await steer(guest)
        script.let_go("gate")
        assert "and quickly" in (await running.outcome()).text
        assert (await steering.outcome()).stop_reason == "end_turn"


@pytest.mark.parametrize(("text", "steering"), [(NOTE, False), ("/help", True), ("/hepl", True)])
async def test_what_was_not_asked_to_join_and_commands_wait_for_their_own_turn(
    open_house: OpenHouse, project: Path, text: str, *, steering: bool
) -> None:
    script = Script(CALLING, turn(expect("ran"), say("done")), turn(expect(NOTE), say("later")))
    async with open_house(script=script) as house:
        guest, running = await begun(house)
        waiting = await steer(guest, text, steering=steering)
        (project / "go").touch()
        assert (await running.outcome()).stop_reason == (await waiting.outcome()).stop_reason == "end_turn"


async def test_without_a_turn_it_begins_one(open_house: OpenHouse) -> None:
    async with open_house(script=Script(turn(expect(NOTE), say("hello")))) as house:
        guest = await house.visit()
        await guest.new_session()
        assert (await (await steer(guest)).outcome()).stop_reason == "end_turn"


async def test_it_can_be_taken_back_while_the_turn_goes_on(open_house: OpenHouse, project: Path) -> None:
    async with open_house(script=Script(CALLING, turn(expect("ran"), say("done")))) as house:
        guest, running = await begun(house)
        steering = await steer(guest)
        await guest.notify("$/cancel_request", {"requestId": steering.id})
        assert (await steering.outcome()).stop_reason == "cancelled"
        (project / "go").touch()
        assert (await running.outcome()).stop_reason == "end_turn"


async def test_a_cancelled_turn_takes_along_what_was_to_join_it(open_house: OpenHouse) -> None:
    async with open_house(script=Script(CALLING, turn(say("never")))) as house:
        guest, running = await begun(house)
        steering = await steer(guest)
        await guest.notify("session/cancel", {"sessionId": guest.session})
        assert (await running.outcome()).stop_reason == (await steering.outcome()).stop_reason == "cancelled"


async def test_one_that_comes_after_the_turn_was_cancelled_is_answered_in_its_own(open_house: OpenHouse) -> None:
    async with open_house(script=Script(CALLING, turn(expect(NOTE), say("quickly done")))) as house:
        guest, running = await begun(house)
        await guest.notify("session/cancel", {"sessionId": guest.session})
        steering = await steer(guest)
        assert (await running.outcome()).stop_reason == "cancelled"
        assert (await steering.outcome()).stop_reason == "end_turn"


async def test_one_that_could_not_join_is_not_overtaken_by_the_next(open_house: OpenHouse, project: Path) -> None:
    script = Script(CALLING, turn(expect("ran"), say("done")), turn(say("a dot")), turn(expect(NOTE), say("quick")))
    async with open_house(script=script) as house:
        guest, _ = await begun(house)
        picture = await steer(guest, {"type": "image", "mimeType": "image/png", "data": DOT})
        steering = await steer(guest)
        (project / "go").touch()
        assert (await picture.outcome()).stop_reason == (await steering.outcome()).stop_reason == "end_turn"


async def test_sixteen_may_wait_to_join(open_house: OpenHouse) -> None:
    async with open_house(script=Script(CALLING)) as house:
        guest, running = await begun(house)
        for _ in range(QUEUE_LIMIT):
            await steer(guest)
        assert (await (await steer(guest)).failure()).code == SessionBusy.code
        await guest.notify("session/cancel", {"sessionId": guest.session})
        assert (await running.outcome()).stop_reason == "cancelled"


async def test_in_protocol_2_it_is_answered_when_it_has_joined(open_house: OpenHouse, project: Path) -> None:
    steps: list[Step] = [expect(NOTE), say("quickly done")]
    async with open_house(script=Script(CALLING, turn(*steps))) as house:
        guest = await house.visit_2()
        await guest.new_session()
        await guest.start_prompt("begin")
        await guest.wait_for_call("in_progress")
        steering = await steer(guest)
        (project / "go").touch()
        assert (await steering.result())["messageId"]
        await guest.wait_for_text("quickly done")


# ------------------------------------------------------------------ `/steer`


async def test_what_is_typed_behind_the_command_joins_the_turn_and_is_answered_at_once(
    open_house: OpenHouse, project: Path
) -> None:
    async with open_house(script=Script(CALLING, turn(expect(NOTE), say("quickly done")))) as house:
        guest, running = await begun(house)
        assert (await (await guest.start_prompt(f"/steer {NOTE}")).outcome()).stop_reason == "end_turn"
        (project / "go").touch()
        assert "quickly done" in (await running.outcome()).text
        messages = (await house.session(guest.session)).history.messages()
        assert [message.role for message in messages] == ["user", "assistant", "tool", "user", "assistant"]
        assert messages[3].text.endswith(NOTE)
        assert "/steer" not in messages[3].text
        _, past = await guest.load(guest.session)
        assert f"/steer {NOTE}" in spoken(past, "user_message_chunk")


@pytest.mark.parametrize("text", [NOTE, "/help is what I meant"])
async def test_behind_the_command_anything_is_text_for_the_model(
    open_house: OpenHouse, project: Path, text: str
) -> None:
    async with open_house(script=Script(CALLING, turn(expect(text), say("done")))) as house:
        guest, running = await begun(house)
        await (await guest.start_prompt(f"/steer {text}")).outcome()
        (project / "go").touch()
        assert (await running.outcome()).text.endswith("done")


async def test_without_a_turn_the_command_is_a_prompt_of_its_own_and_says_so(open_house: OpenHouse) -> None:
    async with open_house(script=Script(turn(expect(NOTE), say("hello")))) as house:
        guest = await house.visit()
        await guest.new_session()
        answer = await guest.prompt(f"/steer {NOTE}")
        assert (answer.stop_reason, answer.text) == ("end_turn", "hello")
        assert "There was no turn to steer" in answer.thoughts


async def test_the_command_alone_explains_itself(open_house: OpenHouse) -> None:
    async with open_house(script=Script(turn(say("never")))) as house:
        guest = await house.visit()
        await guest.new_session()
        assert "tells the model something while it works" in (await guest.prompt("/steer")).text


async def test_what_a_cancelled_turn_did_not_take_is_named(open_house: OpenHouse) -> None:
    async with open_house(script=Script(CALLING)) as house:
        guest, running = await begun(house)
        await (await guest.start_prompt(f"/steer {NOTE}")).outcome()
        await guest.notify("session/cancel", {"sessionId": guest.session})
        cancelled = await running.outcome()
        assert cancelled.stop_reason == "cancelled"
        assert "ended before it could take" in cancelled.thoughts
        assert NOTE in cancelled.thoughts


async def test_the_command_in_protocol_2_is_answered_when_it_has_joined(open_house: OpenHouse, project: Path) -> None:
    async with open_house(script=Script(CALLING, turn(expect(NOTE), say("quickly done")))) as house:
        guest = await house.visit_2()
        await guest.new_session()
        await guest.start_prompt("begin")
        await guest.wait_for_call("in_progress")
        steering = await guest.start_prompt(f"/steer {NOTE}")
        (project / "go").touch()
        assert (await steering.result())["messageId"]
        await guest.wait_for_text("quickly done")


async def test_a_turn_whose_key_is_still_being_read_is_joined_too(opened: Spawn, tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.always(Say(text=("fine",)))
        reading = f"touch {tmp_path}/begun; until [ -e {tmp_path}/go ]; do :; done; echo sk-test-0123456789abcdef"
        config = (
            'model = "work/gpt-5.1"\n[providers.work]\nkind = "openai"\nmodels = ["gpt-5.1"]\n'
            f'base_url = "{server.openai_url}"\napi_key = "command:sh -c \'{reading}\'"\n'
        )
        async with opened(config=config) as editor:
            running = await editor.start_prompt("begin")
            await eventually((tmp_path / "begun").exists, what="a key that is being read")
            steering = await editor.start_prompt(f"/steer {NOTE}")
            await editor.request("session/status", {"sessionId": editor.session})
            (tmp_path / "go").touch()
            assert (await running.outcome()).text == "fine"
            assert (await steering.outcome()).stop_reason == "end_turn"
            assert len(server.requests) == 1
            assert NOTE in str(server.requests[0])
