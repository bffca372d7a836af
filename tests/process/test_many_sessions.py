"""Two hundred sessions on one connection, all of them working."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, call, hold, say, turn

Request: TypeAlias = Callable[..., Awaitable[Any]]

pytestmark = [
    pytest.mark.forked,
    pytest.mark.timeout(300),  # four seconds of work, on a machine that may have much else to do
]

SESSIONS = 200
ROOM = 300 * 1024  # bytes a session with one short turn may add


@pytest.mark.case(30, 32)
async def test_two_hundred_sessions_prompt_at_once_and_none_mixes_with_another(opened: Spawn) -> None:
    names = [f"n{number}x" for number in range(SESSIONS)]
    script = Script(*[turn(hold("gate"), say(f"{name} one "), say(f"{name} two"), when=name) for name in names])
    async with opened(script=script) as editor:
        before = editor.process.memory().now
        sessions = {name: (await editor.new_session())["sessionId"] for name in names}
        prompts = {name: await editor.start_prompt(name, session=session) for name, session in sessions.items()}
        script.let_go("gate")
        for name, prompt in prompts.items():
            assert (await prompt.outcome()).text == f"{name} one {name} two"
        assert len(await _listed(editor.request)) == SESSIONS
        assert editor.process.memory().now - before < SESSIONS * ROOM


@pytest.mark.case(32)
async def test_a_cancel_reaches_its_session_among_two_hundred(opened: Spawn) -> None:
    script = Script(
        turn(say("waiting "), hold("never"), say("no"), when="wait"),
        turn(call("shell", command="touch x"), when="ask"),
        turn(say("quick"), when="quick"),
    )
    async with opened(script=script) as editor:
        editor.will_answer(None)
        for _ in range(SESSIONS):
            await editor.new_session()
        asking = await editor.start_prompt("ask")
        await editor.wait_for_question()
        await editor.new_session()
        held = await editor.start_prompt("wait")
        await editor.wait_for_text("waiting ")
        await editor.cancel(held.params["sessionId"])
        assert (await held.outcome()).stop_reason == "cancelled"
        await editor.new_session()
        assert (await editor.prompt("quick")).text == "quick"
        assert not asking.answered
        await editor.cancel(asking.params["sessionId"])
        assert (await asking.outcome()).stop_reason == "cancelled"


async def _listed(request: Request) -> list[str]:
    """The ids of all pages."""
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = await request("session/list", cursor)
        found += [session["sessionId"] for session in page["sessions"]]
        if "nextCursor" not in page:
            return found
        cursor = {"cursor": page["nextCursor"]}
