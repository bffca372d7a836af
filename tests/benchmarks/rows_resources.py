"""What a process takes while it waits: memory, and CPU time when nothing happens."""

import time
from collections.abc import Sequence

from tests.benchmarks.figures import Figure, Row, kilobytes, megabytes, milliseconds
from tests.benchmarks.lab import Lab
from tests.benchmarks.rows_turns import SESSIONS, prompt_at_once
from tests.benchmarks.system import cpu_time, proportional, resident

SETTLE = 1.0  # seconds
IDLE = 10.0  # seconds
GROWTH = 200  # turns, before and between the two looks


def measure_memory(lab: Lab, runs: int) -> Sequence[Figure]:
    """Memory after the handshake, and after many sessions were used."""
    samples: list[tuple[int, int, int, int]] = []
    for _ in range(runs):
        with lab.agent() as agent:
            agent.initialize()
            time.sleep(SETTLE)
            fresh = resident(agent.pid), proportional(agent.pid)
            prompt_at_once(agent, [lab.new_session(agent) for _ in range(SESSIONS)])
            samples.append((*fresh, resident(agent.pid), proportional(agent.pid)))
    columns = zip(*samples, strict=True)
    fresh_rss, fresh_pss, used_rss, used_pss = ([megabytes(size) for size in column] for column in columns)
    return (
        Figure(what="resident memory, 1 s after `initialize`", unit="MB", samples=fresh_rss, goal=36),
        Figure(what="the same, shared pages divided (PSS)", unit="MB", samples=fresh_pss),
        Figure(what=f"resident memory, {SESSIONS} sessions prompted", unit="MB", samples=used_rss, goal=75),
        Figure(what="the same, shared pages divided (PSS)", unit="MB", samples=used_pss),
    )


def measure_growth(lab: Lab, runs: int) -> Sequence[Figure]:
    """What the turns of one session leave in memory, from a session that has some already."""
    samples: list[float] = []
    for _ in range(runs):
        with lab.session() as (agent, session):
            sizes: list[int] = []
            for _ in range(2):
                for number in range(GROWTH):
                    agent.prompt(session, f"small question number {number}")
                sizes.append(resident(agent.pid))
            samples.append(kilobytes((sizes[1] - sizes[0]) / GROWTH))
            lab.model.exchanges()
    return (Figure(what="an open session, a small turn more", unit="KB", samples=samples, goal=4),)


def measure_idle(lab: Lab, runs: int) -> Sequence[Figure]:
    """CPU time while nobody asks for anything."""
    samples: list[float] = []
    for _ in range(runs):
        with lab.session() as (agent, session):
            agent.prompt(session, "small")
            time.sleep(SETTLE)
            before = cpu_time(agent.pid)
            time.sleep(IDLE)
            samples.append(milliseconds(cpu_time(agent.pid) - before))
    return (Figure(what="idle CPU in 10 s", unit="ms", samples=samples, goal=0),)


ROWS = (
    Row(
        name="memory",
        about=f"a process: looked at 1 s after the handshake, and when {SESSIONS} new sessions had a turn each",
        runs=5,
        measure=measure_memory,
    ),
    Row(
        name="growth",
        about=f"a process: {GROWTH} turns in a session, {GROWTH} more; a sample is the growth of the memory by each",
        runs=2,
        measure=measure_growth,
    ),
    Row(
        name="idle",
        about="a process: one session, one turn, 1 s to settle, then 10 s; counted by the system in nanoseconds",
        runs=1,
        measure=measure_idle,
    ),
)
