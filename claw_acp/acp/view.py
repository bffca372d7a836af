"""A session as one client sees it: its events become `session/update` notifications, in the words of its protocol."""

import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio

from claw_acp.acp.handshake import ClientCapabilities
from claw_acp.core.events import Event, Notice, StateChanged, TerminalChanged, ToolCallChanged
from claw_acp.core.json_value import JsonObject
from claw_acp.rpc.peer import Peer
from claw_acp.runtime.live_session import LiveSession

log = logging.getLogger(__name__)

ANSWER_TIMEOUT = 3600.0  # seconds for an answer of a person: they go to lunch, but a turn must not wait for ever
HELD = 4096  # events that wait for the end of a replay before the session should wait, too
TOO_MANY = 4 * HELD  # held events at which a view is given up, if others watch the session and keep up


class SessionView(ABC):
    """Watches one session for one client. A protocol says how events look: `show`, `show_past`, `announce`.

    What the client has not read yet waits in the connection's queue, whose size and end are the peer's.

    Attributes:
        when_closed: Called when the session has been closed, by whomever.
        openings: Requests being handled that open it.
        known: Whether one was answered, so that the client takes it for open.
    """

    def __init__(self, peer: Peer, live: LiveSession, client: ClientCapabilities) -> None:
        self.live = live
        self.client = client
        self.can_ask = True
        self.peer = peer
        self.when_closed: Callable[[], object] | None = None
        self.openings = 0
        self.known = False
        self._watching = True
        self._held: list[Event] | None = None
        self._holders = 0
        self._released = anyio.Event()
        self._replaying = anyio.Lock()
        self._seen = 0  # events up to here were shown by a replay
        live.session.subscribers.append(self)

    @abstractmethod
    async def show(self, event: Event) -> None:
        """Show a live event."""

    @abstractmethod
    async def show_past(self, events: Sequence[Event]) -> None:
        """Show a whole conversation again, as it was left."""

    @abstractmethod
    async def announce(self, more: Sequence[str] = ()) -> None:
        """Send a client that knows that the session is open the commands, and notices (ours and `more`)."""

    @asynccontextmanager
    async def asking(self) -> AsyncGenerator[None]:
        """A question to the person is about to be sent, and has an answer in the end."""
        yield

    def detach(self) -> None:
        """Stop watching. From now on the client hears nothing of the session."""
        if self._watching:
            self._watching = False
            self.live.session.subscribers.remove(self)

    async def update(self, update: JsonObject | None) -> None:
        """Send one `session/update`; None is nothing to send. A replay goes as fast as the client reads."""
        if update is not None and self._watching:
            params: JsonObject = {"sessionId": self.live.session.id, "update": update}
            self.peer.notify_nowait("session/update", params)
            if self._held is not None and self.peer.slow:
                await self.peer.drained()

    # ------------------------------------------------------------------ past and present

    async def replay(self) -> None:
        """Show the whole conversation again, then what happened meanwhile."""
        async with self.holding(), self._replaying:
            session = self.live.session
            ends = tuple(session.work.ends)  # of programs, which the journal does not have yet
            events = await session.read()
            await self.show_past(session.history.turns.without_undone([*events, *ends]))
            self._seen = events[-1].seq if events else 0

    async def show_running(self) -> None:
        """Show the tool calls of a turn that runs, to a client that has just joined and hears of what comes next."""
        events = await self.live.session.read()
        unfinished = set(self.live.session.history.unfinished_calls)
        for event in events:
            if isinstance(event, ToolCallChanged) and event.item in unfinished:
                await self.show(event)
        self._seen = events[-1].seq if events else 0

    @asynccontextmanager
    async def holding(self) -> AsyncGenerator[None]:
        """Live events wait until the block ends (or the last of several does): what is past comes first."""
        self._holders += 1
        if self._held is None:
            self._held, self._released = [], anyio.Event()
        try:
            yield
        finally:
            self._holders -= 1
            if not self._holders:
                await self._release()

    async def shown(self) -> None:
        """Wait until the client has been told all that happened so far; what refers to it may then be sent."""
        while self._held is not None:
            await self._released.wait()

    async def _release(self) -> None:
        held, self._held = self._held or [], None
        for event in held:
            passing = event.seq == 0 and (not event.item or isinstance(event, TerminalChanged | Notice))
            if passing or self._is_news(event):
                await self.show(event)
        self._released.set()

    # ------------------------------------------------------------------ see `Subscriber`

    async def on_event(self, event: Event) -> None:
        """Show one live event, once a replay that goes on is through."""
        if self._held is not None:
            self._held.append(event)
        elif event.seq == 0 or self._is_news(event):
            await self.show(event)

    def _is_news(self, event: Event) -> bool:
        """Return whether no replay has shown the event already. Replays leave out how turns began and ended."""
        return event.seq > self._seen or isinstance(event, StateChanged)

    @property
    def behind(self) -> bool:
        """True if the session should wait: much is unread, or held back for a replay."""
        return self.peer.slow or (self._held is not None and len(self._held) >= HELD)

    @property
    def lost(self) -> bool:
        """True if nothing more must be kept for the client."""
        return self.peer.overloaded or (self._held is not None and len(self._held) >= TOO_MANY)

    async def caught_up(self) -> None:
        """Wait until the client has read most of what is kept for it, or is gone."""
        if self._held is not None and len(self._held) >= HELD:
            await self._released.wait()
        await self.peer.drained()

    def drop(self) -> None:
        """The client reads too slowly: it may connect again and load the session."""
        log.warning("a client reads too slowly and is disconnected", extra={"session": self.live.session.id})
        self.detach()
        self.peer.hang_up()

    def on_closed(self) -> None:
        """The session is closed; there will be no more events."""
        if self.when_closed is not None:
            self.when_closed()
