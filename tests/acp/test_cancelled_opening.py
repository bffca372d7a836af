"""A request that opens a session is cancelled, and the client never learns of it: nothing is left open behind."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from tests.support.editors.exchange import Call, Json
from tests.support.editors.shared_house import Guest, SharedHouse
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, say, turn

TALK = Script(turn(say("hello")), loop=True)


@asynccontextmanager
async def _no_thread_free() -> AsyncGenerator[Callable[[], bool]]:
    """While the block runs, whoever looks for prompt files waits; yields whether somebody does."""
    limiter = to_thread.current_default_thread_limiter()
    usual, limiter.total_tokens = limiter.total_tokens, 1
    await limiter.acquire_on_behalf_of(limiter)
    try:
        yield lambda: limiter.statistics().tasks_waiting > 0
    finally:
        limiter.release_on_behalf_of(limiter)
        limiter.total_tokens = usual


async def _listed(guest: Guest) -> list[str]:
    return [session["sessionId"] for session in (await guest.request("session/list", {}))["sessions"]]


async def _status(guest: Guest, session: str) -> str:
    return (await guest.request("session/status", {"sessionId": session}))["status"]


async def _saved(house: SharedHouse) -> str:
    """A session that somebody made and left; what first prompts need is loaded with it."""
    guest = await house.visit()
    await guest.new_session()
    await guest.prompt("hi")
    await guest.leave()
    return guest.session


async def _cancelled(guest: Guest, method: str, **params: Any) -> Call:
    """Send a request and cancel it when its session is open, just before the answer."""
    asked: Json = {"cwd": str(guest.project), "mcpServers": [], **params}
    async with _no_thread_free() as waits:
        call = await guest.start(method, asked)
        await eventually(waits, what="a session that is being opened")
        await guest.notify("$/cancel_request", {"requestId": call.id})
        assert (await call.failure()).code == -32800
    return call


@pytest.mark.parametrize(
    ("version", "method"), [(1, "session/load"), (2, "session/new"), (2, "session/resume"), (2, "session/fork")]
)
async def test_a_session_whose_opening_was_cancelled_is_not_left_open(
    project: Path, home: Path, version: int, method: str
) -> None:
    async with SharedHouse.opened(project=project, home=home, script=TALK) as house:
        session = await _saved(house)
        guest = await (house.visit() if version == 1 else house.visit_2())
        await _cancelled(guest, method, **({} if method == "session/new" else {"sessionId": session}))
        assert await _listed(guest) == [session]
        assert await _status(guest, session) == "saved"
        failure = await guest.failing("session/prompt", {"sessionId": session, "prompt": []})
        assert failure.code == -32002


@pytest.mark.parametrize("method", ["session/new", "session/fork"])
async def test_a_session_that_was_being_made_when_that_was_cancelled_is_not_kept(
    project: Path, home: Path, method: str
) -> None:
    async with SharedHouse.opened(project=project, home=home, script=TALK) as house:
        session = await _saved(house)
        guest = await house.visit()
        call = await guest.start(method, {"sessionId": session, "cwd": str(project), "mcpServers": []})
        await guest.notify("$/cancel_request", {"requestId": call.id})
        assert (await call.failure()).code == -32800
        assert await _listed(guest) == [session]


async def test_a_session_that_was_open_already_stays_open(project: Path, home: Path) -> None:
    async with SharedHouse.opened(project=project, home=home, script=TALK) as house:
        session = await _saved(house)
        guest = await house.visit()
        await guest.load(session)
        await _cancelled(guest, "session/load", sessionId=session)
        assert (await guest.prompt("go on", session=session)).text == "hello"


async def test_others_keep_a_session_whose_opening_was_cancelled_here(project: Path, home: Path) -> None:
    async with SharedHouse.opened(project=project, home=home, script=TALK) as house:
        session = await _saved(house)
        other, guest = await house.visit(), await house.visit()
        await other.load(session)
        await _cancelled(guest, "session/load", sessionId=session)
        assert (await other.prompt("go on", session=session)).text == "hello"
        assert guest.updates("agent_message_chunk", session=session)[1:] == []
