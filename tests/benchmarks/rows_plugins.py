"""What a provider that is a program of its own costs: one that stays against one process for each request."""

import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from time import perf_counter_ns

import anyio

from claw_acp.contracts.provider import ChatRequest, TextChunk
from claw_acp.contracts.provider_setup import ProviderProgram, ProviderSetup
from claw_acp.core.messages import Message
from claw_acp.providers.binary.provider import BinaryProvider
from tests.benchmarks.client import BenchmarkFailed
from tests.benchmarks.figures import Figure, Row, microseconds, milliseconds
from tests.benchmarks.lab import Lab
from tests.providers.binary.support import SESSION, Protocol

CALLS = 300  # one after the other, to a plugin that stays
TOGETHER = 50
PROCESSES = 10  # calls with a process each
REQUEST = ChatRequest(model="", messages=[Message.user("say a b c")])


def _provider(protocol: Protocol) -> BinaryProvider:
    program = ProviderProgram(command=sys.executable, args=("-S", "-E", str(SESSION)), protocol=protocol)
    return BinaryProvider(ProviderSetup(name="bench", kind="binary", program=program))


async def _call(provider: BinaryProvider) -> None:
    if (await provider.chat(REQUEST)).text != "abc":
        raise BenchmarkFailed("the plugin's answer is not the one it should give")


async def _first_chunk(provider: BinaryProvider) -> float:
    before = perf_counter_ns()
    async with aclosing(provider.stream(REQUEST)) as events:
        async for event in events:
            if isinstance(event, TextChunk):
                took = perf_counter_ns() - before
                async for _ in events:
                    pass  # an answer left early would be cancelled, which is another thing
                return float(took)
    raise BenchmarkFailed("the plugin streams nothing")


async def _each(count: int, work: Callable[[], Awaitable[object]]) -> float:
    """Nanoseconds of one piece of work, of so many."""
    before = perf_counter_ns()
    for _ in range(count):
        await work()
    return (perf_counter_ns() - before) / count


async def _together(provider: BinaryProvider) -> float:
    before = perf_counter_ns()
    async with anyio.create_task_group() as tasks:
        for _ in range(TOGETHER):
            tasks.start_soon(_call, provider)
    return (perf_counter_ns() - before) / TOGETHER


async def _measured(runs: int) -> Sequence[Figure]:
    calls: list[float] = []
    chunks: list[float] = []
    together: list[float] = []
    processes: list[float] = []
    for _ in range(runs):
        staying, fleeting = _provider("session"), _provider("oneshot")
        await _call(staying)
        calls.append(microseconds(await _each(CALLS, lambda plugin=staying: _call(plugin))))
        chunks += [microseconds(await _first_chunk(staying)) for _ in range(TOGETHER)]
        together.append(microseconds(await _together(staying)))
        await staying.aclose()
        processes.append(milliseconds(await _each(PROCESSES, lambda plugin=fleeting: _call(plugin))))
    return (
        Figure(what="provider program that stays, one call", unit="µs", samples=calls),
        Figure(what="the same, request -> first chunk", unit="µs", samples=chunks),
        Figure(what=f"the same, one of {TOGETHER} calls at once", unit="µs", samples=together),
        Figure(what="provider program, a process for each call", unit="ms", samples=processes),
    )


def measure_plugins(lab: Lab, runs: int) -> Sequence[Figure]:
    """In this process, without an agent around it; most of the one-shot figure is the start of Python."""
    del lab
    return anyio.run(_measured, runs)


ROWS = (
    Row(
        name="plugins",
        about=f"a Python plugin: {CALLS} calls one by one, {TOGETHER} first chunks, {TOGETHER} calls at once, "
        f"{PROCESSES} calls with a process each",
        runs=5,
        measure=measure_plugins,
    ),
)
