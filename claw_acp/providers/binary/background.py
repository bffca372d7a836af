"""Tasks beside requests, for providers that are made by programs which have no task group for them."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from claw_acp.contracts.provider_setup import BackgroundTasks


class EventLoopTasks:
    """Tasks of the event loop itself, which cancels them when it ends."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()  # the loop alone would let them be collected

    def start_soon(self, work: Callable[[], Coroutine[Any, Any, None]], /) -> None:
        """Run `work` in a task of its own."""
        task = asyncio.get_running_loop().create_task(work())  # anyio has no task without a parent
        self._running.add(task)
        task.add_done_callback(self._running.discard)


if TYPE_CHECKING:
    _conforms: type[BackgroundTasks] = EventLoopTasks
