"""What a streamed piece of text costs on its way from the model's socket to the editor."""

import statistics
from collections.abc import Sequence
from typing import NamedTuple

from tests.benchmarks.client import Agent, BenchmarkFailed
from tests.benchmarks.figures import Figure, Row, microseconds
from tests.benchmarks.lab import Lab
from tests.benchmarks.model import WORD
from tests.benchmarks.system import cpu_time

PIECES = 20_000
PACED = 300


class _Cost(NamedTuple):
    """Of one piece, in microseconds."""

    elapsed: float
    cpu: float


def _streamed(lab: Lab, agent: Agent, session: str, kind: str) -> _Cost:
    """Stream `PIECES` and check that all arrived."""
    lab.model.exchanges()
    before = cpu_time(agent.pid)
    agent.prompt(session, f"{kind} {PIECES}")
    cpu = cpu_time(agent.pid) - before
    (exchange,) = lab.model.exchanges()
    chunks = agent.chunks()
    if "".join(text for _, text in chunks) != WORD * PIECES:
        raise BenchmarkFailed("the text that arrived is not the text that was streamed")
    return _Cost(microseconds((chunks[-1][0] - exchange.first) / PIECES), microseconds(cpu / PIECES))


def _latencies(agent: Agent, session: str) -> list[float]:
    """Microseconds that each of the paced pieces took; every one carries the moment of its sending."""
    agent.prompt(session, f"paced {PACED}")
    return [microseconds(at - int(sent)) for at, text in agent.chunks() for sent in text.split()]


def measure_stream(lab: Lab, runs: int) -> Sequence[Figure]:
    """Many small pieces as fast as they go, and few with time between them."""
    separate: list[_Cost] = []
    burst: list[_Cost] = []
    latencies: list[float] = []
    direct: list[float] = []
    for _ in range(runs):
        with lab.session() as (agent, session):
            agent.prompt(session, "small")
            latencies.append(statistics.median(_latencies(agent, session)))
            separate.append(_streamed(lab, agent, session, "stream"))
            burst.append(_streamed(lab, agent, session, "burst"))
        direct.append(microseconds(lab.model.read_directly(f"stream {PIECES}") / PIECES))
    return (
        _figure("streamed chunk, model socket -> editor", [cost.elapsed for cost in separate], goal=30),
        _figure("the same, CPU time of our process", [cost.cpu for cost in separate]),
        _figure("for comparison: read by a client that does nothing else", direct),
        _figure("streamed chunk, all in one burst", [cost.elapsed for cost in burst], goal=30),
        _figure("the same, CPU time of our process", [cost.cpu for cost in burst]),
        _figure("a single chunk's way, median of a run", latencies),
    )


def _figure(what: str, samples: Sequence[float], *, goal: float | None = None) -> Figure:
    return Figure(what=what, unit="µs", samples=samples, goal=goal)


ROWS = (
    Row(
        name="stream",
        about=f"a process: a small turn, {PACED} chunks 2 ms apart, timed one by one, {PIECES} chunks in as many "
        f"writes, {PIECES} in one write; a chunk costs the time from the model's first write to the last update, by "
        "their number",
        runs=3,
        measure=measure_stream,
    ),
)
