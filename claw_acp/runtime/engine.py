"""The engine behind every front end: opens sessions, and keeps the ones in use."""

import threading
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import anyio
from anyio.abc import TaskGroup

from claw_acp.config.current import CurrentSettings
from claw_acp.config.locations import Locations
from claw_acp.config.settings import Settings
from claw_acp.contracts.command import Command
from claw_acp.contracts.mcp_server import McpServerSpec
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.contracts.session_setup import Instructions, SessionSetup
from claw_acp.core.clock import Clock
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.ids import new_id
from claw_acp.registry.reference import Ref
from claw_acp.runtime.command_list import CommandList
from claw_acp.session.forking import forked
from claw_acp.session.journal import Journal
from claw_acp.session.lock import SessionLock
from claw_acp.session.pages import Archived, Page
from claw_acp.session.record import SessionRecord
from claw_acp.session.session import CLEANUP_TIMEOUT, Session
from claw_acp.session.titles import given_title
from claw_acp.workspace.local import LocalWorkspace
from claw_acp.workspace.paths import session_root
from claw_acp.workspace.process_host import ProcessHost

if TYPE_CHECKING:
    from claw_acp.mcp.attachment import ServerAttachment
    from claw_acp.runtime.accounts import Accounts
    from claw_acp.runtime.discovery import Discovery
    from claw_acp.runtime.turns import Turns

ATTACH: "Ref[Callable[..., ServerAttachment]]" = Ref("claw_acp.mcp.attachment:ServerAttachment")
ACCOUNTS: "Ref[Callable[[Engine], Accounts]]" = Ref("claw_acp.runtime.accounts:Accounts")
DISCOVERY: "Ref[Callable[[Engine], Discovery]]" = Ref("claw_acp.runtime.discovery:Discovery")
TURNS: "Ref[Callable[[Engine], Turns]]" = Ref("claw_acp.runtime.turns:Turns")
MAKE_COMMANDS: "Ref[Callable[[], Sequence[Command]]]" = Ref("claw_acp.runtime.registries:make_commands")


@dataclass(slots=True, kw_only=True)
class OpenSession:
    """A session in use, with what belongs to its folder."""

    session: Session
    settings: Settings
    workspace: LocalWorkspace
    setup: SessionSetup
    notices: Sequence[str] = ()
    """What a person should know about the set-up: no model, mistakes in the configuration."""
    commands: CommandList
    """The slash commands that can be typed now."""
    attachment: "ServerAttachment | None" = None
    """The session's MCP servers, if it has any."""
    system: str | None = None
    """The instructions above the conversation, once a turn has made them."""
    system_given: Instructions | None = None
    """What the client's part of `system` was made of."""
    closed: anyio.Event | None = None
    """Set when it has been closed; there while that goes on."""


