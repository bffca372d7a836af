"""Python providers of other packages: whatever goes wrong in one is its failure, and somebody else answers."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, cast

import anyio
import pytest

from claw_acp.contracts.provider import (
    Capabilities,
    ChatRequest,
    ChatResponse,
    Finished,
    ModelInfo,
    Provider,
    StreamEvent,
    TextChunk,
)
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.errors import ConfigError, ProviderFailed, ProviderTimeout, RateLimited
from claw_acp.core.messages import Message, ToolCall, Usage
from claw_acp.providers.foreign_providers import make_provider
from tests.providers.attempts import Sleeper, heard, reliable

REQUEST = ChatRequest(model="m", messages=[Message.user("hi")])
ANSWER = ChatResponse(text="fine")


class _Mute(Exception):
    def __str__(self) -> str:
        raise KeyboardInterrupt


class _Strange(Provider):
    """Answers with what a test says, or raises it; `at` says where."""

    def __init__(self, does: object, *, at: str = "chat") -> None:
        self._does = does
        self._at = at

    def _do(self, place: str, usual: object) -> Any:
        if place != self._at:
            return usual
        if isinstance(self._does, BaseException):
            raise self._does
        return self._does

    async def chat(self, request: ChatRequest) -> ChatResponse:
        del request
        return self._do("chat", ANSWER)

    def capabilities(self, model: str) -> Capabilities:
        del model
        return self._do("capabilities", Capabilities())

    async def models(self) -> Sequence[ModelInfo]:
        return self._do("models", [ModelInfo(id="m")])

    async def aclose(self) -> None:
        self._do("aclose", None)


class _Streams(_Strange):
    """The same in a stream of its own, after a piece of text."""

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        if self._at == "first":
            yield self._do("first", None)
        yield TextChunk(text="half")
        yield self._do("chat", Finished(response=ANSWER))
        await super().chat(request)


def _made(provider: object, **setup: Any) -> Provider:
    return make_provider(lambda _: cast("Provider", provider), ProviderSetup(name="acme", kind="x", **setup))


RAISED: Sequence[BaseException] = (
    SystemExit(1),
    KeyboardInterrupt(),
    GeneratorExit(),
    RecursionError(),
    MemoryError(),
    ValueError("out of order"),
    asyncio.CancelledError(),
    BaseExceptionGroup("several", [SystemExit()]),
    StopAsyncIteration(),
    _Mute(),
)


@pytest.mark.parametrize("kind", [_Strange, _Streams])
@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
async def test_whatever_its_code_raises_is_its_failure_by_name(
    kind: Callable[[object], Provider], error: BaseException
) -> None:
    _, failure = await heard(_made(kind(error)), REQUEST)
    assert isinstance(failure, ProviderFailed)
    assert "the provider acme of the package tests failed: " in failure.message
    assert failure.provider == "acme"


@pytest.mark.parametrize(
    "said",
    [
        None,
        "text",
        ChatResponse(text=cast("Any", None)),
        ChatResponse(text=cast("Any", b"bytes")),
        ChatResponse(tool_calls=cast("Any", 5)),
        ChatResponse(tool_calls=cast("Any", ({"name": "x"},))),
        ChatResponse(tool_calls=(ToolCall(id="1", name="t", arguments=cast("Any", {"a": 1})),)),
        ChatResponse(reasoning=cast("Any", ("hm",))),
        ChatResponse(text="x", stop=cast("Any", "bored")),
    ],
    ids=range(9),
)
async def test_what_is_no_answer_is_its_failure(said: object) -> None:
    _, failure = await heard(_made(_Strange(said)), REQUEST)
    assert isinstance(failure, ProviderFailed)


@pytest.mark.parametrize("said", [None, "text", TextChunk(text=cast("Any", 5)), Finished(response=cast("Any", "x"))])
async def test_what_is_no_event_is_its_failure(said: object) -> None:
    _, failure = await heard(_made(_Streams(said, at="first")), REQUEST)
    assert isinstance(failure, ProviderFailed)


@pytest.mark.parametrize("error", RAISED[:6], ids=lambda error: type(error).__name__)
async def test_another_provider_answers_in_its_place(error: BaseException) -> None:
    whole = reliable(_made(_Strange(error)), _Strange(ANSWER), sleep=Sleeper())
    events, failure = await heard(whole, REQUEST)
    assert failure is None
    assert isinstance(events[-1], Finished)
    assert events[-1].response.text == "fine"


async def test_an_unexpected_error_of_our_own_code_has_another_asked_too() -> None:
    events, _ = await heard(reliable(_Strange(ZeroDivisionError()), _Strange(ANSWER), sleep=Sleeper()), REQUEST)
    assert isinstance(events[-1], Finished)


async def test_an_error_of_the_contract_stays_what_it_is() -> None:
    _, failure = await heard(_made(_Strange(RateLimited("slowly", retry_after=3.0))), REQUEST)
    assert isinstance(failure, RateLimited)
    assert failure.retry_after == 3.0


async def test_counts_that_are_none_are_no_counts() -> None:
    usage = Usage(input_tokens=cast("Any", "many"), output_tokens=-5, cached_read_tokens=7)
    events, _ = await heard(_made(_Strange(ChatResponse(text="x", usage=usage))), REQUEST)
    assert isinstance(events[-1], Finished)
    assert events[-1].response.usage == Usage(cached_read_tokens=7)


@pytest.mark.parametrize("said", [*RAISED[:6], None, "all of it"], ids=repr)
async def test_what_it_says_of_itself_ends_nothing(said: object) -> None:
    assert _made(_Strange(said, at="capabilities")).capabilities("m") == Capabilities()
    with pytest.raises(ProviderFailed, match="acme"):
        await _made(_Strange(said, at="models")).models()
    await _made(_Strange(said, at="aclose")).aclose()


@pytest.mark.parametrize("error", RAISED[:6], ids=lambda error: type(error).__name__)
def test_one_that_cannot_be_made_is_a_mistake_in_the_configuration(error: BaseException) -> None:
    def factory(setup: ProviderSetup) -> Provider:
        del setup
        raise error

    with pytest.raises(ConfigError, match=r"\[providers.acme\] cannot be used"):
        make_provider(factory, ProviderSetup(name="acme", kind="x"))


class _Silent(_Strange):
    async def chat(self, request: ChatRequest) -> ChatResponse:
        del request
        await anyio.sleep_forever()
        raise AssertionError


async def test_one_that_falls_silent_is_waited_for_only_so_long() -> None:
    _, failure = await heard(_made(_Silent(None), timeout=0.01), REQUEST)
    assert isinstance(failure, ProviderTimeout)


async def test_a_request_to_it_can_be_cancelled() -> None:
    with anyio.move_on_after(0) as scope:
        await heard(_made(_Silent(None)), REQUEST)
    assert scope.cancelled_caught
