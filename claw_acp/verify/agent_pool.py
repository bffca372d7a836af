"""The state shared by all checks of one run: the options, the facts about the agent, and the agents themselves."""

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
    """The options of a run.

    Attributes:
        command: The agent's program and arguments.
        cwd: The directory of the sessions.
        env: The agent's whole environment.
        timeout: Seconds for any one answer.
        prompt: The prompt when any answer will do.
        slow_prompt: A prompt that keeps the agent busy until it is cancelled.
        tool_prompt: A prompt that makes it call a tool that needs permission.
        auth_method: The id of the login method to use first.
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
    """The agents of one run. Those used without trouble are reused; all are ended by `close`.

    Attributes:
        scratch: A directory for files of the checker's own.
        tasks: The task group of connections; set before anything else.
        agents: All connections, for the rules that are judged by all frames.
    """

    def __init__(self, options: Options, *, scratch: Path, mark: str) -> None:
        self.options = options
        self.scratch = scratch
        self.facts = Facts()
        self.agents: list[AgentConnection] = []
        self._idle: list[AgentConnection] = []
        self.tasks: TaskGroup | None = None
        self._mark = mark
        self._numbers = itertools.count(1)

    async def spawn(self) -> AgentConnection:
        """Start an agent and send nothing.

        Raises:
            CannotStart: It cannot be started.
        """
        name = f"{self._mark}-{next(self._numbers)}"
        process = await AgentProcess.start(self.options.command, env=self.options.env, mark=name)
        agent = AgentConnection(process, name=name, root=self.options.cwd, timeout=self.options.timeout)
        self.agents.append(agent)
        assert self.tasks is not None
        self.tasks.start_soon(agent.run, name=name)
        return agent

    def idle(self) -> AgentConnection | None:
        """An unused initialized connection, if any."""
        while self._idle:
            agent = self._idle.pop()
            if agent.usable:
                return agent
        return None

    def give_back(self, agent: AgentConnection) -> None:
        """Return a connection to the pool; a healthy one will be reused."""
        agent.client.reset()
        if agent.usable and not agent.questions:
            self._idle.append(agent)
        else:
            self.dismiss(agent)

    def dismiss(self, agent: AgentConnection) -> None:
        """End a connection, in the background."""
        assert self.tasks is not None
        self.tasks.start_soon(agent.end, name=f"end of {agent.name}")

    async def close(self) -> None:
        """End every agent, all at once."""
        self._idle.clear()
        async with anyio.create_task_group() as tasks:
            for agent in self.agents:
                tasks.start_soon(agent.end)

    async def kill(self) -> None:
        """Kill every agent at once."""
        for agent in self.agents:
            await agent.discard()
