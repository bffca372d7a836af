"""From the spawn to the first answers. One more spawn than counted comes first, so that files are in the cache."""

import subprocess
import sys
import time
from collections.abc import Sequence

from tests.benchmarks.figures import Figure, Row, milliseconds
from tests.benchmarks.lab import Lab

DIGEST = 0.5  # seconds an editor takes, at the least, from the handshake to a session


def _bare() -> float:
    started = time.perf_counter_ns()
    subprocess.run((sys.executable, "-c", "pass"), check=True)
    return milliseconds(time.perf_counter_ns() - started)


def _initialized(lab: Lab) -> float:
    with lab.agent() as agent:
        return milliseconds(agent.initialize().at - agent.started)


def _cold_session(lab: Lab) -> float:
    with lab.agent() as agent:
        agent.initialize()
        return milliseconds(agent.new_session(lab.project).at - agent.started)


def _warm_session(lab: Lab) -> float:
    with lab.agent() as agent:
        agent.initialize()
        time.sleep(DIGEST)
        return milliseconds(agent.new_session(lab.project).took)


def measure_initialize(lab: Lab, runs: int) -> Sequence[Figure]:
    """The handshake, beside a Python that does nothing."""
    _initialized(lab)
    pairs = [(_bare(), _initialized(lab)) for _ in range(runs)]
    return (
        Figure(what="for comparison: `python -c pass`, to its end", unit="ms", samples=[bare for bare, _ in pairs]),
        Figure(what="spawn -> `initialize` answered", unit="ms", samples=[own for _, own in pairs], goal=25),
    )


def measure_session(lab: Lab, runs: int) -> Sequence[Figure]:
    """The first session, asked for at once or a little later."""
    _cold_session(lab)
    cold = [_cold_session(lab) for _ in range(runs)]
    warm = [_warm_session(lab) for _ in range(runs)]
    return (
        Figure(what="spawn -> `session/new` answered, cold", unit="ms", samples=cold, goal=120),
        Figure(what="`session/new`, 0.5 s after the handshake", unit="ms", samples=warm),
    )


ROWS = (
    Row(
        name="initialize",
        about="a spawn of the console script; `initialize` is sent as soon as the spawn returns",
        runs=20,
        measure=measure_initialize,
    ),
    Row(
        name="session",
        about="a spawn; cold: `session/new` follows the handshake at once; warm: from the request to its answer",
        runs=10,
        measure=measure_session,
    ),
)
