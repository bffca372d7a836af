"""The sessions of a process: created, opened, copied, listed and closed."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final, Literal, TypeAlias

import anyio
from anyio.abc import TaskGroup

from claw_acp.config.current import CurrentSettings
from claw_acp.config.locations import Locations
from claw_acp.config.settings import Settings
from claw_acp.contracts.command import Command
from claw_acp.core.clock import Clock
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.events import SANDBOX_OFF
from claw_acp.core.ids import new_id
from claw_acp.registry.reference import Ref
from claw_acp.runtime.command_list import CommandList
from claw_acp.runtime.extensions import HOOKS, KINDS, SKILLS, Extensions
from claw_acp.runtime.live_session import LiveSession, SharedSessions
from claw_acp.runtime.trust import TRUST
from claw_acp.session.extension import SessionExtension
from claw_acp.session.forking import forked
from claw_acp.session.pages import Archived, Page
from claw_acp.session.record import SessionRecord
from claw_acp.session.session import CLEANUP_TIMEOUT, Session
from claw_acp.session.setup import SessionSetup
from claw_acp.session.titles import given_title
from claw_acp.workspace.local import LocalWorkspace
from claw_acp.workspace.paths import session_root
from claw_acp.workspace.process_host import ProcessHost

REMOVE_REMAINS: Final = Ref[Callable[..., Awaitable[None]]]("claw_acp.runtime.session_remains:remove_remains")

FirstModel: TypeAlias = Callable[[Path], Awaitable[tuple[Settings, str, str | None]]]
"""Returns the settings of a new session in a folder, its model, and a notice about the choice."""


class Sessions:
    """Opens sessions, and keeps the ones in use.

    Args:
        shared: The sessions of the process, and where they are kept.
        processes: Runs their programs.
        configuration: The settings of their folders.
        locations: The directories of the user's prompt files.
        clock: Time.
        tasks: Runs their background work.
        commands: Our own slash commands.
        first_model: Chooses the model of a new session.
    """

    def __init__(
        self,
        *,
        shared: SharedSessions,
        processes: ProcessHost,
        configuration: CurrentSettings,
        locations: Locations,
        clock: Clock,
        tasks: TaskGroup,
        commands: Callable[[], Sequence[Command]],
        first_model: FirstModel,
    ) -> None:
        self._live = shared.live
        self._journal = shared.journal
        self.shared = shared
        self._processes = processes
        self._configuration = configuration
        self._locations = locations
        self._clock = clock
        self._tasks = tasks
        self._commands = commands
        self._first_model = first_model
        configuration.listeners.append(self._settings_changed)

    @property
    def lasting(self) -> bool:
        """True if sessions outlast the clients that opened them."""
        return self._live.lasting

    @property
    def has_own(self) -> bool:
        """True if sessions that were opened with this configuration are in use."""
        return bool(self._own())

    # ------------------------------------------------------------------ opening

    async def create(self, setup: SessionSetup) -> LiveSession:
        """A new session, stored from this moment on.

        Raises:
            InvalidRequest: A directory does not exist.
            AuthRequired: The configured model cannot be used without a key.
        """
        roots = _roots(setup)
        settings, model, notice = await self._first_model(roots[0])
        now = self._clock.now()
        record = SessionRecord(
            id=new_id("ses", clock=self._clock),
            cwd=setup.cwd,
            additional_directories=setup.additional,
            mode=settings.mode,
            model=model,
            created_at=now,
            updated_at=now,
            instructions=setup.instructions,
        )
        async with self._unless_cancelled(record.id):
            await self._journal.create(record)
        live = self._assemble(record, setup, roots=roots, settings=settings, notices=[notice] if notice else [])
        self._configure(live, setup)
        return live

    async def open(self, session_id: str, setup: SessionSetup) -> LiveSession:
        """A session created earlier, by this process or another; the one in use if there is one.

        Its additional directories become those given now (ACP: left out means none), unless a turn is running.
        Instructions, if any are given, replace those it has.

        Raises:
            SessionNotFound: There is none with this id.
            InvalidRequest: A directory does not exist, or the session works in another `cwd`.
        """
        while True:
            live = await self._opened(session_id, setup)
            if live.closed is None:  # nobody closed it just now
                return live

    async def fork(self, session_id: str, setup: SessionSetup, *, until: int | None = None) -> LiveSession:
        """A new session with the conversation and settings of another, open or not.

        It may work in another folder. A running turn is copied as far as it got, as if it had been interrupted. With
        `until` only the events up to this position are copied.

        Raises:
            SessionNotFound: There is no session to copy.
            InvalidRequest: A directory does not exist.
        """
        roots = _roots(setup)
        source = await self._journal.get(session_id)
        record = forked(
            source, clock=self._clock, cwd=setup.cwd, additional=setup.additional, instructions=setup.instructions
        )
        async with self._unless_cancelled(record.id):
            await self._journal.fork(record, source=source.id, until=until)
        live = self._assemble(record, setup, roots=roots, settings=self._configuration.for_folder(roots[0]))
        self._configure(live, setup)
        return live

    async def attempt(self, parent: LiveSession, record: SessionRecord) -> LiveSession:
        """A new session with the conversation of another, for one attempt in a copy of its folder.

        It has no commands but those of prompt files and skills; other extensions would reach beyond the copy.

        Raises:
            SessionNotFound: The other session was deleted.
        """
        async with self._unless_cancelled(record.id):
            await self._journal.fork(record, source=parent.session.id)
        setup = SessionSetup(cwd=record.cwd, additional=record.additional_directories)
        roots = [Path(path) for path in (setup.cwd, *setup.additional)]
        return self._assemble(record, setup, roots=roots, settings=parent.settings, parent=parent)

    async def subagent(self, parent: LiveSession, record: SessionRecord, *, lent: SessionExtension) -> LiveSession:
        """A new session without a conversation, for one task; it has no commands but those of prompt files.

        Args:
            parent: The session that gives the task.
            record: The facts about the new one.
            lent: Its only extension.
        """
        async with self._unless_cancelled(record.id):
            await self._journal.create(record)
        setup = SessionSetup(cwd=record.cwd, additional=record.additional_directories)
        roots, settings = parent.session.roots, parent.settings
        return self._assemble(record, setup, roots=roots, settings=settings, delegated_by=parent, lent=lent)

    @asynccontextmanager
    async def _unless_cancelled(self, session_id: str) -> AsyncGenerator[None]:
        """Delete what the journal stored if the block is cancelled: no client knows of that session."""
        try:
            yield
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True, deadline=anyio.current_time() + CLEANUP_TIMEOUT):
                await self._journal.delete(session_id)
            raise

    async def _opened(self, session_id: str, setup: SessionSetup) -> LiveSession:
        roots = _roots(setup)
        live = await self._in_use(session_id)
        if live is None:
            record = await self._journal.get(session_id)
            _check_cwd(record, roots[0])
            live = await self._in_use(session_id)  # somebody may have been quicker
            if live is None:
                settings = self._configuration.for_folder(roots[0])
                live = self._assemble(record, setup, roots=roots, settings=settings)
        else:
            _check_cwd(live.session.record, roots[0])
        try:
            await self._adapt(live, roots, setup)
            self._configure(live, setup)
        except BaseException:
            if not live.session.subscribers:  # nobody would ever close it
                with anyio.CancelScope(shield=True, deadline=anyio.current_time() + CLEANUP_TIMEOUT):
                    await self.close(session_id)
            raise
        return live

    def _configure(self, live: LiveSession, setup: SessionSetup) -> None:
        """Configure its extensions; the last step of opening a session, as they may notify the client at once."""
        live.extensions.configure(setup, self._configuration.for_folder(live.session.roots[0]))

    async def _in_use(self, session_id: str) -> LiveSession | None:
        """The session as it is open; one that is being closed is waited for."""
        while (live := self._live.find(session_id)) is not None and live.closed is not None:
            await live.closed.wait()
        return live

    async def _adapt(self, live: LiveSession, roots: Sequence[Path], setup: SessionSetup) -> None:
        if setup.instructions is not None:
            await live.session.instruct(setup.instructions)
        if live.session.busy:
            return
        if tuple(roots) != live.session.roots:
            live.workspace = LocalWorkspace(roots, processes=self._processes, clock=self._clock)
        await live.session.move(roots, additional=setup.additional)

    def _settings_changed(self) -> None:
        """Apply new settings, and the changed choices, to open sessions at once; a running turn goes on as it began."""
        for live in self._own():
            live.settings = self._configuration.for_folder(live.origin.session.roots[0])

    def _assemble(
        self,
        record: SessionRecord,
        setup: SessionSetup,
        *,
        roots: Sequence[Path],
        settings: Settings,
        notices: Sequence[str] = (),
        parent: LiveSession | None = None,
        delegated_by: LiveSession | None = None,
        lent: SessionExtension | None = None,
    ) -> LiveSession:
        ordinary = parent is None and delegated_by is None
        workspace = LocalWorkspace(roots, processes=self._processes, clock=self._clock)
        session = Session(
            record, journal=self._journal, clock=self._clock, roots=workspace.roots, tasks=self._tasks,
            lock=partial(self.shared.locks.locked, record.id), bus=self.shared.bus(record.id),
        )  # fmt: skip
        session.sandbox = self._known_sandbox(settings)
        extensions = Extensions(
            session, tasks=self._tasks, clock=self._clock, secrets=self._configuration.secrets,
            kinds=KINDS if ordinary else (HOOKS, SKILLS) if lent is None else (),
            added=self.shared.added if ordinary else () if lent is None else (lambda _: lent,),
            trust=lambda: TRUST.load()(live, self._locations),
        )  # fmt: skip
        own = self._commands if ordinary else tuple[Command, ...]
        live = LiveSession(
            session=session, configuration=self._configuration, settings=settings, workspace=workspace, setup=setup,
            commands=CommandList(session, locations=self._locations, own=own, extensions=extensions),
            extensions=extensions, notices=(*notices, *(finding.text() for finding in settings.diagnostics)),
            parent=parent, delegated_by=delegated_by,
        )  # fmt: skip
        self._live.add(live)
        if not ordinary:
            extensions.configure(setup, settings)
        return live

    def _known_sandbox(self, settings: Settings) -> str:
        """The sandbox of a session's commands, as far as that is known without looking."""
        if settings.sandbox.use == "off":
            return SANDBOX_OFF
        alike = (live for live in self._live if live.settings.sandbox == settings.sandbox)
        return next((live.session.sandbox for live in alike if live.session.sandbox), "")

    # ------------------------------------------------------------------ the rest of a session's life

    async def list(self, *, cwd: str | None, cursor: str | None, archived: Archived = "exclude") -> Page:
        """A page of sessions with at least one event, the last changed first.

        Raises:
            InvalidRequest: The cursor is invalid, or belongs to other filters.
        """
        return await self._journal.list(cwd=cwd, archived=archived, cursor=cursor, begun=True)

    def look_at(self, session_id: str) -> LiveSession | None:
        """The session as it is open here, for any client; None when it is not."""
        live = self._live.find(session_id)
        return None if live is None or live.closed is not None else live

    def in_use(self) -> Sequence[LiveSession]:
        """The sessions that are open here, including those being closed."""
        return tuple(self._live)

    async def status(self, session_id: str) -> Literal["open", "saved"]:
        """Return whether a session is in memory here, for any client. This changes nothing.

        Raises:
            SessionNotFound: There is none with this id.
        """
        await self._journal.get(session_id)
        return "saved" if self.look_at(session_id) is None else "open"

    async def record(self, session_id: str) -> SessionRecord:
        """The facts of a session, open or not, as stored.

        Raises:
            SessionNotFound: There is none with this id.
        """
        return await self._journal.get(session_id)

    async def set_title(self, session_id: str, title: str) -> str:
        """Set the lasting title of a session, open or not; returns it as stored.

        Raises:
            InvalidRequest: The title has no visible character.
            SessionNotFound: There is none with this id.
        """
        kept = given_title(title)
        live = self._live.find(session_id)
        if live is None:
            await self._journal.rename(session_id, kept)
        else:
            await live.session.rename(kept)
        return kept

    async def archive(self, session_id: str) -> None:
        """Close a session for all clients, and leave it out of ordinary lists. Idempotent.

        Raises:
            SessionNotFound: There is none with this id.
        """
        await self._journal.archive(session_id, archived=True)  # first: who waits for the end may open it again at once
        await self.close(session_id)

    async def unarchive(self, session_id: str) -> None:
        """Show a session in ordinary lists again, without opening it. Idempotent.

        Raises:
            SessionNotFound: There is none with this id.
        """
        await self._journal.archive(session_id, archived=False)

    async def close(self, session_id: str) -> None:
        """Cancel a session's work and release it; it stays in the journal. Its subscribers are notified."""
        live = self._live.find(session_id)
        if live is None:
            return
        if live.closed is not None:
            await live.closed.wait()
            return
        live.closed = anyio.Event()
        try:
            try:
                await live.session.aclose()
            finally:
                await live.extensions.aclose()  # whatever went wrong before: their programs would run on
        finally:
            self._live.remove(session_id)
            for subscriber in tuple(live.session.subscribers):
                subscriber.on_closed()
            live.closed.set()

    async def delete(self, session_id: str) -> None:
        """Close a session and remove it for good, with those of its subagents; it need not exist."""
        await self.close(session_id)
        delegated = await self._journal.delegated(session_id)
        await self._journal.delete(session_id)
        await self.close(session_id)  # somebody may have opened it meanwhile
        for subagent in delegated:
            await self.delete(subagent.id)
        settings = self._configuration.for_folder(self._locations.data_dir)
        await REMOVE_REMAINS.load()(session_id, settings=settings, locations=self._locations, clock=self._clock)

    async def aclose(self) -> None:
        """Close all sessions that were opened here, concurrently."""
        async with anyio.create_task_group() as tasks:
            for live in self._own():
                tasks.start_soon(self.close, live.session.id)

    def _own(self) -> Sequence[LiveSession]:
        """The sessions in use that were opened with this configuration."""
        return [live for live in self._live if live.configuration is self._configuration]


def _roots(setup: SessionSetup) -> list[Path]:
    return [session_root(path) for path in (setup.cwd, *setup.additional)]


def _check_cwd(record: SessionRecord, root: Path) -> None:
    """Check that a session keeps its folder (ACP); it may be opened in another only when its own is gone."""
    own = Path(record.cwd)
    if own.resolve() != root and own.is_dir():
        raise InvalidRequest(f"session {record.id} works in {record.cwd}; open it with that `cwd`")
