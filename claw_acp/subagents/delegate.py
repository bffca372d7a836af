"""The tool by which a model gives a task to a subagent and waits for its report."""

import shlex
from collections.abc import Sequence
from typing import Final

from claw_acp.contracts.agent_program import AgentProgram
from claw_acp.contracts.delegation import Agent, Delegated, Delegation, Task
from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import Access, CallDraft, CallView, Invocation, RunsCommand, ToolContext, ToolResult
from claw_acp.contracts.tool_catalog import ToolCatalog
from claw_acp.core.errors import ToolError
from claw_acp.core.events import PartContent, ToolContent
from claw_acp.core.messages import TextPart
from claw_acp.core.nearest import nearest
from claw_acp.core.printable import printable
from claw_acp.core.value import replace
from claw_acp.subagents.report_text import report_result
from claw_acp.tools.display import shortened
from claw_acp.tools.parameters import Parameters, TypedTool, argument

TASK_STATUS: Final = "task_status"
TASK_CANCEL: Final = "task_cancel"
_WIDTHS: Final = (300, 120, 40)  # characters of a description, the less room there is
_MOST: Final = 4_000  # characters of all agents


class DelegateParameters(Parameters):
    """A task."""

    title: str = argument(min_length=1, max_length=100, description="The task in a few words, for the user.")
    task: str = argument(
        min_length=1,
        max_length=50_000,
        description=(
            "The whole task. The subagent knows nothing of this conversation: name the goal, the files, what you know "
            "already, what it may change, and what its report must say."
        ),
    )
    tools: list[str] = argument(
        default_factory=list[str],
        max_length=64,
        description="Names of the only tools that it may use. By default it has yours, but for asking the user.",
    )
    agent: str = argument(
        default="",
        max_length=100,
        description="The name of the agent that the task is for; by default none in particular.",
    )
    background: bool = argument(
        default=False,
        description=(
            "Let it go on while you do other things; you are told when it has ended. It cannot ask the user then, so "
            "what needs a permission is refused."
        ),
    )


class Delegate(TypedTool[DelegateParameters]):
    """Runs a task in a conversation of its own, so that this one stays short."""

    name = "delegate"
    on_demand = True
    draft = CallDraft(kind="think", verb="Delegate", subject="title")
    description = (
        "Give a task to a subagent, which works in a conversation of its own with tools and permissions like yours, "
        "and wait for its report. Use it for work that needs much reading and a short answer, or for independent "
        "parts, which run at once when you call it several times in one answer; then see to it that no two change "
        "the same files. Do small things yourself."
    )
    parameters = DelegateParameters
    parallel = True

    def __init__(self, agents: Sequence[Agent]) -> None:
        super().__init__()
        self._agents = agents
        self.on_demand = not agents

    @property
    def spec(self) -> ToolSpec:
        """See `Tool`. Where agents have names, models are told of them here."""
        if self._spec is None and self._agents:
            self._spec = replace(super().spec, description=f"{self.description}{named_agents(self._agents)}")
        return super().spec

    def bind(self, parameters: DelegateParameters, context: ToolContext) -> Invocation:
        """One task.

        Raises:
            ToolError: Nobody can be given tasks here.
        """
        delegation = context.needed(Delegation, otherwise="There are no subagents here. Do the task yourself.")
        agent = self._agent(parameters.agent) if parameters.agent else None
        task = Task(
            title=parameters.title,
            prompt=parameters.task,
            tools=frozenset(parameters.tools) if parameters.tools else None,
            agent=agent,
        )
        if isinstance(agent, AgentProgram):
            _check(parameters, agent)
        if parameters.background:
            return _BackgroundCall(delegation, task=task, context=context)
        return delegation.call(task, context=context)

    def _agent(self, name: str) -> Agent:
        names = [agent.name for agent in self._agents]
        agent = next((agent for agent in self._agents if agent.name == name), None)
        if agent is None:
            meant = nearest(name, names)
            hint = f"Did you mean {meant}?" if meant else f"There are: {', '.join(names) or 'none'}."
            raise ToolError(f"There is no agent {printable(name)} that the person trusts. {hint}")
        return agent


class DelegateCall(Invocation):
    """A task that the call waits for.

    Args:
        delegated: The task, given to a subagent.
        task: The same as it was asked for.
        context: That of the call.
    """

    limits_itself = True

    def __init__(self, delegated: Delegated, *, task: Task, context: ToolContext) -> None:
        self._delegated = delegated
        self._context = context
        self.view = CallView(title=_title(task), kind="think")
        self.accesses = accesses_of(task, context)
        self._task = task

    async def preview(self) -> tuple[ToolContent, ...]:
        """See `Invocation`."""
        return (PartContent(part=TextPart(text=self._task.prompt)),)

    async def run(self) -> ToolResult:
        """See `Invocation`."""
        return report_result(await self._delegated.run(), clock=self._context.clock)

    async def so_far(self) -> ToolResult | None:
        """See `Invocation`."""
        report = self._delegated.so_far()
        return None if report is None else report_result(report, clock=self._context.clock)


def _check(parameters: DelegateParameters, agent: AgentProgram) -> None:
    """Check that a program can be given the task like this."""
    if parameters.tools:
        raise ToolError(f"{agent.name} is another program with tools of its own: leave out `tools`.")
    if parameters.background:
        raise ToolError(f"{agent.name} is another program, which asks the user: leave out `background`.")


def accesses_of(task: Task, context: ToolContext) -> tuple[Access, ...]:
    """The effects of a task besides those of its steps: another program runs."""
    agent = task.agent
    if not isinstance(agent, AgentProgram):
        return ()
    line = shlex.join([agent.command, *agent.args])
    cwd = agent.cwd or context.workspace.roots[0]
    return (RunsCommand(line=line, cwd=cwd, reach=agent.reach, stays=True, needs=agent.needs),)


class _BackgroundCall(Invocation):
    """A task that goes on in the background."""

    def __init__(self, delegation: Delegation, *, task: Task, context: ToolContext) -> None:
        self._delegation = delegation
        self._task = task
        self._context = context
        self.view = CallView(title=f"{_title(task)} (in the background)", kind="think")

    async def run(self) -> ToolResult:
        begun = await self._delegation.begin(self._task)
        catalog = self._context.port(ToolCatalog)
        if catalog is not None:
            catalog.list_these((TASK_STATUS, TASK_CANCEL))
        text = (
            f"Task {begun.number} has begun, and goes on while you do other things. You are told when it has ended; "
            f"`{TASK_STATUS}` shows how far it is or waits for it, `{TASK_CANCEL}` ends it."
        )
        return ToolResult(parts=(TextPart(text=text),), raw={"task": begun.number, "session": begun.session})


def _title(task: Task) -> str:
    to = f" to {task.agent.name}" if task.agent is not None else ""
    return f"Delegate{to}: {shortened(task.title)}"


def named_agents(agents: Sequence[Agent]) -> str:
    """The agents for the description of the tool, as far as there is room."""
    lines: list[str] = []
    for width in _WIDTHS:
        lines = [f"\n- {agent.name}: {shortened(agent.description, most=width)}" for agent in agents]
        if sum(map(len, lines)) <= _MOST:
            break
    kept = "".join(lines)
    if len(kept) > _MOST:
        kept = f"{kept[:_MOST].rpartition(chr(10))[0]}\nand more; /agents shows the user all"
    return f" Agents that tasks can be given to by name, each with its own instructions:{kept}"
