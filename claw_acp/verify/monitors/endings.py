"""The ends of the agent's processes, whatever they were used for."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.monitors.observation import Observation, broken, kept
from claw_acp.verify.rule import should

# fmt: off
NO_ORPHANS = should("shutdown.no-orphans", source="transports: stdio", cases=(47,),
    text="What the agent started ends with it.")
EXPLAINS = should("shutdown.no-crash", source="transports: stdio",
    text="The agent is not ended by a signal of its own making, such as a segmentation fault.")
# fmt: on
RULES = (NO_ORPHANS, EXPLAINS)
_TOLD = -15  # by the SIGTERM that we send


def watch(agents: Sequence[AgentConnection]) -> Iterator[Observation]:
    """Judge every end that the agent came to by itself."""
    can_look = Path("/proc").exists()
    for agent in agents:
        ending = agent.ending
        if ending is None or ending.seconds is None:
            continue
        if can_look:
            left = ", ".join(ending.left)
            yield broken(NO_ORPHANS, f"after its end there still runs: {left}") if left else kept(NO_ORPHANS)
        crashed = ending.code is not None and ending.code < 0 and ending.code != _TOLD
        yield broken(EXPLAINS, f"it was ended by signal {-(ending.code or 0)}") if crashed else kept(EXPLAINS)
