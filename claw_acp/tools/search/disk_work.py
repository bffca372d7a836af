"""Disk walks in a worker thread, which end when the call is cancelled or takes too long."""

from collections.abc import Callable
from typing import TypeVar

import anyio.from_thread
import anyio.to_thread

from claw_acp.core.clock import Clock
from claw_acp.tools.search.walk import Pulse, WalkStopped

WALK_LIMIT = 15.0  # seconds; a walk that takes longer is on a slow disk or in the wrong place

T = TypeVar("T")


async def on_disk(work: Callable[[Pulse], T], *, clock: Clock) -> T:
    """Run `work` in a thread. Its pulse raises `WalkStopped` after 15 seconds, and at cancellation."""
    end = clock.monotonic() + WALK_LIMIT

    def pulse() -> None:
        anyio.from_thread.check_cancelled()
        if clock.monotonic() > end:
            raise WalkStopped

    return await anyio.to_thread.run_sync(work, pulse)
