from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import pytest

from claw_acp.contracts.provider import (
    ChatRequest,
    ChatResponse,
    Finished,
    ModelInfo,
    Provider,
    Retrying,
    StreamEvent,
    TextChunk,
)
from claw_acp.core.errors import ProviderAuthFailed, ProviderError, ProviderUnavailable, RateLimited, StreamInterrupted
from claw_acp.providers.retry import RetryingProvider, backoff
from tests.providers.conversation import asking
from tests.support.fixed_clock import FixedClock

Step = StreamEvent | ProviderError
DONE = Finished(response=ChatResponse(text="ok"))


class Attempts(Provider):
    """Plays one list of steps for each request."""

    name = "acme"

    def __init__(self, *attempts: Sequence[Step]) -> None:
        self.attempts = list(attempts)
        self.closed = 0

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        assert request == asking(), "every attempt is the same request"
        try:
            for step in self.attempts.pop(0):
                if isinstance(step, ProviderError):
                    raise step
                yield step
        finally:
            self.closed += 1

    async def chat(self, request: ChatRequest) -> ChatResponse:
        raise AssertionError(f"the stream is the way to ask {request.model}")

    async def models(self) -> Sequence[ModelInfo]:
        return [ModelInfo(id="m")]


class Sleeper:
    """Remembers what it was asked to wait."""

    def __init__(self) -> None:
        self.delays: list[float] = []

    async def __call__(self, delay: float) -> None:
        self.delays.append(delay)


def patient(inner: Provider, sleeper: Sleeper, *, retries: int = 2, chance: float = 0.0) -> RetryingProvider:
    return RetryingProvider(inner, retries=retries, clock=FixedClock(chance=chance), sleep=sleeper)


async def test_a_passing_failure_is_announced_waited_out_and_tried_again() -> None:
    inner, sleeper = Attempts([ProviderUnavailable("busy")], [ProviderUnavailable("still busy")], [DONE]), Sleeper()
    events = [event async for event in patient(inner, sleeper).stream(asking())]
    assert events == [Retrying(reason="busy", delay=0.5), Retrying(reason="still busy", delay=1.0), DONE]
    assert sleeper.delays == [0.5, 1.0]


async def test_the_last_error_is_passed_on_when_the_tries_are_used_up() -> None:
    inner, sleeper = Attempts(*[[ProviderUnavailable(f"busy {i}")] for i in range(5)]), Sleeper()
    with pytest.raises(ProviderUnavailable, match="busy 2"):
        await patient(inner, sleeper).chat(asking())
    assert len(sleeper.delays) == 2


async def test_what_waiting_cannot_mend_is_passed_on_at_once() -> None:
    inner, sleeper = Attempts([ProviderAuthFailed("no")]), Sleeper()
    with pytest.raises(ProviderAuthFailed):
        await patient(inner, sleeper).chat(asking())
    assert sleeper.delays == []


async def test_an_answer_someone_has_seen_part_of_is_not_begun_again() -> None:
    inner, sleeper = Attempts([TextChunk(text="half"), StreamInterrupted("cut")], [DONE]), Sleeper()
    seen: list[StreamEvent] = []
    with pytest.raises(StreamInterrupted):
        seen.extend([event async for event in _recording(patient(inner, sleeper), seen)])
    assert seen == [TextChunk(text="half")]
    assert sleeper.delays == []


async def _recording(provider: Provider, seen: list[StreamEvent]) -> AsyncGenerator[StreamEvent, None]:
    async for event in provider.stream(asking()):
        seen.append(event)
        yield event


async def test_an_inner_decorators_announcement_is_not_visible_output() -> None:
    inner, sleeper = Attempts([Retrying(reason="r", delay=1.0), ProviderUnavailable("busy")], [DONE]), Sleeper()
    assert (await patient(inner, sleeper).chat(asking())).text == "ok"


async def test_a_vendors_wish_is_honoured() -> None:
    inner, sleeper = Attempts([RateLimited("slow", retry_after=7.5)], [DONE]), Sleeper()
    await patient(inner, sleeper).chat(asking())
    assert sleeper.delays == [7.5]


async def test_leaving_closes_the_inner_stream() -> None:
    inner = Attempts([TextChunk(text="a"), TextChunk(text="b"), DONE])
    async with aclosing(patient(inner, Sleeper()).stream(asking())) as events:
        async for _ in events:
            break
    assert inner.closed == 1


async def test_everything_else_is_asked_of_the_inner_provider() -> None:
    inner = Attempts()
    provider = patient(inner, Sleeper())
    assert provider.name == "acme"
    assert [model.id for model in await provider.models()] == ["m"]
    assert provider.capabilities("m") == inner.capabilities("m")
    await provider.aclose()


@pytest.mark.parametrize(
    ("attempt", "chance", "retry_after", "seconds"),
    [
        (0, 0.0, None, 0.5),
        (1, 0.0, None, 1.0),
        (4, 0.0, None, 8.0),
        (5, 0.0, None, 10.0),
        (20, 0.0, None, 10.0),
        (0, 0.8, None, 0.4),
        (20, 0.8, None, 8.0),
        (0, 0.0, 0.1, 0.5),
        (0, 0.0, 5.0, 5.0),
        (0, 0.0, 500.0, 60.0),
    ],
)
def test_delays_double_to_a_limit_less_a_share_of_chance(
    attempt: int, chance: float, retry_after: float | None, seconds: float
) -> None:
    assert backoff(attempt, chance=chance, retry_after=retry_after) == pytest.approx(seconds)
