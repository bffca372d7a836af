"""The MCP servers of one session, as a session extension."""

from collections.abc import Sequence
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.contracts.command import Command
from claw_acp.contracts.tool import Tool
from claw_acp.core.clock import Clock
from claw_acp.core.events import CommandsChanged, Event
from claw_acp.mcp.adapters import ServerAdapters
from claw_acp.mcp.instructions import told
from claw_acp.mcp.resources import ListResources, ReadResource
from claw_acp.mcp.server import STOP_TIMEOUT, Server
from claw_acp.mcp.server_config import plans, slugs
from claw_acp.session.extension import SessionExtension
from claw_acp.session.session import Session
from claw_acp.session.setup import SessionSetup

HEAD_START = 0.25  # seconds at most that servers wait for the answer that opens the session to be written
CLOSE_TIMEOUT = 1.0  # seconds beyond a server's own farewell until nobody waits for it any more


class McpServers(SessionExtension):
    """See `SessionExtension`. Each server runs in a task of its own; none can block or end the session.

    Args:
        session: The session.
        tasks: Runs the servers.
        clock: Time.
        secrets: Reads keys that take time to get.
    """

    name = "MCP servers"

    def __init__(self, session: Session, *, tasks: TaskGroup, clock: Clock, secrets: SecretCache) -> None:
        self._session = session
        self._secrets = secrets
        self._tasks = tasks
        self._clock = clock
        self._lendings: list[ServerAdapters] = []
        self._leaving: list[Server] = []
        self._since = anyio.current_time()
        self._roots: Sequence[Path] = session.roots
        self._reading: tuple[Tool, ...] = (ListResources(self._with_resources), ReadResource(self._with_resources))
        self._tools: tuple[Tool, ...] | None = None
        self._commands: tuple[Command, ...] | None = None
        self._instructions: str | None = None
        self._shown: Sequence[tuple[str, str, str | None]] = ()
        self._introduced = anyio.Event()
        self._news: list[Event] = []

    # ------------------------------------------------------------------ which servers

    def configure(self, setup: SessionSetup, settings: Settings) -> None:
        """Use the servers of the client and of the configuration from now on, and no others.

        Unchanged servers go on; one that was given up is tried again.
        """
        before = {(lending.server.plan.name, lending.server.slug): lending for lending in self._lendings}
        wanted = plans(setup.servers, settings)
        lendings: list[ServerAdapters] = []
        for plan, slug in zip(wanted, slugs(wanted), strict=True):
            known = before.get((plan.name, slug))
            if known is None or known.server.plan != plan or known.server.ended.is_set():
                server = Server(
                    plan,
                    slug=slug,
                    session=self._session,
                    clock=self._clock,
                    secrets=self._secrets,
                    changed=self._changed,
                    tell=self._tell,
                )
                self._tasks.start_soon(self._run, server, name=f"MCP server {slug}")
                self._since = anyio.current_time()
                known = ServerAdapters(server)
            lendings.append(known)
        for lending in self._lendings:
            if lending not in lendings:
                lending.server.stop()
                self._leaving.append(lending.server)
        self._leaving = [server for server in self._leaving if not server.ended.is_set()]
        self._lendings = lendings
        self._forget()
        self._shown = self._signature()  # whoever opens a session is told its commands anyway
        self._tell_roots()

    async def _run(self, server: Server) -> None:
        with anyio.move_on_after(HEAD_START):  # importing the library makes the whole process slow
            await self._introduced.wait()
        await server.run()

    def _tell_roots(self) -> None:
        if tuple(self._roots) != tuple(self._session.roots):
            self._roots = self._session.roots
            for lending in self._lendings:
                self._tasks.start_soon(lending.server.roots_changed, name="MCP roots")

    async def settled(self, *, within: float) -> None:
        """See `SessionExtension`; the time counts from when the newest server was added."""
        waiting = [lending.server.settled for lending in self._lendings if not lending.server.settled.is_set()]
        if waiting:
            with anyio.CancelScope(deadline=self._since + within):
                for event in waiting:
                    await event.wait()

    async def announce(self) -> None:
        """See `SessionExtension`."""
        self._introduced.set()
        while self._news:
            await self._session.broadcast(self._news.pop(0))

    async def _tell(self, event: Event) -> None:
        """Show an event, but not before the answer that tells the client of its session."""
        self._news.append(event)
        if self._introduced.is_set():
            await self.announce()

    async def aclose(self) -> None:
        """See `SessionExtension`."""
        servers = [*self._leaving, *(lending.server for lending in self._lendings)]
        self._lendings, self._leaving = [], []
        self._forget()
        self._introduced.set()
        for server in servers:
            server.stop()
        with anyio.move_on_after(STOP_TIMEOUT + CLOSE_TIMEOUT, shield=True):
            for server in servers:
                await server.ended.wait()

    # ------------------------------------------------------------------ what they lend

    def tools(self) -> Sequence[Tool]:
        """See `SessionExtension`."""
        if self._tools is None:
            found: dict[str, Tool] = {}
            for lending in self._lendings:
                for tool in lending.tools():
                    found.setdefault(tool.spec.name, tool)
            reading = self._reading if self._with_resources() else ()
            self._tools = (*found.values(), *reading)
        return self._tools

    def instructions(self) -> str:
        """See `SessionExtension`."""
        if self._instructions is None:
            servers = [lending.server for lending in self._lendings]
            self._instructions = told((server.name, server.offer.instructions) for server in servers)
        return self._instructions

    def commands(self) -> Sequence[Command]:
        """See `SessionExtension`."""
        if self._commands is None:
            self._commands = tuple(command for lending in self._lendings for command in lending.commands())
        return self._commands

    def _with_resources(self) -> Sequence[Server]:
        return [lending.server for lending in self._lendings if lending.server.offer.resources]

    def _signature(self) -> Sequence[tuple[str, str, str | None]]:
        return [(command.name, command.description, command.hint) for command in self.commands()]

    def _forget(self) -> None:
        self._tools = self._commands = self._instructions = None

    async def _changed(self) -> None:
        """React to a changed offer: models get it with their next request, people now."""
        self._forget()
        commands = self._signature()
        if commands != self._shown:
            self._shown = commands
            await self._tell(CommandsChanged())
