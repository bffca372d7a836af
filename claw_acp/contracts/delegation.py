"""The port through which a tool gives a task to a subagent: a conversation of its own with the same rules."""

from typing import Literal, Protocol, TypeAlias

from claw_acp.contracts.tool import ToolContext
from claw_acp.core.value import Value

TaskStatus: TypeAlias = Literal["completed", "limited", "failed", "cancelled"]
"""How a task ended. limited: at a limit of requests, tokens, money or time."""


class Task(Value):
    """A task for a subagent; `tools` are the only ones that it may use, None: all that subagents have."""

    title: str
    prompt: str
    tools: frozenset[str] | None = None


class Report(Value):
    """The report of a subagent: `words` is its last answer, or why there is none.

    `session` is its conversation, which stays in the journal. `sources` are those of untrusted text that it read.
    """

    status: TaskStatus
    words: str
    session: str = ""
    sources: tuple[str, ...] = ()


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


class Delegation(Protocol):
    """Gives tasks to subagents."""

    def delegate(self, task: Task, *, context: ToolContext) -> Delegated:
        """The task, not begun yet; `context` is that of the call that gives it."""
        ...
