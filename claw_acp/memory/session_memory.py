"""The memory of one session: notes that go with prompts, lasting ones in the system prompt, and tools."""

import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar, cast

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from claw_acp.config.locations import find_locations
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.contracts.command import Command
from claw_acp.contracts.conversation_archive import ConversationArchive
from claw_acp.contracts.memory import QUERY_WITHIN, Memory, MemoryEntry
from claw_acp.contracts.tool import Tool
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ConfigError, StoreError
from claw_acp.core.events import Notice
from claw_acp.core.ids import new_id
from claw_acp.memory.archive import SessionArchive
from claw_acp.memory.command import MemoryCommand
from claw_acp.memory.namespaces import USER, project_namespace, visible
from claw_acp.memory.opening import opened_memory
from claw_acp.memory.prompt_notes import core_layer, fit_for_prompt, notes_for_prompt
from claw_acp.memory.switch import MemorySwitch
from claw_acp.memory.tools import Forget, Recall, Store
from claw_acp.registry.reference import Ref
from claw_acp.session.extension import Notes, SessionExtension
from claw_acp.session.session import Session
from claw_acp.session.setup import SessionSetup

if TYPE_CHECKING:
    from claw_acp.memory.session_vectors import SessionVectors

VECTORS: "Ref[Callable[..., SessionVectors]]" = Ref("claw_acp.memory.session_vectors:SessionVectors")

_P = TypeVar("_P")

log = logging.getLogger(__name__)

WITHIN: Final = 0.3  # seconds that a prompt waits for its notes, which usually takes some thousandths
OPENING: Final = 1.0  # seconds until a session does without lasting notes
MOST_RECALLED: Final = 8
LONGEST_QUERY: Final = 2_000  # characters of a prompt
_FILES: Final = frozenset({"sqlite", "markdown"})  # backends of which is known where they keep what they have


