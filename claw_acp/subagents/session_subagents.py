"""The session extension that lets a model delegate, also to agents that have names."""

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar, cast

from anyio.abc import TaskGroup

from claw_acp.config.locations import find_locations
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.contracts.command import Command
from claw_acp.contracts.delegation import Agent, AgentFile, NamedAgents
from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.contracts.tool import Tool
from claw_acp.core.clock import Clock
from claw_acp.registry.reference import Ref
from claw_acp.session.extension import SessionExtension
from claw_acp.session.session import Session
from claw_acp.session.setup import SessionSetup
from claw_acp.subagents.agent_folders import AgentFolder, AgentFolders, FoundAgents, folders_for
from claw_acp.subagents.agents_command import AgentsCommand
from claw_acp.subagents.delegate import Delegate
from claw_acp.subagents.task_tools import TaskCancelTool, TaskStatusTool
from claw_acp.subagents.tasks_command import TasksCommand

CONFIGURED: Ref[Callable[..., Sequence[Agent]]] = Ref("claw_acp.subagents.foreign.configured:configured_agents")

_P = TypeVar("_P")


class SessionSubagents(SessionExtension):
    """Gives a session the tool to delegate; its subagents have it, too, down to the configured depth.

    Agents of a project count once the person trusts their text; those of the settings come first.

    Args:
        session: The session.
        tasks: Not used.
        clock: Not used.
        secrets: Reads keys of agents that are other programs.
    """

    name = "subagents"
    own_names = frozenset({"agents", "tasks"})

    def __init__(self, session: Session, *, tasks: TaskGroup, clock: Clock, secrets: SecretCache) -> None:
        del tasks, clock
        self._session = session
        self._secrets = secrets
        self._programs: Sequence[Agent] = ()
        self._settings = Settings()
        self._folders = AgentFolders(self._places)
        self._placed: tuple[object, Sequence[AgentFolder]] | None = None
        self._found = FoundAgents()
        self._agreed: Collection[ProjectFile] = ()
        self._agents: Sequence[Agent] = ()
        self._delegate: Tool = Delegate(())
        self._task_tools: Sequence[Tool] = (TaskStatusTool(), TaskCancelTool())
        self._commands: Sequence[Command] = (AgentsCommand(self.agents, lambda: self._found), TasksCommand())

    def configure(self, setup: SessionSetup, settings: Settings) -> None:
        """See `SessionExtension`."""
        self._settings = settings
        self._placed = None
        if settings.agents or self._programs:
            self._programs = CONFIGURED.load()(settings, servers=setup.servers, secrets=self._secrets)
            self._renew()

    def look(self) -> bool:
        """See `SessionExtension`."""
        found = self._folders.look()
        if found != self._found:
            self._found = found
            self._renew()
        return False

    def agents(self) -> Sequence[Agent]:
        """The agents that tasks can be given to now; of several with one name the nearest that is trusted."""
        files = self.project_files()
        if files and tuple(self._agreed) != (agreed := self.trust.trusted(files)):
            self._agreed = agreed
            self._renew()
        return self._agents

    def _renew(self) -> None:
        named: dict[str, Agent] = {program.name: program for program in self._programs}
        for agent in self._found.agents:
            if self._is_trusted(agent):
                named.setdefault(agent.name, agent)
        if self._agents != (agents := tuple(named.values())):
            self._agents = agents
            self._delegate = Delegate(agents)

    def _is_trusted(self, agent: AgentFile) -> bool:
        return agent.file is None or agent.file in self._agreed

    def _places(self) -> Sequence[AgentFolder]:
        roots = self._session.roots
        if self._placed is None or self._placed[0] != roots:
            environ = self._settings.environ
            config_dir = find_locations(environ).config_dir
            self._placed = roots, folders_for(roots, config_dir=config_dir, environ=environ)
        return self._placed[1]

    def project_files(self) -> Sequence[ProjectFile]:
        """See `SessionExtension`."""
        return [agent.file for agent in self._found.agents if agent.file is not None]

    def tools(self) -> Sequence[Tool]:
        """The tool to delegate, a new one when the agents that it names have changed, and those of its tasks."""
        self.agents()
        return (self._delegate, *self._task_tools)

    def port(self, kind: type[_P]) -> _P | None:
        """The named agents, for skills that work in one."""
        return cast("_P", NamedAgents(usable=self.agents)) if kind is NamedAgents else None

    def commands(self) -> Sequence[Command]:
        """See `SessionExtension`."""
        return self._commands
