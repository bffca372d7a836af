"""The engines of a hub: one for each environment, so that the keys of one editor never serve another."""

from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Final

import anyio
from anyio.abc import TaskGroup

from claw_acp.core.environment import environment_identity, working_in
from claw_acp.core.errors import ServerBusy
from claw_acp.core.value import Record
from claw_acp.runtime.build import open_engine
from claw_acp.runtime.engine import Engine
from claw_acp.runtime.engine_host import EngineHost

MOST: Final = 32  # engines beside the first; those that nobody uses go first


class _Entry(Record):
    host: EngineHost
    scope: anyio.CancelScope
    users: int = 0


class Engines:
    """Finds the engine for an environment, and starts it where there is none.

    One that nobody uses lives on as long as a session that was opened with it: its programs belong to that session.

    Args:
        first: The engine of the hub's own environment, which owns the sessions.
        environ: That environment.
        tasks: Runs the others.
    """

    def __init__(self, first: EngineHost, environ: Mapping[str, str], *, tasks: TaskGroup) -> None:
        self._first = first
        self._tasks = tasks
        self._own = environment_identity(environ)
        self._others: dict[frozenset[tuple[str, str]], _Entry] = {}

    @property
    def first(self) -> EngineHost:
        """The engine of the hub's own environment."""
        return self._first

    @contextmanager
    def used(self, environ: Mapping[str, str]) -> Generator[EngineHost]:
        """The engine for `environ`, which lives at least as long as the block.

        Raises:
            ServerBusy: There are too many.
        """
        identity = environment_identity(environ)
        if identity == self._own:
            yield self._first
            return
        entry = self._others.get(identity)
        if entry is None:
            entry = self._others[identity] = self._started(environ)
        entry.users += 1
        try:
            yield entry.host
        finally:
            entry.users -= 1

    def _started(self, environ: Mapping[str, str]) -> _Entry:
        if len(self._others) >= MOST:
            self._end_unused()
        if len(self._others) >= MOST:
            raise ServerBusy(f"editors with {MOST} different environments are connected; close some")
        host = EngineHost(partial(_beside, self._first, dict(environ)))
        entry = _Entry(host=host, scope=anyio.CancelScope())
        self._tasks.start_soon(_keep, entry, name="engine")
        return entry

    def _end_unused(self) -> None:
        for identity, entry in tuple(self._others.items()):
            if not (entry.users or entry.host.has_sessions):
                entry.scope.cancel()
                del self._others[identity]


async def _keep(entry: _Entry) -> None:
    with entry.scope:
        await entry.host.keep()


@asynccontextmanager
async def _beside(first: EngineHost, environ: Mapping[str, str]) -> AsyncGenerator[Engine]:
    with working_in(environ):
        async with open_engine(environ=environ, beside=await first.engine()) as engine:
            yield engine
