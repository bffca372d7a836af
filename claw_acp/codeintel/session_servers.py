"""The running language servers: one for each program, root and environment, ended with the last session to use it."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import anyio
from anyio.abc import TaskGroup

from claw_acp.codeintel.language_server import (
    POLITE_SECONDS,
    TERMINATE_SECONDS,
    Confine,
    LanguageServer,
    unconfined,
)
from claw_acp.codeintel.server_table import FoundServer
from claw_acp.contracts.tool import ToolState
from claw_acp.core.environment import current_environment, environment_identity

MOST_FAILURES: Final = 2
"""Failures of a server after which a session does without it."""

CLOSE_SECONDS: Final = POLITE_SECONDS + TERMINATE_SECONDS + 1.0
"""Seconds to end servers."""

_KEY: Final = "codeintel.servers"
_Place: TypeAlias = tuple[Path, Path, frozenset[tuple[str, str]]]


def _place(found: FoundServer, root: Path) -> _Place:
    """Where a server belongs: an editor that takes a session over may have another environment."""
    return found.program, root, environment_identity(current_environment())


class ServerPool:
    """All servers that run in this process.

    Args:
        tasks: Runs them.
    """

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._servers: dict[_Place, LanguageServer] = {}
        self._users: dict[_Place, set[SessionServers]] = {}

    def find(self, found: FoundServer, *, root: Path) -> LanguageServer | None:
        """The server, if it runs."""
        server = self._servers.get(_place(found, root))
        return None if server is None or server.is_over else server

    def start(
        self, found: FoundServer, *, root: Path, roots: Sequence[Path], user: "SessionServers", confine: Confine
    ) -> LanguageServer:
        """The server, started in a sandbox if it does not run; it runs as long as it has a user.

        One that has failed before it was used is returned once more, so that its user learns why.
        """
        place = _place(found, root)
        self._users.setdefault(place, set()).add(user)
        server = self._servers.get(place)
        if server is None or (server.is_over and server.was_used):
            server = self._servers[place] = LanguageServer(found, root=root, roots=roots, confine=confine)
            self._tasks.start_soon(server.run, name=f"language server {server.name}")
        return server

    async def leave(self, user: "SessionServers") -> None:
        """End the servers that no other session uses, within `CLOSE_SECONDS`."""
        alone = [place for place, users in self._users.items() if users == {user}]
        for users in self._users.values():
            users.discard(user)
        with anyio.move_on_after(CLOSE_SECONDS, shield=True):
            async with anyio.create_task_group() as closing:
                for place in alone:
                    del self._users[place]
                    closing.start_soon(self._servers.pop(place).stop)


class SessionServers:
    """The servers that one session uses. Kept on its state, which closes them.

    Attributes:
        refused: Names of servers and checks that a person did not allow.

    Args:
        pool: All servers.
        confine: Returns the sandbox of a server.
    """

    def __init__(self, pool: ServerPool, *, confine: Confine = unconfined) -> None:
        self._pool = pool
        self._confine = confine
        self._failures: dict[str, int] = {}
        self._allowed: set[_Place] = set()
        self.refused: set[str] = set()

    @classmethod
    def on(cls, state: ToolState, *, pool: ServerPool, confine: Confine = unconfined) -> "SessionServers":
        """The servers of the session that owns the state."""
        servers = state.get(_KEY, partial(cls, pool, confine=confine))
        assert isinstance(servers, cls)
        return servers

    def is_in_use(self, found: FoundServer, *, root: Path) -> bool:
        """Return whether a server runs that this session has started, or was allowed to."""
        return _place(found, root) in self._allowed and self._pool.find(found, root=root) is not None

    def is_usable(self, name: str) -> bool:
        """Return whether a server may be tried: nobody refused it, and it has not failed too often."""
        return name not in self.refused and self._failures.get(name, 0) < MOST_FAILURES

    def start(self, found: FoundServer, *, root: Path, roots: Sequence[Path]) -> LanguageServer:
        """The server for a root, started if it does not run."""
        self._allowed.add(_place(found, root))
        return self._pool.start(found, root=root, roots=roots, user=self, confine=self._confine)

    @asynccontextmanager
    async def exclusive(
        self, found: FoundServer, *, root: Path, roots: Sequence[Path]
    ) -> AsyncGenerator[LanguageServer]:
        """A running server for the block, in which no other session shows it texts of its own."""
        while True:
            server = self.start(found, root=root, roots=roots)
            async with server.lock:
                if not (server.is_over and server.was_used):  # else it failed while we waited, and there it was told
                    yield server
                    return

    async def fail(self, server: LanguageServer) -> bool:
        """End a server that failed; returns whether that was its first failure."""
        self._failures[server.name] = self._failures.get(server.name, 0) + 1
        with anyio.move_on_after(CLOSE_SECONDS):
            await server.stop()
        return self._failures[server.name] == 1

    async def aclose(self) -> None:
        """End those that no other session uses."""
        await self._pool.leave(self)
