"""The proxy of an engine: opens an entrance for each command that may reach the network by rules."""

import os
import resource
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio

from claw_acp.net.proxy.entrance import Entrance
from claw_acp.net.proxy.gate import Gate
from claw_acp.net.proxy.limits import Limits
from claw_acp.net.proxy.outward import Resolve, Resolver
from claw_acp.net.proxy.verdict import Decide, NetworkRecord, Record

LIMITS: Final = Limits()
MOST_PLACES: Final = 1024


class NetworkProxy:
    """Costs nothing before its first entrance.

    Args:
        resolve: Looks up names.
        limits: Limits of each command.
    """

    def __init__(self, *, resolve: Resolve | None = None, limits: Limits = LIMITS) -> None:
        self._resolve = resolve or Resolver()
        self._limits = limits
        self._places = anyio.Semaphore(_places())

    @asynccontextmanager
    async def entrance(self, decide: Decide, *, record: Record | None = None) -> AsyncGenerator[Entrance]:
        """The entrance of one command, for as long as the command lives.

        Args:
            decide: Decides about each destination, once.
            record: Keeps a line for each connection and refusal; where it fails, no connection is made.
        """
        gate = Gate(decide, record or _unrecorded, resolve=self._resolve, limits=self._limits)
        directory = Path(tempfile.mkdtemp(prefix="claw-acp-", dir=_hidden()))
        entrance = Entrance(directory / "proxy", gate, limits=self._limits, places=self._places)
        async with entrance.serving():
            yield entrance


async def _unrecorded(record: NetworkRecord) -> None:
    """Keep nothing; the log has it."""


def _hidden() -> str | None:
    """The directory for sockets: one that no sandbox shows, so that no command can use the entrance of another."""
    return "/tmp" if os.path.isdir("/tmp") else None  # noqa: PTH112, S108 - whatever TMPDIR says


def _places() -> int:
    """The number of connections at once: each takes two descriptors, and a third of them are left to all the rest."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_PLACES if soft == resource.RLIM_INFINITY else min(MOST_PLACES, max(soft // 3, 1))
