"""Subscribers to a session's events, and back-pressure when they read slowly."""

from collections.abc import Awaitable, Callable
from typing import Protocol

import anyio

from claw_acp.core.events import Event


class Subscriber(Protocol):
    """A subscriber to one session, with its own queue of events it has not read yet."""

    async def on_event(self, event: Event) -> None:
        """Queue an event. This never waits for the reader."""
        ...

    @property
    def behind(self) -> bool:
        """True if the queue is full: senders should wait for `caught_up`."""
        ...

    @property
    def lost(self) -> bool:
        """True if the queue is so far beyond full that it must not grow."""
        ...

    async def caught_up(self) -> None:
        """Wait until the queue has room again, or the reader is gone."""
        ...

    def drop(self) -> None:
        """Disconnect the reader."""
        ...

    def on_closed(self) -> None:
        """Note that the session has been closed, here or by another client."""
        ...


class Subscribers(list[Subscriber]):
    """All subscribers to one session.

    Attributes:
        observers: Get every event at once, and must be quick; they are no readers that keep the session open.
    """

    def __init__(self) -> None:
        super().__init__()
        self.observers: tuple[Callable[[Event], None], ...] = ()
        self._changed = anyio.Event()

    def append(self, subscriber: Subscriber) -> None:
        """Add a subscriber."""
        super().append(subscriber)
        self._tell()

    def remove(self, subscriber: Subscriber) -> None:
        """Remove a subscriber."""
        super().remove(subscriber)
        self._tell()

    async def changed(self) -> None:
        """Wait until one was added or removed."""
        await self._changed.wait()

    async def broadcast(self, event: Event) -> None:
        """Show an event to all, and wait while they are behind."""
        for observer in self.observers:
            observer(event)
        late = False
        for subscriber in tuple(self):
            await subscriber.on_event(event)
            late = subscriber.behind or late
        if late:
            await self._keep_pace()

    async def _keep_pace(self) -> None:
        """Wait while all readers are behind: the work goes at the pace of the quickest one.

        A single reader is waited for, as long as it takes. Among several, a slow one is not: its queue grows up to a
        bound, and a reader that reaches it is dropped.
        """
        while self and all(subscriber.behind for subscriber in self):
            await self._somebody_keeps_up()
        for subscriber in tuple(self):
            if subscriber.lost:
                subscriber.drop()

    async def _somebody_keeps_up(self) -> None:
        """Wait until a reader has caught up, or the subscribers have changed."""

        async def wait_for(news: Callable[[], Awaitable[object]]) -> None:
            await news()
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait_for, self.changed)
            for subscriber in self:
                tasks.start_soon(wait_for, subscriber.caught_up)

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
