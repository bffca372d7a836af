"""A session of a thousand turns on a model with a narrow window: late turns cost what early ones do.

The model (`tests/support/servers/narrow_model.py`) refuses what a vendor would refuse. A request that is refused, or a
fact of the third turn that is unknown at the end, fails the row.
"""

from collections.abc import Iterable, Sequence

from tests.benchmarks.client import Agent, BenchmarkFailed
from tests.benchmarks.figures import Figure, Row, milliseconds
from tests.benchmarks.lab import FILE, Lab
from tests.benchmarks.system import cpu_time
from tests.support.servers.model_server import running_model_server
from tests.support.servers.narrow_model import NarrowModel

WINDOW = 16_385  # of the model that the program knows by this name
MODEL = "openai/gpt-3.5-turbo"
TURNS = 1_000
CALLS = 3  # of each turn
EARLY, LATE = range(50, 150), range(850, 950)  # each has several compactions


def measure_deep(lab: Lab, runs: int) -> Sequence[Figure]:
    """Turns that read a file a few times; one plants a fact, one asks for it."""
    took: list[list[float]] = []
    sent: list[list[float]] = []
    remade: list[float] = []
    for _ in range(runs):
        model = NarrowModel(window=WINDOW)
        with running_model_server() as server:
            server.always(model)
            more = {"OPENAI_BASE_URL": server.openai_url, "CLAW_ACP_MODEL": MODEL}
            with lab.agent(more=more) as agent:
                agent.initialize()
                times, tokens = _session(lab, agent, model, lab.new_session(agent))
        took.append(times)
        sent.append(tokens)
        remade.append(model.remade / TURNS * 100)
    return (
        Figure(what="CPU of a turn with three calls, turns 50 to 149", unit="ms", samples=_at(took, EARLY)),
        Figure(what="the same, turns 850 to 949", unit="ms", samples=_at(took, LATE)),
        Figure(what="input of such a turn, turns 50 to 149", unit="tokens", samples=_at(sent, EARLY)),
        Figure(what="the same, turns 850 to 949", unit="tokens", samples=_at(sent, LATE)),
        Figure(what="conversations begun anew for the cache, in 100 turns", unit="times", samples=remade),
    )


def _session(lab: Lab, agent: Agent, model: NarrowModel, session: str) -> tuple[list[float], list[float]]:
    """The milliseconds of CPU and the tokens sent of each turn."""
    times: list[float] = []
    tokens: list[float] = []
    for turn in range(TURNS):
        text = "the port=8472 must stay" if turn == 3 else f"read {lab.project / FILE} {CALLS}"
        before, used = len(model.sizes), cpu_time(agent.pid)
        agent.prompt(session, text)
        times.append(milliseconds(cpu_time(agent.pid) - used))
        tokens.append(sum(model.sizes[before:]))
    agent.prompt(session, "recall port")
    if model.refused or model.said != "8472":
        raise BenchmarkFailed(f"{model.refused} requests were too long; at the end the model knew {model.said!r}")
    return times, tokens


def _at(samples: Iterable[Sequence[float]], turns: range) -> Sequence[float]:
    return [sample for run in samples for sample in run[turns.start : turns.stop]]


ROWS = (
    Row(
        name="deep",
        about=f"{TURNS:,} turns with {CALLS} calls each in a window of {WINDOW:,}: the agent's CPU, the tokens sent",
        runs=1,
        measure=measure_deep,
    ),
)
