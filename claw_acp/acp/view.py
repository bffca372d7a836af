"""A session as one client sees it: its events become `session/update` notifications, in the words of its protocol."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import anyio

from claw_acp.acp.handshake import ClientCapabilities
from claw_acp.core.events import Event, TerminalChanged
from claw_acp.core.json_value import JsonObject
from claw_acp.rpc.peer import Peer
from claw_acp.runtime.engine import OpenSession

PATIENCE = 3600.0  # seconds for an answer of a person: they go to lunch, but a turn must not wait for ever


class SessionView(ABC):
    """Watches one session for one client. A protocol says how events look: `show`, `show_past`, `announce`."""

    def __init__(self, peer: Peer, opened: OpenSession, client: ClientCapabilities) -> None:
        self.opened = opened
        self.client = client
        self.can_ask = True
        self.peer = peer
        self._watching = True
        self._held: list[Event] | None = None
        self._replaying = anyio.Lock()
        opened.session.watchers.append(self.on_event)

    @abstractmethod
    async def show(self, event: Event) -> None:
        """Show a live event."""

    @abstractmethod
    async def show_past(self, events: Sequence[Event]) -> None:
        """Show a whole conversation again, as it was left."""

    @abstractmethod
    async def announce(self, more: Sequence[str] = ()) -> None:
        """What a client is told once it knows that the session is open: commands, and notices (ours and `more`)."""

    @asynccontextmanager
    async def asking(self) -> AsyncGenerator[None]:
        """A question to the person is about to be sent, and has an answer in the end."""
        yield

    def detach(self) -> None:
        """Stop watching. From now on the client hears nothing of the session."""
        self._watching = False
        self.opened.session.watchers.remove(self.on_event)

    async def on_event(self, event: Event) -> None:
        """Show one live event, once a replay that goes on is through."""
        if self._held is not None:
            self._held.append(event)
        else:
            await self.show(event)

    async def update(self, update: JsonObject | None) -> None:
        """Send one `session/update`; None is nothing to send."""
        if update is not None and self._watching:
            await self.peer.notify("session/update", {"sessionId": self.opened.session.id, "update": update})

    async def replay(self) -> None:
        """Show the whole conversation again, then what happened meanwhile."""
        async with self._replaying:
            self._held = []
            try:
                events = await self.opened.session.read()
                await self.show_past(events)
                seen = events[-1].seq if events else 0
                while self._held:
                    event = self._held.pop(0)
                    if event.seq > seen or not event.item or isinstance(event, TerminalChanged):  # never in the journal
                        await self.show(event)
            finally:
                self._held = None
