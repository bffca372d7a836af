"""What a turn costs beyond the model's own time.

The model's own time is what its process measured, from the request's last byte read to the answer's last write. So
everything else counts as ours: building the request, connecting, the way over loopback, reading, keeping, showing.
"""

from collections.abc import Sequence

from tests.benchmarks.client import Agent, ended
from tests.benchmarks.figures import Figure, Row, milliseconds
from tests.benchmarks.lab import FILE, HISTORY, Lab

DISCARDED = 5  # turns before a session counts as steady
STEADY = 20  # turns measured in each
SESSIONS = 20  # prompting at once


def _beyond_model(lab: Lab, agent: Agent, session: str, text: str) -> float:
    """Milliseconds from the prompt to its end, without the model's own time."""
    took = agent.prompt(session, text).took
    return milliseconds(took - sum(exchange.own for exchange in lab.model.exchanges()))


def _steady(lab: Lab, agent: Agent, session: str, text: str) -> list[float]:
    for _ in range(DISCARDED):
        agent.prompt(session, text)
    lab.model.exchanges()
    return [_beyond_model(lab, agent, session, text) for _ in range(STEADY)]


def measure_turn(lab: Lab, runs: int) -> Sequence[Figure]:
    """A small turn: the first of a process, sent as soon as there is a session, and the usual one."""
    first: list[float] = []
    steady: list[float] = []
    for _ in range(runs):
        with lab.session() as (agent, session):
            first.append(_beyond_model(lab, agent, session, "small"))
            steady += _steady(lab, agent, session, "small")
    return (
        Figure(what="prompt -> `end_turn` beyond the model's own time", unit="ms", samples=steady, goal=5),
        Figure(what="the same, first prompt of a process, at once", unit="ms", samples=first),
    )


def measure_tool(lab: Lab, runs: int) -> Sequence[Figure]:
    """Turns that read a file beside turns that do not, alternating in one session."""
    differences: list[float] = []
    reading = f"read {lab.project / FILE}"
    for _ in range(runs):
        with lab.session() as (agent, session):
            for text in ("small", reading) * DISCARDED:
                agent.prompt(session, text)
            lab.model.exchanges()
            for _ in range(STEADY):
                without = _beyond_model(lab, agent, session, "small")
                differences.append(_beyond_model(lab, agent, session, reading) - without)
    return (Figure(what="one tool call (read a file) in a turn", unit="ms", samples=differences, goal=2.5),)


def measure_sessions(lab: Lab, runs: int) -> Sequence[Figure]:
    """Many sessions of one process prompt at once: the first prompts of all, then the second."""
    rounds: list[list[float]] = [[], []]
    for _ in range(runs):
        with lab.agent() as agent:
            agent.initialize()
            sessions = [lab.new_session(agent) for _ in range(SESSIONS)]
            for samples in rounds:
                samples.append(prompt_at_once(agent, sessions))
            lab.model.exchanges()
    first, second = rounds
    return (
        Figure(what=f"{SESSIONS} sessions prompting at once, total", unit="ms", samples=first, goal=400),
        Figure(what="the same, their second prompts", unit="ms", samples=second, goal=250),
    )


def prompt_at_once(agent: Agent, sessions: Sequence[str]) -> float:
    """Milliseconds from the first prompt to the last answer."""
    requests = [agent.start_prompt(session, "small") for session in sessions]
    answers = [ended(agent.answer(request)) for request in requests]
    return milliseconds(max(answer.at for answer in answers) - min(answer.sent for answer in answers))


def _load_at_once(lab: Lab) -> float:
    """Milliseconds from the spawn to the answer of `session/load`, which follows the handshake at once."""
    home, session = lab.long_session()
    with lab.agent(home) as agent:
        agent.initialize()
        return milliseconds(agent.load_session(session, lab.project).at - agent.started)


def measure_load(lab: Lab, runs: int) -> Sequence[Figure]:
    """A long session is loaded by a process that has just started, or opened another one, and then used."""
    loading: list[float] = []
    whole = [_load_at_once(lab) for _ in range(runs)]
    first: list[float] = []
    steady: list[float] = []
    for _ in range(runs):
        home, session = lab.long_session()
        with lab.agent(home) as agent:
            agent.initialize()
            lab.new_session(agent)
            loading.append(milliseconds(agent.load_session(session, lab.project).took))
            first.append(_beyond_model(lab, agent, session, "small"))
            steady += _steady(lab, agent, session, "small")
    return (
        Figure(what=f"spawn -> a session of {HISTORY} turns loaded", unit="ms", samples=whole, goal=120),
        Figure(what=f"`session/load` of {HISTORY} turns", unit="ms", samples=loading, goal=50),
        Figure(what=f"a turn in a session that already has {HISTORY}", unit="ms", samples=steady, goal=5),
        Figure(what="the same, first prompt of a process, at once", unit="ms", samples=first),
    )


ROWS = (
    Row(
        name="turn",
        about=f"a process: its first prompt, {DISCARDED} discarded, {STEADY} measured",
        runs=5,
        measure=measure_turn,
    ),
    Row(
        name="tool",
        about=f"a process: {DISCARDED} pairs of turns discarded, {STEADY} pairs measured; a sample is the difference "
        "of a turn with the call and one without, both beyond the model's own time",
        runs=3,
        measure=measure_tool,
    ),
    Row(
        name="sessions",
        about=f"a process with {SESSIONS} new sessions: all prompt, all prompt again; the model's own time is included",
        runs=5,
        measure=measure_sessions,
    ),
    Row(
        name="load",
        about=f"a process on a copy of a store with {HISTORY} turns made by real prompts: it opens a new session, "
        f"loads the long one, prompts once, then {DISCARDED} discarded and {STEADY} measured; turns beyond the model's "
        "own time",
        runs=5,
        measure=measure_load,
    ),
)
