"""A provider that plays one list of steps for each request, for tests of those that stand around others."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any, NamedTuple

from claw_acp.contracts.provider import Capabilities, ChatRequest, ChatResponse, ModelInfo, Provider, StreamEvent
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.errors import ProviderError
from claw_acp.core.secret import Secret
from claw_acp.providers.fallback.reliable import Reliable
from claw_acp.providers.selection.target import Target
from claw_acp.providers.transport.streaming import collected
from tests.support.fixed_clock import FixedClock

Step = StreamEvent | ProviderError


class Played(NamedTuple):
    """A target, and the provider that answers for it."""

    target: Target
    provider: Provider


def at(provider: Provider, model: str = "test-model", **more: Any) -> Played:
    """A target that a provider answers for; another provider has another key."""
    setup = ProviderSetup(name=provider.name, kind="test", api_key=Secret(f"key-{id(provider)}"))
    return Played(Target(setup=setup, model=model, **more), provider)


def reliable(*played: Played | Provider, **more: Any) -> Reliable:
    """The targets, as one provider."""
    all_played = [each if isinstance(each, Played) else at(each) for each in played]
    providers = {target.setup: provider for target, provider in all_played}
    return Reliable([target for target, _ in all_played], providers=providers, **more)


class Attempts(Provider):
    """Keeps what it was asked in `requests`; `closed` counts the streams that were let go of."""

    def __init__(self, *attempts: Sequence[Step], name: str = "acme", can: Capabilities | None = None) -> None:
        self.name = name
        self.attempts = list(attempts)
        self.requests: list[ChatRequest] = []
        self.closed = 0
        self.ended = False
        self._can = can or Capabilities()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        self.requests.append(request)
        try:
            for step in self.attempts.pop(0):
                if isinstance(step, ProviderError):
                    raise step
                yield step
        finally:
            self.closed += 1

    async def chat(self, request: ChatRequest) -> ChatResponse:
        return await collected(self.stream(request))

    async def models(self) -> Sequence[ModelInfo]:
        return [ModelInfo(id="m")]

    def capabilities(self, model: str) -> Capabilities:
        del model
        return self._can

    async def aclose(self) -> None:
        self.ended = True


class Sleeper:
    """Remembers what it was asked to wait, and moves a clock on."""

    def __init__(self, clock: FixedClock | None = None) -> None:
        self.delays: list[float] = []
        self._clock = clock

    async def __call__(self, delay: float) -> None:
        self.delays.append(delay)
        if self._clock is not None:
            self._clock.seconds += delay


async def heard(provider: Provider, request: ChatRequest) -> tuple[list[StreamEvent], ProviderError | None]:
    """Everything that a stream said, and how it failed."""
    events: list[StreamEvent] = []
    try:
        async for event in provider.stream(request):
            events.append(event)  # noqa: PERF401 - what came before a failure is kept
    except ProviderError as error:
        return events, error
    return events, None
