"""The state all checks of one run share: the options, what was learned about the agent, and the agents themselves."""

import itertools
import os
from collections.abc import Mapping
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from claw_acp.core.value import Value, made_by
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.facts import Facts
from claw_acp.verify.process import AgentProcess

PROMPT = "Say hello in one short sentence. Use no tools."


class Options(Value):
    """How to check.

    Attributes:
        command: The agent's program and arguments.
        cwd: The directory of the sessions.
        env: The agent's whole environment.
        timeout: Seconds for any one answer.
        prompt: What is asked when any answer will do.
        slow_prompt: What keeps the agent busy until it is cancelled.
        tool_prompt: What makes it call a tool that needs permission.
        auth_method: The id to authenticate with, before anything else.
        allow_logout: Whether `logout` may be called.
        protocol: The version of the protocol to check.
    """

    command: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str] = made_by(default_factory=lambda: dict(os.environ))
    timeout: float = 30.0
    prompt: str = PROMPT
    slow_prompt: str | None = None
    tool_prompt: str | None = None
    auth_method: str | None = None
    allow_logout: bool = False
    protocol: int = 1


class AgentPool:
    """The agents of one run. Those that were used without trouble are used again; all are ended by `close`.

    Attributes:
        scratch: A directory for files of the checker's own.
        tasks: Where connections run; set before anything else is done.
        lines: Every connection there was, for the rules that are judged by all that was said.
    """

    def __init__(self, options: Options, *, scratch: Path, mark: str) -> None:
        self.options = options
        self.scratch = scratch
        self.facts = Facts()
        self.lines: list[AgentConnection] = []
        self._idle: list[AgentConnection] = []
        self.tasks: TaskGroup | None = None
        self._mark = mark
        self._numbers = itertools.count(1)

    async def spawn(self) -> AgentConnection:
        """Start an agent and say nothing to it.

        Raises:
            CannotStart: It cannot be started.
        """
        name = f"{self._mark}-{next(self._numbers)}"
        process = await AgentProcess.start(self.options.command, env=self.options.env, mark=name)
        line = AgentConnection(process, name=name, root=self.options.cwd, timeout=self.options.timeout)
        self.lines.append(line)
        assert self.tasks is not None
        self.tasks.start_soon(line.run, name=name)
        return line

    def idle(self) -> AgentConnection | None:
        """An initialized connection that nobody uses; None when there is none."""
        while self._idle:
            line = self._idle.pop()
            if line.usable:
                return line
        return None

    def give_back(self, line: AgentConnection) -> None:
        """Nobody uses it any more; what is in order will be used again."""
        line.desk.reset()
        if line.usable and not line.questions:
            self._idle.append(line)
        else:
            self.dismiss(line)

    def dismiss(self, line: AgentConnection) -> None:
        """End a connection, in the background."""
        assert self.tasks is not None
        self.tasks.start_soon(line.end, name=f"end of {line.name}")

    async def close(self) -> None:
        """End every agent, all at once."""
        self._idle.clear()
        async with anyio.create_task_group() as tasks:
            for line in self.lines:
                tasks.start_soon(line.end)

    async def kill(self) -> None:
        """End every agent at once, whatever it is doing."""
        for line in self.lines:
            await line.discard()
