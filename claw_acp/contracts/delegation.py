"""The port through which a tool gives a task to a subagent: a conversation of its own with the same rules."""

from collections.abc import Callable, Sequence
from typing import Final, Literal, Protocol, TypeAlias

from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.contracts.tool import Invocation, ToolContext
from claw_acp.core.mode import MODES, Mode
from claw_acp.core.value import Value

TaskStatus: TypeAlias = Literal["completed", "limited", "failed", "cancelled", "interrupted"]
"""How a task ended. limited: at a limit of requests, tokens, money or time. interrupted: with the program."""

AgentScope: TypeAlias = Literal["project", "user", "settings"]
"""Where a named agent comes from: files of the project, files of the person, the settings."""

BACKGROUND_TASKS: Final = "background tasks"
"""The key of a session's background tasks in its tool state, once there are any."""


class Agent(Value):
    """An agent that tasks can be given to by its name; each kind is a subclass with what that kind needs.

    Attributes:
        name: Its name.
        description: When to give it a task, on one line.
        scope: Where it comes from.
    """

    name: str
    description: str
    scope: AgentScope


class AgentFile(Agent):
    """An agent that a Markdown file describes: a model of ours with instructions of its own.

    Attributes:
        instructions: Its part of the system prompt.
        tools: The only tools that it may use; None: all that subagents have.
        without: The tools that it may not use.
        model: The model that answers, as in the settings; empty: that of the session.
        requests: The most model requests for one task; None: as configured.
        widest_mode: The widest mode in which it works; that of the session may be stricter.
        file: The file of a project, which counts only where the person trusts its text.
        warnings: Faults that do not keep it from being used.
    """

    instructions: str
    tools: frozenset[str] | None = None
    without: frozenset[str] = frozenset()
    model: str = ""
    requests: int | None = None
    widest_mode: Mode = MODES[-1]
    file: ProjectFile | None = None
    warnings: tuple[str, ...] = ()


class Task(Value):
    """A task for a subagent; `tools` are the only ones that it may use, None: all that subagents have.

    `agent` is the named one that it is for; None: one without a name.
    """

    title: str
    prompt: str
    tools: frozenset[str] | None = None
    agent: Agent | None = None


class Report(Value):
    """The report of a subagent: `text` is its last answer, or why there is none.

    `session` is its conversation, which stays in the journal. `sources` are those of untrusted text that it read.
    `remark` says what was otherwise than asked.
    """

    status: TaskStatus
    text: str
    session: str = ""
    sources: tuple[str, ...] = ()
    remark: str = ""


class Delegated(Protocol):
    """One task that was given to a subagent."""

    async def run(self) -> Report:
        """Carry the task out; cancelling this ends the subagent.

        Raises:
            ToolError: No subagent can be had.
        """
        ...

    def so_far(self) -> Report | None:
        """The report of a task that was cancelled; None if it never began."""
        ...


class NamedAgents(Value):
    """A port: `usable` returns the agents that tasks can be given to now."""

    usable: Callable[[], Sequence[Agent]]


class BackgroundTask(Value):
    """A task that goes on beside its conversation; `status` is None as long as it is at work.

    `number` is its own in the conversation, `session` is its conversation, `began` is in seconds since the epoch.
    """

    number: int
    title: str
    session: str
    began: float
    status: TaskStatus | None = None


class BackgroundTasks(Protocol):
    """The background tasks of a conversation, also those of earlier processes."""

    async def all(self) -> Sequence[BackgroundTask]:
        """All of them, in the order in which they began."""
        ...

    async def report(self, number: int, *, within: float = 0) -> tuple[BackgroundTask, Report] | None:
        """A task and its report, or what it has said so far; None if there is no such task.

        One that is at work is waited for, up to `within` seconds.
        """
        ...

    async def mark_reported(self, number: int) -> None:
        """Note that the model has got the report of a task."""
        ...

    async def cancel(self, number: int) -> bool:
        """End a task, and wait for its end; False if it is not at work."""
        ...


class Delegation(Protocol):
    """Gives tasks to subagents."""

    @property
    def is_open(self) -> bool:
        """False in an attempt, and where subagents are as deep already as they may be."""
        ...

    def call(self, task: Task, *, context: ToolContext) -> Invocation:
        """The invocation that gives a task and waits for its report."""
        ...

    async def begin(self, task: Task) -> BackgroundTask:
        """Have a task go on in the background. Nobody is asked about anything then.

        Raises:
            ToolError: It cannot be begun.
        """
        ...

    def background(self) -> BackgroundTasks:
        """The background tasks of the conversation."""
        ...
