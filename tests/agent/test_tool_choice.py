"""Which tools a model may or must call: each request says so, and a task may say otherwise."""

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from claw_acp.contracts.provider import (
    ChatRequest,
    ChatResponse,
    Finished,
    OneTool,
    Provider,
    StreamEvent,
    ToolChoice,
    tool_choice,
)
from claw_acp.core.messages import Message
from tests.agent import test_billing
from tests.agent.test_billing import asked


class Listener(Provider):
    """Notes what it is asked for."""

    name = "listener"

    def __init__(self, *_events: StreamEvent | Exception) -> None:
        self.choices: list[ToolChoice] = []
        LISTENERS.append(self)

    async def chat(self, request: ChatRequest) -> ChatResponse:
        raise NotImplementedError

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent]:
        self.choices.append(request.options.tool_choice)
        yield Finished(response=ChatResponse(text="yes"))


LISTENERS: list[Listener] = []


async def choices_of(tmp_path: Path, *wanted: ToolChoice) -> list[ToolChoice]:
    LISTENERS.clear()
    async with asked(tmp_path) as (_, requester, _):
        for choice in wanted:
            await requester.ask([Message.user("hi")], tools=(), tool_choice=choice)
    return LISTENERS[0].choices


@pytest.fixture(autouse=True)
def _listening(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setattr(test_billing, "Speaker", Listener)


async def test_a_request_says_what_it_wants(tmp_path: Path) -> None:
    assert await choices_of(tmp_path, "auto", "required") == ["auto", "required"]


@pytest.mark.parametrize("override", ["required", OneTool(name="read_file"), "none"])
async def test_a_task_may_want_something_else(tmp_path: Path, override: ToolChoice) -> None:
    with tool_choice(override):
        assert await choices_of(tmp_path, "auto", "required") == [override, override]


async def test_a_request_without_tools_stays_one(tmp_path: Path) -> None:
    with tool_choice("required"):
        assert await choices_of(tmp_path, "none") == ["none"]


async def test_other_tasks_do_not_notice(tmp_path: Path) -> None:
    chosen = anyio.Event()

    async def other() -> None:
        with tool_choice("required"):
            chosen.set()
            await anyio.sleep_forever()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        await chosen.wait()
        assert await choices_of(tmp_path, "auto") == ["auto"]
        tasks.cancel_scope.cancel()
