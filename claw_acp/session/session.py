"""A live session: the one place where its events are numbered, stored, folded into history and shown to subscribers."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from claw_acp.contracts.tool import ToolState
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError, SessionBusy, StoreError
from claw_acp.core.events import (
    FINAL,
    AttemptsChanged,
    CompactionChanged,
    Event,
    FilesChanged,
    FilesRestored,
    MessageStarted,
    SessionChanged,
    StateChanged,
    TextDelta,
    ThoughtDelta,
    ToolCallChanged,
    TurnRewound,
    TurnState,
)
from claw_acp.core.mode import MODES, Mode
from claw_acp.core.value import replace
from claw_acp.session.active_work import ActiveWork
from claw_acp.session.history import History
from claw_acp.session.record import SessionRecord
from claw_acp.session.setup import Instructions
from claw_acp.session.subscribers import Subscribers

if TYPE_CHECKING:
    from claw_acp.session.stores import EventBus, JournalStore

log = logging.getLogger(__name__)

QUEUE_LIMIT = 16  # prompts waiting behind the running one; one more is refused
CLEANUP_TIMEOUT = (
    2.0  # seconds for all that is left to do once a turn is over; journals are slow, subscribers may not read
)

_E = TypeVar("_E", bound=Event)
_R = TypeVar("_R")


class Session:
    """One conversation while it is open in this process.

    Args:
        record: Its facts.
        journal: The journal it is stored in.
        clock: The time.
        roots: Resolved directories it works in; the first is its `cwd`.
        tasks: The task group that follows its background programs; None: they are not followed.
        lock: Excludes other processes while the journal is written between turns.
        bus: Carries its events; None: to subscribers in this process.
    """

    def __init__(
        self,
        record: SessionRecord,
        *,
        journal: "JournalStore",
        clock: Clock,
        roots: Sequence[Path],
        tasks: TaskGroup | None = None,
        lock: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
        bus: "EventBus | None" = None,
    ) -> None:
        self.record = record
        self.roots = tuple(roots)
        self.history = History()
        self.tool_state = ToolState()
        self.work = ActiveWork(self.broadcast, keep_ends=self._keep_ends_between_turns, tasks=tasks)
        self.subscribers: EventBus = Subscribers() if bus is None else bus
        self.state: TurnState = "idle"
        """The last published turn state."""
        self.sandbox = ""
        """The sandbox of its commands, as `SessionChanged` names it; empty: that is not known yet."""
        self._journal = journal
        self._clock = clock
        self._lock = lock
        self._seq = 0
        self._doubtful = False
        self._reading = anyio.Lock()
        self._turn = anyio.Lock()
        self._waiting: list[anyio.CancelScope] = []
        self._over_by: float | None = None

    @property
    def id(self) -> str:
        """The session's id."""
        return self.record.id

    @property
    def mode(self) -> Mode:
        """The mode in force; `ask` if this version does not know the stored one."""
        known: dict[str, Mode] = {mode: mode for mode in MODES}
        return known.get(self.record.mode, "ask")

    @property
    def busy(self) -> bool:
        """True if a turn is running or waiting."""
        return bool(self._waiting)

    # ------------------------------------------------------------------ events

    async def catch_up(self) -> None:
        """Read the changes other processes made: its facts, and events not seen here yet.

        After a failed write everything is read again: what was not committed did not happen, and its numbers are free.

        Raises:
            SessionNotFound: It was deleted.
            StoreError: The store still cannot be written.
        """
        async with self._reading:
            fresh = await self._journal.get(self.id)
            if self._doubtful:
                await self._journal.flush()  # what waits for its second try has numbers already
                self.history, self._seq, self._doubtful = History(), 0, False
            for event in await self._journal.read(self.id, after=self._seq):
                self._take(event)
        old, self.record = self.record, fresh
        news = SessionChanged(
            title=None if fresh.title == old.title else fresh.title,
            mode=None if fresh.mode == old.mode else fresh.mode,
            model=None if fresh.model == old.model else fresh.model,
            options={key: value for key, value in fresh.options.items() if old.options.get(key) != value} or None,
        )
        if news != SessionChanged():
            await self.broadcast(news)

    async def read(self) -> list[Event]:
        """Read the session's whole journal and take over events not seen here yet."""
        async with self._reading:
            events = await self._journal.read(self.id)
            for event in events:
                self._take(event)
        return events

    async def conversation(self) -> Sequence[Event]:
        """The events to replay: the journal without undone turns."""
        return self.history.turns.without_undone(await self.read())

    async def publish(self, event: _E, *, committed: bool = True) -> _E:
        """Number, store, fold and show an event. Returns it with its number.

        What must survive a crash is committed first (prompts, tool calls and their results, the end of a turn);
        streamed pieces are committed within half a second.

        Args:
            event: What happened.
            committed: False: do not wait for the commit; it comes before that of any later event.

        Raises:
            StoreError: It was not committed. The state in memory is read again before the next turn.
        """
        self._note(event)
        stamped = self._numbered(event)
        try:
            await self._journal.append(self.id, stamped, wait=committed and _must_be_kept(stamped))
        except StoreError:
            self._doubtful = True
            raise
        except anyio.get_cancelled_exc_class():
            # The journal has taken it already. Kept and never shown, a client would wait for its end for ever.
            with self.cleanup_scope():
                await self.subscribers.broadcast(stamped)
            raise
        await self.subscribers.broadcast(stamped)
        await anyio.lowlevel.checkpoint_if_cancelled()  # a turn must not get by without ever being cancellable
        return stamped

    def _numbered(self, event: _E) -> _E:
        """The event with its place in the journal, already folded into history."""
        self._seq += 1
        stamped = replace(event, session=self.id, seq=self._seq)
        self.history.apply(stamped)
        return stamped

    async def _keep_ends_between_turns(self) -> None:
        """Journal how background programs ended, once no turn runs."""
        async with self._turn:
            await self._keep_ends()

    async def _keep_ends(self) -> None:
        """The same, when no turn runs. What cannot be stored now waits for the next turn."""
        if not self.work.ends:
            return
        try:
            async with self._lock():
                await self.catch_up()
                await self._write_ends()
        except ClawError as error:
            log.warning("the end of a program is not kept yet", extra={"session": self.id, "reason": error.message})

    async def _write_ends(self) -> None:
        """Journal them under the lock. Subscribers have seen them already."""
        while self.work.ends:
            try:
                await self._journal.append(self.id, self._numbered(self.work.ends.popleft()), wait=True)
            except StoreError:
                self._doubtful = True
                raise

    async def broadcast(self, event: Event) -> None:
        """Show the subscribers an event that is not worth storing (progress of a running call).

        It has no place in the journal: its `seq` is 0.
        """
        self._note(event)
        await self.subscribers.broadcast(replace(event, session=self.id, seq=0))

    async def change(
        self,
        *,
        title: str | None = None,
        mode: str | None = None,
        model: str | None = None,
        options: Mapping[str, str | bool] | None = None,
    ) -> None:
        """Change facts about the session, store them, and notify the subscribers; None leaves a field as it is.

        A title given by `rename` stays. `options` are merged into the others.
        """
        now = self._clock.now()
        await self._journal.update(self.id, updated_at=now, title=title, mode=mode, model=model, options=options)
        record = self.record
        if record.title_given:
            title = None
        self.record = replace(
            record,
            updated_at=now,
            title=title or record.title,
            mode=mode or record.mode,
            model=model or record.model,
            options={**record.options, **(options or {})},
        )
        news = SessionChanged(title=title, mode=mode, model=model, options=options)
        if news != SessionChanged():
            await self.broadcast(news)

    async def rename(self, title: str) -> None:
        """Give the session a title that stays until the next `rename`, and notify the subscribers."""
        await self._journal.rename(self.id, title)
        self.record = replace(self.record, title=title, title_given=True)
        await self.broadcast(SessionChanged(title=title))

    async def tell_sandbox(self, name: str) -> None:
        """Notify the subscribers of the sandbox of its commands, unless they know."""
        if name != self.sandbox:
            self.sandbox = name
            await self.broadcast(SessionChanged(sandbox=name))

    def touch(self) -> None:
        """Note that the session is in use; lists show the last used first."""
        self._journal.touch(self.id)

    async def instruct(self, instructions: Instructions) -> None:
        """Use other client instructions from the next turn on."""
        if instructions != self.record.instructions:
            await self._journal.update(self.id, instructions=instructions, updated_at=self.record.updated_at)
            self.record = replace(self.record, instructions=instructions)

    async def move(self, roots: Sequence[Path], *, additional: Sequence[str]) -> None:
        """Use other roots and additional directories from now on."""
        self.roots = tuple(roots)
        if tuple(additional) != self.record.additional_directories:
            await self._journal.update(self.id, additional_directories=additional)
            self.record = replace(self.record, additional_directories=tuple(additional))

    def _note(self, event: Event) -> None:
        if isinstance(event, StateChanged):
            self.state = event.state

    def _take(self, event: Event) -> None:
        if event.seq > self._seq:
            self.history.apply(event)
            self._seq = event.seq

    # ------------------------------------------------------------------ turns

    def queue_turn(self) -> anyio.CancelScope:
        """Return a place behind the running and waiting turns, for `in_turn`; cancelling it gives the turn up.

        Raises:
            SessionBusy: Too many prompts are waiting.
        """
        if len(self._waiting) > QUEUE_LIMIT:
            raise SessionBusy(f"{QUEUE_LIMIT} prompts already wait in this session; let some finish or cancel them")
        self._waiting.append(place := anyio.CancelScope())
        return place

    async def in_turn(
        self, place: anyio.CancelScope, work: Callable[[], Awaitable[_R]], *, lock: AbstractAsyncContextManager[None]
    ) -> _R | None:
        """Wait for the turn at `place`, then run `work`. None when cancelled, before the work began or during it.

        Args:
            place: From `queue_turn`.
            work: Runs after the journal was read to its end.
            lock: Excludes other processes while the turn runs.

        Raises:
            SessionBusy: Another process runs a turn.
        """
        with place:
            try:
                async with self._turn:
                    self._over_by = None
                    async with lock:
                        await self.catch_up()
                        await self._write_ends()
                        return await work()
            finally:
                self._waiting.remove(place)
        return None

    def cancel(self) -> None:
        """Cancel the running turn and all that wait behind it, if any."""
        if self._waiting:
            self._time_left()
        for scope in self._waiting:
            scope.cancel()

    async def stop(self) -> None:
        """Cancel the work and wait for its end; the session stays open, and its background programs run on."""
        self.cancel()
        async with self._turn:
            pass

    def cleanup_scope(self) -> anyio.CancelScope:
        """The scope for the clean-up of an interrupted turn: shielded, `CLEANUP_TIMEOUT` seconds altogether.

        After that, published events are still stored and shown, but not waited for.
        """
        return anyio.CancelScope(deadline=self._time_left(), shield=True)

    def reset_cleanup(self) -> None:
        """Restart the time for clean-up: only a part of the turn was cancelled, and its end may need clean-up, too."""
        self._over_by = None

    def _time_left(self) -> float:
        if self._over_by is None:
            self._over_by = anyio.current_time() + CLEANUP_TIMEOUT
        return self._over_by

    async def aclose(self) -> None:
        """Cancel the work and release what the tools kept."""
        self.cancel()
        async with self._turn:
            for value in self.tool_state.items.values():
                close = getattr(value, "aclose", None)
                if close is not None:
                    await close()
            self.tool_state.items.clear()
            await self.work.aclose(within=CLEANUP_TIMEOUT)
            with anyio.move_on_after(CLEANUP_TIMEOUT):
                await self._keep_ends()


def _must_be_kept(event: Event) -> bool:
    """Return whether the turn waits for the commit: "acknowledged" means that this commit returned."""
    match event:
        case MessageStarted(role=role):
            return role == "user"
        case ToolCallChanged(status=status):
            return status == "in_progress" or status in FINAL
        case StateChanged(state=state):
            return state == "idle"
        case TurnRewound() | CompactionChanged() | FilesChanged() | FilesRestored() | AttemptsChanged():
            return True
        case TextDelta() | ThoughtDelta() | _:
            return False