class Engine:
    """Everything a turn needs, shared by all sessions of the process. Made by `runtime.build.open_engine`."""

    def __init__(
        self,
        *,
        journal: Journal,
        processes: ProcessHost,
        locations: Locations,
        environ: Mapping[str, str],
        clock: Clock,
        tasks: TaskGroup,
    ) -> None:
        self.journal = journal
        self.tasks = tasks
        self.clock = clock
        self.locks = SessionLock(locations.lock_dir)
        self.locations = locations
        self.environ = environ
        self.configuration = CurrentSettings(locations=locations, environ=environ)
        self.configuration.watchers.append(self._settings_changed)
        self.refused: frozenset[ProviderSetup] = frozenset()
        """Ways to reach a model whose key was refused when it was last used."""
        self.processes = processes
        self._turns: Turns | None = None
        self._making_turns = threading.Lock()
        self.warm = False
        """Whether what prompts need is being loaded ahead already."""
        self._open: dict[str, OpenSession] = {}

    @property
    def turns(self) -> "Turns":
        """What runs prompts. Loaded on first use: a new session must not wait for tools, policy and providers.

        Mostly that is in a thread, ahead of the first prompt; a prompt that comes meanwhile waits for the thread
        without giving up control, because a cancel right behind it must find it in its session.
        """
        with self._making_turns:
            if self._turns is None:
                self._turns = TURNS.load()(self)
            return self._turns

    @cached_property
    def accounts(self) -> "Accounts":
        """Whose keys are used. Loaded when a client asks, or somebody logs in."""
        return ACCOUNTS.load()(self)

    @cached_property
    def discovery(self) -> "Discovery":
        """What looks for models to choose from."""
        return DISCOVERY.load()(self)

    @cached_property
    def commands(self) -> Sequence[Command]:
        """Our own slash commands; looked up on first use, after the first session was answered."""
        return MAKE_COMMANDS.load()()

    # ------------------------------------------------------------------ opening

    async def create(self, setup: SessionSetup) -> OpenSession:
        """A new session, kept from this moment on.

        Raises:
            InvalidRequest: A directory does not exist.
            AuthRequired: The configured model cannot be used without a key.
        """
        roots = _roots(setup)
        settings, model, notice = await self.discovery.first_model(roots[0])
        now = self.clock.now()
        record = SessionRecord(
            id=new_id("ses", clock=self.clock),
            cwd=setup.cwd,
            additional_directories=setup.additional,
            mode=settings.mode,
            model=model,
            created_at=now,
            updated_at=now,
            instructions=setup.instructions,
        )
        async with self._unless_cancelled(record.id):
            await self.journal.create(record)
        notices = [notice] if notice else []
        opened = self._assemble(record, setup, roots=roots, settings=settings, notices=notices)
        self._attach(opened, setup.servers)
        return opened

    def in_use(self) -> Sequence[OpenSession]:
        """The sessions that are open here."""
        return tuple(opened for opened in self._open.values() if opened.closed is None)

    async def open(self, session_id: str, setup: SessionSetup) -> OpenSession:
        """A session made earlier, by this process or another; the one in use when there is one.

        Its additional directories are those given now (ACP: left out means none), unless a turn is running.
        Instructions, if any are given, replace those it has.

        Raises:
            SessionNotFound: There is none with this id.
            InvalidRequest: A directory does not exist, or the session works in another `cwd`.
        """
        while True:
            opened = await self._opened(session_id, setup)
            if opened.closed is None:  # nobody closed it just now
                return opened

    async def fork(self, session_id: str, setup: SessionSetup) -> OpenSession:
        """A new session that has all that was said so far in another, open or not, and its settings.

        It may work in another folder. Of a turn that runs it has what happened so far, as if that had been interrupted.

        Raises:
            SessionNotFound: There is no session to copy.
            InvalidRequest: A directory does not exist.
        """
        roots = _roots(setup)
        source = await self.journal.get(session_id)
        record = forked(
            source, clock=self.clock, cwd=setup.cwd, additional=setup.additional, instructions=setup.instructions
        )
        async with self._unless_cancelled(record.id):
            await self.journal.fork(record, source=source.id)
        opened = self._assemble(record, setup, roots=roots, settings=self.settings(roots[0]))
        self._attach(opened, setup.servers)
        return opened

    @asynccontextmanager
    async def _unless_cancelled(self, session_id: str) -> AsyncGenerator[None]:
        """What the journal takes although the block is cancelled is removed again: nobody knows of that session."""
        try:
            yield
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True, deadline=anyio.current_time() + CLEANUP_TIMEOUT):
                await self.journal.delete(session_id)
            raise

    async def _opened(self, session_id: str, setup: SessionSetup) -> OpenSession:
        roots = _roots(setup)
        opened = await self._in_use(session_id)
        if opened is None:
            record = await self.journal.get(session_id)
            _check_cwd(record, roots[0])
            opened = await self._in_use(session_id)  # somebody may have been quicker
            if opened is None:
                opened = self._assemble(record, setup, roots=roots, settings=self.settings(roots[0]))
        else:
            _check_cwd(opened.session.record, roots[0])
        try:
            await self._adapt(opened, roots, setup)
            self._attach(opened, setup.servers)
        except BaseException:
            if not opened.session.subscribers:  # nobody would ever close it
                with anyio.CancelScope(shield=True, deadline=anyio.current_time() + CLEANUP_TIMEOUT):
                    await self.close(session_id)
            raise
        return opened

    def _attach(self, opened: OpenSession, servers: Sequence[McpServerSpec]) -> None:
        """Begin to connect MCP servers; the last thing when a session is opened, as they may have news at once."""
        settings = self.settings(opened.session.roots[0])
        if opened.attachment is None and (servers or any(entry.enabled for entry in settings.mcp.values())):
            opened.attachment = ATTACH.load()(opened.session, tasks=self.tasks, clock=self.clock)
        if opened.attachment is not None:
            opened.attachment.use(servers, settings)

    async def _in_use(self, session_id: str) -> OpenSession | None:
        """The session as it is open, waiting while it is just being closed."""
        while (opened := self._open.get(session_id)) is not None and opened.closed is not None:
            await opened.closed.wait()
        return opened

    async def _adapt(self, opened: OpenSession, roots: Sequence[Path], setup: SessionSetup) -> None:
        if setup.instructions is not None:
            await opened.session.instruct(setup.instructions)
        if opened.session.busy:
            return
        if tuple(roots) != opened.session.roots:
            opened.workspace = LocalWorkspace(roots, processes=self.processes, clock=self.clock)
            opened.system = None
        await opened.session.move(roots, additional=setup.additional)

    def settings(self, cwd: Path | None) -> Settings:
        """The configuration that applies in a folder, as it is now."""
        return self.configuration.for_folder(cwd)

    def note_key(self, setup: ProviderSetup, *, refused: bool) -> None:
        """Remember whether a service takes the key it was sent; who watches the configuration hears of a change."""
        if refused != (setup in self.refused):
            self.refused = self.refused ^ {setup}
            self.configuration.tell()

    def _settings_changed(self) -> None:
        """What is offered in open sessions follows at once; a turn that runs goes on as it began."""
        for opened in self._open.values():
            opened.settings = self.settings(opened.session.roots[0])

    def _assemble(
        self,
        record: SessionRecord,
        setup: SessionSetup,
        *,
        roots: Sequence[Path],
        settings: Settings,
        notices: Sequence[str] = (),
    ) -> OpenSession:
        workspace = LocalWorkspace(roots, processes=self.processes, clock=self.clock)
        session = Session(
            record, journal=self.journal, clock=self.clock, roots=workspace.roots, tasks=self.tasks,
            lock=partial(self.locks.hold, record.id),
        )  # fmt: skip
        commands = CommandList(
            session,
            locations=self.locations,
            own=lambda: self.commands,
            lent=lambda: () if opened.attachment is None else opened.attachment.commands(),
        )
        opened = OpenSession(
            session=session,
            settings=settings,
            workspace=workspace,
            setup=setup,
            commands=commands,
            notices=(*notices, *(finding.text() for finding in settings.findings)),
        )
        self._open[record.id] = opened
        return opened

    # ------------------------------------------------------------------ the rest of a session's life

    async def list(self, *, cwd: str | None, cursor: str | None, archived: Archived = "exclude") -> Page:
        """A page of sessions in which something was said, the last changed first.

        Raises:
            InvalidRequest: The cursor is none, or belongs to other filters.
        """
        return await self.journal.list(cwd=cwd, archived=archived, cursor=cursor, begun=True)

    def look_at(self, session_id: str) -> OpenSession | None:
        """A session as it is open here, for whomever; None when it is not."""
        opened = self._open.get(session_id)
        return None if opened is None or opened.closed is not None else opened

    async def status(self, session_id: str) -> Literal["open", "saved"]:
        """Whether a session is in memory here, for whomever. Asking changes nothing.

        Raises:
            SessionNotFound: There is none with this id.
        """
        await self.journal.get(session_id)
        return "saved" if self.look_at(session_id) is None else "open"

    async def set_title(self, session_id: str, title: str) -> str:
        """Call a session, open or not, something that stays until this is done again; returns it as it is kept.

        Raises:
            InvalidRequest: The title has no visible character.
            SessionNotFound: There is none with this id.
        """
        kept = given_title(title)
        opened = self._open.get(session_id)
        if opened is None:
            await self.journal.rename(session_id, kept)
        else:
            await opened.session.rename(kept)
        return kept

    async def archive(self, session_id: str) -> None:
        """Close a session, whoever uses it, and leave it out of ordinary lists; once more does no harm.

        Raises:
            SessionNotFound: There is none with this id.
        """
        await self.journal.archive(session_id, archived=True)  # first: who waits for the end may open it again at once
        await self.close(session_id)

    async def unarchive(self, session_id: str) -> None:
        """Take a session back into ordinary lists, which does not open it; once more does no harm.

        Raises:
            SessionNotFound: There is none with this id.
        """
        await self.journal.archive(session_id, archived=False)

    async def close(self, session_id: str) -> None:
        """Cancel a session's work and let go of it; it stays in the journal. Whoever watches it is told."""
        opened = self._open.get(session_id)
        if opened is None:
            return
        if opened.closed is not None:
            await opened.closed.wait()
            return
        opened.closed = anyio.Event()
        try:
            try:
                await opened.session.aclose()
            finally:
                if opened.attachment is not None:
                    await opened.attachment.aclose()  # whatever went wrong before: its programs would run on
        finally:
            del self._open[session_id]
            for subscriber in tuple(opened.session.subscribers):
                subscriber.on_closed()
            opened.closed.set()

    async def delete(self, session_id: str) -> None:
        """Close a session and remove it for good; one that does not exist is fine."""
        await self.close(session_id)
        await self.journal.delete(session_id)
        await self.close(session_id)  # somebody may have opened it meanwhile

    async def aclose(self) -> None:
        """Close all sessions and providers."""
        self.configuration.keys.close()
        async with anyio.create_task_group() as tasks:
            for session_id in tuple(self._open):
                tasks.start_soon(self.close, session_id)
        if self._turns is not None:
            await self._turns.aclose()


def _roots(setup: SessionSetup) -> list[Path]:
    return [session_root(path) for path in (setup.cwd, *setup.additional)]


def _check_cwd(record: SessionRecord, root: Path) -> None:
    """A session keeps its folder for life (ACP); only when that is gone may it be opened in another."""
    own = Path(record.cwd)
    if own.resolve() != root and own.is_dir():
        raise InvalidRequest(f"session {record.id} works in {record.cwd}; open it with that `cwd`")
