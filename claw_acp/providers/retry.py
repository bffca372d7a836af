"""Tries a failed model request again, while nobody has seen any of its answer."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

import anyio

from claw_acp.contracts.provider import (
    Capabilities,
    ChatRequest,
    ChatResponse,
    ModelInfo,
    Provider,
    Retrying,
    StreamEvent,
)
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.core.errors import ProviderError
from claw_acp.net.closing import closing
from claw_acp.providers.streaming import collected

RETRIES = 2
FIRST_DELAY = 0.5  # seconds; vendors punish clients that come back sooner
LONGEST_DELAY = 10.0  # seconds of our own backing off
LONGEST_WISH = 60.0  # seconds of a vendor's Retry-After that are honoured
JITTER = 0.25  # the share of a delay that is left to chance, so that many sessions do not return together


def backoff(attempt: int, *, chance: float, retry_after: float | None = None) -> float:
    """Seconds to wait after failed attempt `attempt` (from 0); `chance` in [0, 1). Never less than the vendor asked."""
    delay = min(LONGEST_DELAY, FIRST_DELAY * 2**attempt) * (1 - JITTER * chance)
    return max(delay, min(retry_after or 0.0, LONGEST_WISH))


class RetryingProvider(Provider):
    """Another provider, more patient.

    An error marked `retryable` is tried again up to `retries` times, each announced by a `Retrying` event. Once a
    chunk was yielded the error is passed on: a second answer behind half a first one would only confuse.
    """

    def __init__(
        self,
        inner: Provider,
        *,
        retries: int = RETRIES,
        clock: Clock = SYSTEM_CLOCK,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self.name = inner.name
        self._inner = inner
        self._retries = retries
        self._clock = clock
        self._sleep = sleep

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece."""
        for attempt in range(self._retries + 1):
            visible = False
            try:
                async with closing(self._inner.stream(request)) as events:
                    async for event in events:
                        visible = visible or not isinstance(event, Retrying)
                        yield event
            except ProviderError as error:
                if visible or not error.retryable or attempt == self._retries:
                    raise
                delay = backoff(attempt, chance=self._clock.random(), retry_after=error.retry_after)
                retrying = Retrying(reason=error.message, delay=delay)
            else:
                return
            yield retrying
            await self._sleep(delay)

    async def chat(self, request: ChatRequest) -> ChatResponse:
        """Answer in one piece."""
        return await collected(self.stream(request))

    def capabilities(self, model: str) -> Capabilities:
        """What `model` can do."""
        return self._inner.capabilities(model)

    async def models(self) -> Sequence[ModelInfo]:
        """The models on offer."""
        return await self._inner.models()

    async def aclose(self) -> None:
        """Release what the inner provider holds."""
        await self._inner.aclose()
