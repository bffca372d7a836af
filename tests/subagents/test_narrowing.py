"""A task never has wider tools, a wider mode or more requests than the turn that gives it, however deep it is."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from claw_acp.agent.client_ports import ClientPorts
from claw_acp.agent.nobody import Nobody
from claw_acp.agent.turn_limits import TurnLimits, TurnMeter
from claw_acp.config.delegation_sections import DelegationSection
from claw_acp.contracts.delegation import AgentFile, Task
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.mode import MODES, Mode, is_wider, narrower
from claw_acp.runtime.subagent_run import narrowed
from claw_acp.workspace.local import LocalWorkspace
from claw_acp.workspace.process_host import ProcessHost

NAMES = st.frozensets(st.sampled_from(["read_file", "write_file", "shell", "git__log", "delegate"]))
ALL = frozenset({"read_file", "write_file", "shell", "git__log", "delegate"})
WORKSPACE = LocalWorkspace((Path("/"),), processes=ProcessHost({}), clock=SYSTEM_CLOCK)


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    """A task, perhaps for a named agent."""
    agent = AgentFile(
        name="a", description="d", scope="user", instructions="x", tools=draw(st.none() | NAMES), without=draw(NAMES),
        widest_mode=draw(st.sampled_from(MODES)), requests=draw(st.none() | st.integers(1, 900)),
    )  # fmt: skip
    return Task(title="t", prompt="p", tools=draw(st.none() | NAMES), agent=draw(st.sampled_from([None, agent])))


def usable(ports: ClientPorts) -> frozenset[str]:
    """The tools that a turn with these ports may use, of all."""
    return (ALL if ports.only_tools is None else ports.only_tools & ALL) - ports.without_tools


@given(chain=st.lists(tasks(), min_size=1, max_size=4), only=st.none() | NAMES, session=st.sampled_from(MODES))
def test_each_task_may_do_no_more_than_the_one_above_it(
    chain: list[Task], only: frozenset[str] | None, session: Mode
) -> None:
    ports = ClientPorts(workspace=WORKSPACE, asker=Nobody(), only_tools=only)
    delegation = DelegationSection()
    for task in chain:
        below = narrowed(ports, task, delegation=delegation, meter=TurnMeter(TurnLimits(), clock=SYSTEM_CLOCK))
        assert usable(below) <= usable(ports)
        assert task.tools is None or usable(below) <= task.tools
        assert not is_wider(below.ceiling, ports.ceiling)
        assert below.limits is not None
        assert below.limits.requests <= delegation.max_requests
        if isinstance(task.agent, AgentFile):
            assert usable(below).isdisjoint(task.agent.without)
            assert task.agent.tools is None or usable(below) <= task.agent.tools
            assert not is_wider(below.ceiling, task.agent.widest_mode)
        assert not is_wider(narrower(session, below.ceiling), session)
        ports = below
