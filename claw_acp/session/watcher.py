"""Those who see a session's events as they come, and the pace at which a session goes when they read slowly."""

from collections.abc import Sequence
from typing import Protocol

import anyio

from claw_acp.core.events import Event


class Watcher(Protocol):
    """Somebody who watches one session, with a queue of their own for what they have not read yet."""

    async def on_event(self, event: Event) -> None:
        """Show an event. This never waits for whoever reads."""
        ...

    @property
    def behind(self) -> bool:
        """Whether the queue is full: whoever goes on showing things should wait for `caught_up`."""
        ...

    @property
    def lost(self) -> bool:
        """Whether the queue is so much more than full that it must not grow."""
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


async def keep_pace(watchers: Sequence[Watcher]) -> None:
    """Wait while everybody is behind: the work goes at the pace of the quickest reader.

    A single one is waited for, as long as it takes. Where others keep up, nobody waits for one who does not: what that
    one has not read yet is kept up to a bound, and whoever reaches it is dropped.
    """
    while watchers and all(watcher.behind for watcher in watchers):
        await _first_to_catch_up(tuple(watchers))
    for watcher in tuple(watchers):
        if watcher.lost:
            watcher.drop()


async def _first_to_catch_up(watchers: Sequence[Watcher]) -> None:
    if len(watchers) == 1:
        await watchers[0].caught_up()
        return

    async def wait_for(watcher: Watcher) -> None:
        await watcher.caught_up()
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        for watcher in watchers:
            tasks.start_soon(wait_for, watcher)
