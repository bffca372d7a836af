"""The registry of extension kinds, and the extensions of one session as one."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

import anyio
from anyio.abc import TaskGroup

from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.contracts.command import Command, CommandGroup
from claw_acp.contracts.mcp_server import ClientServer, McpServerSpec
from claw_acp.contracts.project_trust import NO_TRUST, ProjectFile, ProjectTrust
from claw_acp.contracts.prompt_layer import PromptLayer
from claw_acp.contracts.tool import Tool
from claw_acp.core.clock import Clock
from claw_acp.core.events import CommandsChanged
from claw_acp.core.value import Value, replace
from claw_acp.registry.reference import Ref
from claw_acp.session.extension import Notes, SessionExtension
from claw_acp.session.session import Session
from claw_acp.session.setup import SessionSetup

if TYPE_CHECKING:
    from claw_acp.contracts.hook import Hook

_P = TypeVar("_P")


class ExtensionKind(Value):
    """A kind of extension.

    Attributes:
        wanted: Returns whether a session that is being opened needs one. Cheap: each new session waits for it.
        make: Creates it from the session, with `tasks`, `clock` and `secrets`; loaded when the first one is needed.
        waits: It is not needed before the first prompt, so that no new session waits until it is loaded.
    """

    wanted: Callable[[SessionSetup, Settings], bool]
    make: Ref[Callable[..., SessionExtension]]
    waits: bool = False


MCP: Final = ExtensionKind(
    wanted=lambda setup, settings: bool(setup.servers) or any(entry.enabled for entry in settings.mcp.values()),
    make=Ref("claw_acp.mcp.session_servers:McpServers"),
)
SKILLS: Final = ExtensionKind(
    wanted=lambda _, settings: settings.skills.enabled,
    make=Ref("claw_acp.skills.session_skills:SessionSkills"),
    waits=True,
)
SUBAGENTS: Final = ExtensionKind(
    wanted=lambda _, settings: settings.delegation.depth > 0,
    make=Ref("claw_acp.subagents.session_subagents:SessionSubagents"),
    waits=True,
)
MEMORY: Final = ExtensionKind(
    wanted=lambda _, settings: settings.memory.enabled,
    make=Ref("claw_acp.memory.session_memory:SessionMemory"),
    waits=True,
)
HOOKS: Final = ExtensionKind(
    wanted=lambda _, settings: settings.hooks.use != "off",
    make=Ref("claw_acp.hooks.session_hooks:SessionHooks"),
    waits=True,
)
KINDS: Final[Sequence[ExtensionKind]] = (
    HOOKS,
    SKILLS,
    MCP,
    SUBAGENTS,
    MEMORY,
)


class Extensions(SessionExtension):
    """The extensions of one session, as one.

    Clients that have the session open together share their MCP servers; of two with one name the older one stays.
    Those that a client left behind go on, except servers inside the client.

    Args:
        session: The session.
        tasks: Runs their background work.
        clock: Time.
        secrets: Reads keys that take time to get.
        kinds: The kinds of extensions; each is created once it is needed.
        added: Make further extensions of every session; read again each time, as some come later.
        trust: Makes the trust in files of the project, which each extension gets.
    """

    def __init__(
        self,
        session: Session,
        *,
        tasks: TaskGroup,
        clock: Clock,
        secrets: SecretCache,
        kinds: Sequence[ExtensionKind] = KINDS,
        added: Sequence[Callable[[Session], SessionExtension]] = (),
        trust: Callable[[], ProjectTrust] = lambda: NO_TRUST,
    ) -> None:
        self._session = session
        self._tasks = tasks
        self._clock = clock
        self._secrets = secrets
        self._kinds = kinds
        self._added = added
        self._trust = trust
        self._made: dict[ExtensionKind, SessionExtension] = {}
        self._made_of_added: list[SessionExtension] = []
        self._servers: dict[object, Sequence[McpServerSpec]] = {}
        self._setup: tuple[SessionSetup, Settings] | None = None
        self._prompted = False
        self._waiting: tuple[SessionSetup, Settings] | None = None  # for the first prompt

    def configure(self, setup: SessionSetup, settings: Settings) -> None:
        """Create the extensions needed now, and configure all."""
        self._servers[setup.client] = setup.servers
        self._setup = setup, settings
        self._configure()

    def client_left(self, client: object) -> None:
        """Do without the servers inside a client that has left."""
        left = self._servers.pop(client, ())
        lasting = [server for server in left if not isinstance(server, ClientServer)]
        self._servers[None] = (*self._servers.get(None, ()), *lasting)
        if len(lasting) < len(left) and self._session.subscribers:
            self._configure()
            self._tasks.start_soon(self._session.broadcast, CommandsChanged())

    def _configure(self) -> None:
        if self._setup is None:
            return
        asked, settings = self._setup
        shared: list[McpServerSpec] = []
        present = [servers for client, servers in self._servers.items() if client is not None]
        for servers in (*present, self._servers.get(None, ())):
            taken = {server.name for server in shared}
            shared += [server for server in servers if server.name not in taken]
        setup = replace(asked, servers=tuple(shared))
        self._waiting = None if self._prompted else (setup, settings)
        self._make(setup, settings)
        for extension in self._all():
            extension.configure(setup, settings)

    def _make(self, setup: SessionSetup, settings: Settings) -> Sequence[SessionExtension]:
        """Create the extensions that are needed by now; returns those that are new."""
        made: list[SessionExtension] = []
        for kind in self._kinds:
            if kind not in self._made and (self._prompted or not kind.waits) and kind.wanted(setup, settings):
                made.append(
                    kind.make.load()(self._session, tasks=self._tasks, clock=self._clock, secrets=self._secrets)
                )
                made[-1].trust = self._trust()
                self._made[kind] = made[-1]
        return made

    def tools(self) -> Sequence[Tool]:
        """The tools of all extensions, in order."""
        return [tool for extension in self._all() for tool in extension.tools()]

    def commands(self) -> Sequence[Command]:
        """The slash commands of all extensions."""
        return [command for extension in self._all() for command in extension.commands()]

    def command_groups(self) -> Sequence[CommandGroup]:
        """The slash commands of each extension, without those that have the name of another's own."""
        owners = {name: each for each in self._all() for name in each.own_names}
        return [
            CommandGroup(
                name=f"From {each.name}",
                commands=[command for command in each.commands() if owners.get(command.name, each) is each],
            )
            for each in self._all()
        ]

    def own_command_names(self) -> frozenset[str]:
        """The names of commands that belong to this program."""
        return frozenset(name for each in self._all() for name in each.own_names)

    def look(self) -> bool:
        """See `SessionExtension`."""
        changed = [extension.look() for extension in self._all()]
        return any(changed)

    def project_files(self) -> Sequence[ProjectFile]:
        """The files of the project that need trust, of all extensions."""
        return [file for extension in self._all() for file in extension.project_files()]

    def layers(self, window: int) -> Sequence[PromptLayer]:
        """The system prompt layers of all extensions, for a model with this window (0: it is not known)."""
        for extension in self._all():
            extension.fit(window)
        return [PromptLayer(name=each.name, text=each.instructions(), stable=False) for each in self._all()]

    async def notes(self, prompt: str) -> Notes:
        """What all tell the model with a prompt, one after the other."""
        told = [await extension.notes(prompt) for extension in self._all()]
        text = "\n".join(notes.text for notes in told if notes.text)
        return Notes(text=text, sources=tuple(source for notes in told for source in notes.sources))

    def hooks(self) -> "Sequence[Hook]":
        """The hooks of all extensions, in order."""
        return [hook for extension in self._all() for hook in extension.hooks()]

    def port(self, kind: type[_P]) -> _P | None:
        """The first service of this type."""
        found = (extension.port(kind) for extension in self._all())
        return next((port for port in found if port is not None), None)

    async def settled(self, *, within: float) -> None:
        """Wait until all have started or failed, each at most `within` seconds."""
        for extension in self._all():
            await extension.settled(within=within)

    async def announce(self) -> None:
        """Create those that waited for the first prompt, and have all send what they held back."""
        self.make_waiting()
        for extension in self._all():
            await extension.announce()

    @property
    def waits(self) -> bool:
        """True while some may have to be created for the first prompt."""
        return self._waiting is not None

    def load_waiting(self) -> None:
        """Load those that wait for the first prompt, if they are needed. Blocking."""
        waiting = self._waiting  # once: another thread may create them meanwhile
        if waiting is not None:
            for kind in self._kinds:
                if kind.waits and kind.wanted(*waiting):
                    kind.make.load()

    def make_waiting(self) -> None:
        """Create those that waited for the first prompt. Idempotent."""
        self._prompted = True
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            for extension in self._make(*waiting):
                extension.configure(*waiting)

    async def aclose(self) -> None:
        """Close all concurrently."""
        if self._all():
            async with anyio.create_task_group() as tasks:
                for extension in self._all():
                    tasks.start_soon(extension.aclose)

    def _all(self) -> Sequence[SessionExtension]:
        for make in self._added[len(self._made_of_added) :]:
            self._made_of_added.append(make(self._session))
        return (*self._made.values(), *self._made_of_added)
