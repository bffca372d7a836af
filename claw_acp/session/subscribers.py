"""Subscribers to a session's events, and the pace at which a session goes when they read slowly."""

from collections.abc import Awaitable, Callable
from typing import Protocol

import anyio

from claw_acp.core.events import Event


class Subscriber(Protocol):
    """A subscriber to one session, with a queue of its own for what it has not read yet."""

    async def on_event(self, event: Event) -> None:
        """Show an event. This never waits for whoever reads."""
        ...

    @property
    def behind(self) -> bool:
        """True if the queue is full: a sender that goes on showing things should wait for `caught_up`."""
        ...

    @property
    def lost(self) -> bool:
        """True if the queue is so much more than full that it must not grow."""
        ...

    async def caught_up(self) -> None:
        """Wait until the queue has room again, or nobody reads any more."""
        ...

    def drop(self) -> None:
        """Give the reader up."""
        ...

    def on_closed(self) -> None:
        """The session has been closed, by whomever."""
        ...


class Subscribers(list[Subscriber]):
    """All subscribers to one session."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = anyio.Event()

    def append(self, subscriber: Subscriber) -> None:
        """One more."""
        super().append(subscriber)
        self._tell()

    def remove(self, subscriber: Subscriber) -> None:
        """One less."""
        super().remove(subscriber)
        self._tell()

    async def broadcast(self, event: Event) -> None:
        """Show an event to all, and keep their pace."""
        late = False
        for subscriber in tuple(self):
            await subscriber.on_event(event)
            late = subscriber.behind or late
        if late:
            await self._keep_pace()

    async def _keep_pace(self) -> None:
        """Wait while everybody is behind: the work goes at the pace of the quickest reader.

        A single one is waited for, as long as it takes. Where others keep up, nobody waits for one who does not: what
        that one has not read yet is kept up to a bound, and whoever reaches it is dropped.
        """
        while self and all(subscriber.behind for subscriber in self):
            await self._somebody_keeps_up()
        for subscriber in tuple(self):
            if subscriber.lost:
                subscriber.drop()

    async def _somebody_keeps_up(self) -> None:
        """Wait until one of them has caught up, or others are there."""

        async def wait_for(news: Callable[[], Awaitable[object]]) -> None:
            await news()
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait_for, self._changed.wait)
            for subscriber in self:
                tasks.start_soon(wait_for, subscriber.caught_up)

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
