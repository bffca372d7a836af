"""What the decorators around a provider add, measured in this process over one that only hands out its chunks."""

import time
from collections.abc import AsyncGenerator, Callable, Sequence

import anyio

from claw_acp.contracts.provider import ChatRequest, ChatResponse, Finished, Provider, StreamEvent, TextChunk
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.messages import Message
from claw_acp.providers.fallback.reliable import Reliable
from claw_acp.providers.selection.router import Router
from claw_acp.providers.selection.target import Target
from tests.benchmarks.figures import Figure, Row, microseconds
from tests.benchmarks.lab import Lab

CHUNKS = 20_000
CALLS = 500
MODEL = "hint:fast"
TARGET = Target(setup=ProviderSetup(name="instant", kind="instant"), model="m")


class Instant(Provider):
    """Hands out as many chunks as it was made with, without waiting."""

    name = "instant"

    def __init__(self, chunks: int) -> None:
        self._chunk = TextChunk(text="word ")
        self._chunks = chunks
        self._end = Finished(response=ChatResponse(text="word " * max(chunks, 1)))

    async def chat(self, request: ChatRequest) -> ChatResponse:
        """The whole answer."""
        del request
        return self._end.response

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """The chunks."""
        del request
        for _ in range(self._chunks):
            yield self._chunk
        yield self._end


def reliable(inner: Provider) -> Provider:
    """With one target, as most people have it."""
    return Reliable([TARGET], providers={TARGET.setup: inner})


def routed(inner: Provider) -> Provider:
    """With one route, which is asked."""
    return Router(TARGET, routes={"fast": TARGET}, providers={TARGET: inner})


def both(inner: Provider) -> Provider:
    """As a program with routes has it."""
    return routed(reliable(inner))


async def _nanoseconds(provider: Provider, *, calls: int) -> float:
    request = ChatRequest(model=MODEL, messages=[Message.user("hi")])
    before = time.perf_counter_ns()
    for _ in range(calls):
        async for _ in provider.stream(request):
            pass
    return (time.perf_counter_ns() - before) / calls


async def _added(wrap: Callable[[Provider], Provider], *, chunks: int, calls: int) -> float:
    """Microseconds for one call beyond what the plain provider takes."""
    plain = await _nanoseconds(Instant(chunks), calls=calls)
    return microseconds(await _nanoseconds(wrap(Instant(chunks)), calls=calls) - plain)


def measure_wrappers(lab: Lab, runs: int) -> Sequence[Figure]:
    """Each decorator alone and both together, for a call without chunks and for each chunk."""
    del lab
    figures: list[Figure] = []
    for what, wrap in (("Reliable", reliable), ("Router", routed), ("Router of Reliable", both)):
        calls = [anyio.run(lambda wrap=wrap: _added(wrap, chunks=0, calls=CALLS)) for _ in range(runs)]
        chunks = [anyio.run(lambda wrap=wrap: _added(wrap, chunks=CHUNKS, calls=1)) / CHUNKS for _ in range(runs)]
        figures.append(Figure(what=f"{what}: added to a call", unit="µs", samples=calls))
        figures.append(Figure(what=f"{what}: added to a chunk", unit="µs", samples=chunks))
    return figures


ROWS = (
    Row(
        name="wrappers",
        about=f"in this process, over a provider that never waits: {CALLS} calls, and one call of {CHUNKS} chunks",
        runs=5,
        measure=measure_wrappers,
    ),
)
