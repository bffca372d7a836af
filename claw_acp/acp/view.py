"""The view of a session for one client: events become `session/update` notifications of its protocol."""

import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import ClassVar

import anyio

from claw_acp.acp.handshake import ClientCapabilities
from claw_acp.contracts.questions import Asker
from claw_acp.contracts.workspace import Workspace
from claw_acp.core.events import Event, Notice, StateChanged, SubagentChanged, TerminalChanged, ToolCallChanged
from claw_acp.core.json_value import JsonObject
from claw_acp.registry.reference import Ref
from claw_acp.rpc.peer import Peer
from claw_acp.runtime.live_session import LiveSession

log = logging.getLogger(__name__)

ANSWER_TIMEOUT = 3600.0  # seconds for an answer of a person: they go to lunch, but a turn must not wait for ever
HELD = 4096  # events that wait for the end of a replay before the session should wait, too
TOO_MANY = 4 * HELD  # held events at which a view is given up, if others watch the session and keep up


class SessionView(ABC):
    """Follows one session for one client. Each protocol implements the rendering: `show`, `show_past`, `announce`.

    Unread updates wait in the connection's queue, which belongs to the peer.

    Attributes:
        when_closed: Called when the session has been closed, by any client.
        openings: The number of requests being handled that open it.
        known: Whether one was answered, so that the client considers it open.
    """

    ASKER: "ClassVar[Ref[Callable[..., Asker]]]"
    """Makes what asks the person at this client."""
    WORKSPACE: "ClassVar[Ref[Callable[..., Workspace]] | None]" = None
    """Makes the client's files and terminals; None: it has none."""

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
        """Replay a whole conversation in its final state."""

    @abstractmethod
    async def announce(self, more: Sequence[str] = ()) -> None:
        """Send the commands and the notices (ours and `more`), once the client knows that the session is open."""

    @asynccontextmanager
    async def asking(self) -> AsyncGenerator[None]:
        """Surround a question to the person, from before it is sent until it is answered."""
        yield

    # ------------------------------------------------------------------ see `Place`

    @property
    def name(self) -> str:
        """See `Place`."""
        return self.client.name or "an editor"

    @property
    def connected(self) -> bool:
        """See `Place`."""
        return self._watching and not self.peer.closed

    @property
    def asker(self) -> Asker:
        """See `Place`."""
        return self.ASKER.load()(self)

    @property
    def workspace(self) -> Workspace:
        """See `Place`."""
        return self.live.workspace if self.WORKSPACE is None else self.WORKSPACE.load()(self)

    # ------------------------------------------------------------------ updates

    def detach(self) -> None:
        """Unsubscribe. From now on the client gets no updates of the session, and is not asked."""
        if self._watching:
            self._watching = False
            self.live.session.subscribers.remove(self)
            self.live.leave(self)
            if self.live.closed is None:
                self.live.extensions.client_left(self.peer)

    async def update(self, update: JsonObject | None) -> None:
        """Send one `session/update`; None sends nothing. A replay goes as fast as the client reads."""
        if update is not None and self._watching:
            params: JsonObject = {"sessionId": self.live.session.id, "update": update}
            self.peer.notify_nowait("session/update", params)
            if self._held is not None and self.peer.slow:
                await self.peer.drained()

    # ------------------------------------------------------------------ past and present

    async def replay(self) -> None:
        """Replay the whole conversation, then show what happened meanwhile."""
        async with self.holding(), self._replaying:
            session = self.live.session
            ends = tuple(session.work.ends)  # of programs, which the journal does not have yet
            events = await session.read()
            await self.show_past(session.history.turns.without_undone([*events, *ends]))
            self._seen = events[-1].seq if events else 0

    async def show_running(self) -> None:
        """Show the tool calls of a running turn to a client that has just joined."""
        events = await self.live.session.read()
        unfinished = set(self.live.session.history.unfinished_calls)
        for event in events:
            if isinstance(event, ToolCallChanged) and event.item in unfinished:
                await self.show(event)
        self._seen = events[-1].seq if events else 0

    @asynccontextmanager
    async def holding(self) -> AsyncGenerator[None]:
        """Hold live events until the block ends (or the last of several): past ones come first."""
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
        """Wait until all events so far have been sent to the client; what refers to them may follow."""
        while self._held is not None:
            await self._released.wait()

    async def _release(self) -> None:
        held, self._held = self._held or [], None
        for event in held:
            passing = event.seq == 0 and (
                not event.item or isinstance(event, TerminalChanged | Notice | SubagentChanged)
            )
            if passing or self._is_news(event):
                await self.show(event)
        self._released.set()

    # ------------------------------------------------------------------ see `Subscriber`

    async def on_event(self, event: Event) -> None:
        """Show one live event, after a replay in progress."""
        if self._held is not None:
            self._held.append(event)
        elif event.seq == 0 or self._is_news(event):
            await self.show(event)

    def _is_news(self, event: Event) -> bool:
        """Return whether no replay has shown the event yet. Replays leave out the starts and ends of turns."""
        return event.seq > self._seen or isinstance(event, StateChanged)

    @property
    def behind(self) -> bool:
        """True if the session should wait: much is unread, or held back for a replay."""
        return self.peer.slow or (self._held is not None and len(self._held) >= HELD)

    @property
    def lost(self) -> bool:
        """True if no more must be queued for the client."""
        return self.peer.overloaded or (self._held is not None and len(self._held) >= TOO_MANY)

    async def caught_up(self) -> None:
        """Wait until the client has read most of its queue, or is gone."""
        if self._held is not None and len(self._held) >= HELD:
            await self._released.wait()
        await self.peer.drained()

    def drop(self) -> None:
        """Disconnect a client that reads too slowly; it may connect again and load the session."""
        log.warning("a client reads too slowly and is disconnected", extra={"session": self.live.session.id})
        self.detach()
        self.peer.hang_up()

    def on_closed(self) -> None:
        """The session is closed; there will be no more events."""
        if self.when_closed is not None:
            self.when_closed()