class SessionMemory(SessionExtension):
    """See `SessionExtension`. It sees what was kept of the person and of the session's project, of no other.

    The store is opened for each use: without any there is no cost, and several processes can share it.

    Args:
        session: The session.
        tasks: Runs what makes vectors, in the background.
        clock: Time.
        secrets: Reads the key of a service that makes vectors.
    """

    name = "memory"
    own_names = frozenset({"memory"})

    def __init__(self, session: Session, *, tasks: TaskGroup, clock: Clock, secrets: SecretCache) -> None:
        self._session = session
        self._tasks = tasks
        self._secrets = secrets
        self._clock = clock
        self._settings = Settings()
        self._namespaces: tuple[str, str] | None = None  # the project's and the person's; None while switched off
        self._looked = False
        self._vectors: SessionVectors | None = None
        self._reading = anyio.Lock()
        self._filled = False
        self._core: Sequence[MemoryEntry] | None = None  # new ones wait: they would cost prompt caches
        self._layer = ""
        self._told: set[str] = set()
        self._complaints: set[str] = set()
        self._store = Store(session, opened=self._opened_to_store, namespaces=self._current)
        others = (kind(session, opened=self.opened, namespaces=self._current) for kind in (Recall, Forget))
        self._tools: tuple[Tool, ...] = (self._store, *others)
        self._commands: Sequence[Command] = (
            MemoryCommand(opened=self.opened, namespaces=self._visible_namespaces, switch=self._set_off),
        )

    def configure(self, setup: SessionSetup, settings: Settings) -> None:  # noqa: ARG002 - the contract's
        """See `SessionExtension`."""
        if settings.memory != self._settings.memory:
            section = settings.memory.embedding
            self._vectors = None
            if section.url is not None and section.model is not None:
                make = VECTORS.load()
                complain = partial(self._complain, title="Memories are found by their words alone")
                self._vectors = make(
                    settings, tasks=self._tasks, secrets=self._secrets, clock=self._clock, complain=complain
                )
        self._settings = settings

    def look(self) -> bool:
        """See `SessionExtension`. Reads the switch of the project."""
        locations = find_locations(self._settings.environ)
        own = self._own_namespaces()
        self._namespaces = None if MemorySwitch(locations.memory_off_file).is_off(own[0]) else own
        places = (locations.memory_database, locations.memory_dir)
        self._filled = self._settings.memory.backend not in _FILES or any(place.exists() for place in places)
        self._looked = True
        return False

    async def announce(self) -> None:
        """See `SessionExtension`. Reads the lasting notes; those that were read stay until one of them is gone."""
        if self._looked and self._core is not None and not self._core:
            return
        async with self._reading:
            if not self._looked:
                await to_thread.run_sync(self.look)
            if self._namespaces is None:
                return
            found: Sequence[MemoryEntry] = self._core or ()
            with anyio.move_on_after(OPENING):
                found = await self._lasting()
            if self._core is None and self._filled:
                self._make_vectors()
            if self._core is None or {entry.id for entry in self._core} - {entry.id for entry in found}:
                self._core, self._layer = found, core_layer(found)

    async def _lasting(self) -> Sequence[MemoryEntry]:
        if self._namespaces is None or not self._filled:
            return ()
        try:
            async with self.opened() as memory:
                return fit_for_prompt(await memory.top_core_memories(namespaces=self._namespaces))
        except (StoreError, ConfigError) as error:
            await self._complain(error)
            return ()

    def _own_namespaces(self) -> tuple[str, str]:
        return project_namespace(self._session.roots[0]), USER

    def _visible_namespaces(self) -> Sequence[str]:
        return visible(self._own_namespaces())

    async def _set_off(self, off: bool) -> None:  # noqa: FBT001 - a switch
        file = find_locations(self._settings.environ).memory_off_file
        project, _ = self._own_namespaces()
        await to_thread.run_sync(lambda: MemorySwitch(file).set_off(project, off=off))
        await to_thread.run_sync(self.look)

    def _current(self) -> tuple[str, str] | None:
        return self._namespaces

    def tools(self) -> Sequence[Tool]:
        """See `SessionExtension`; none where memory is switched off."""
        return () if self._namespaces is None else self._tools

    def commands(self) -> Sequence[Command]:
        """See `SessionExtension`."""
        return self._commands

    def instructions(self) -> str:
        """See `SessionExtension`."""
        return "" if self._namespaces is None else self._layer

    def port(self, kind: type[_P]) -> _P | None:
        """See `SessionExtension`: the archive of what leaves the conversation."""
        if kind is not ConversationArchive or self._namespaces is None:
            return None
        return cast(
            "_P", SessionArchive(self._store, opened=self._opened_to_store, complain=self._complain, clock=self._clock)
        )

    async def notes(self, prompt: str) -> Notes:
        """See `SessionExtension`. What is not found in time is left out."""
        if self._namespaces is None or not self._filled or not prompt.strip():
            return Notes()
        known = {entry.id for entry in self._core or ()} | self._told
        found: Sequence[MemoryEntry] = ()
        try:
            with anyio.move_on_after(WITHIN if self._vectors is None else WITHIN + QUERY_WITHIN) as limit:
                async with self.opened() as memory:
                    found = await memory.recall_namespaced(
                        prompt[:LONGEST_QUERY], namespaces=self._namespaces, limit=MOST_RECALLED
                    )
            if limit.cancelled_caught:
                log.warning("notes left out: recalling takes too long", extra={"session": self._session.id})
        except (StoreError, ConfigError) as error:
            await self._complain(error)
        new = [entry for entry in found if entry.id not in known and entry.session_id != self._session.id]
        self._told |= {entry.id for entry in new}
        return notes_for_prompt(new, clock=self._clock)

    async def aclose(self) -> None:
        """See `SessionExtension`."""
        if self._vectors is not None:
            self._vectors.close()

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[Memory]:
        """The store, for a block.

        Raises:
            ConfigError: There is no such backend.
            StoreError: It cannot be used.
        """
        self._filled = True
        locations = find_locations(self._settings.environ)
        embedding = None if self._vectors is None else self._vectors.embedding
        async with opened_memory(self._settings, locations, clock=self._clock, embedding=embedding) as memory:
            yield memory

    @asynccontextmanager
    async def _opened_to_store(self) -> AsyncGenerator[Memory]:
        async with self.opened() as memory:
            yield memory
        self._make_vectors()

    def _make_vectors(self) -> None:
        if self._vectors is not None:
            self._vectors.make(self.opened)

    async def _complain(
        self, error: StoreError | ConfigError, *, title: str = "Nothing is recalled from memory"
    ) -> None:
        """Tell the person, once of each."""
        log.warning(title, extra={"session": self._session.id, "reason": error.message})
        if title not in self._complaints:
            self._complaints.add(title)
            notice = Notice(item=new_id("ntc"), severity="warning", title=title, description=error.message)
            await self._session.broadcast(notice)
