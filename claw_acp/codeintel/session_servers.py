"""The language servers of one session: started on demand, ended with it."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import anyio
from anyio.abc import TaskGroup

from claw_acp.codeintel.language_server import POLITE_SECONDS, TERMINATE_SECONDS, LanguageServer
from claw_acp.codeintel.server_table import FoundServer
from claw_acp.contracts.tool import ToolState

MOST_FAILURES: Final = 2
"""Failures of a server after which the session does without it."""

CLOSE_SECONDS: Final = POLITE_SECONDS + TERMINATE_SECONDS + 1.0
"""Seconds to end all servers."""

_KEY: Final = "codeintel.servers"


class SessionServers:
    """The servers of one session, one of each kind in each root. Kept on its state, which closes them.

    Attributes:
        refused: Names of servers and checks that a person did not allow.
    """

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._servers: dict[tuple[str, Path], LanguageServer] = {}
        self._failures: dict[str, int] = {}
        self.refused: set[str] = set()

    @classmethod
    def on(cls, state: ToolState, *, tasks: TaskGroup) -> "SessionServers":
        """The servers of the session that owns the state."""
        servers = state.get(_KEY, partial(cls, tasks))
        assert isinstance(servers, cls)
        return servers

    def is_running(self, name: str, *, root: Path) -> bool:
        """Return whether a server has been started and not ended."""
        server = self._servers.get((name, root))
        return server is not None and not server.ended.is_set()

    def is_usable(self, name: str) -> bool:
        """Return whether a server may be tried: nobody refused it, and it has not failed too often."""
        return name not in self.refused and self._failures.get(name, 0) < MOST_FAILURES

    def get(self, found: FoundServer, *, root: Path, roots: Sequence[Path]) -> LanguageServer:
        """The server for a root, started if it does not run."""
        key = found.kind.name, root
        if not self.is_running(found.kind.name, root=root):
            self._servers[key] = LanguageServer(found, root=root, roots=roots)
            self._tasks.start_soon(self._servers[key].run, name=f"language server {found.kind.name}")
        return self._servers[key]

    async def fail(self, server: LanguageServer) -> bool:
        """End a server that failed; returns whether that was its first failure."""
        self._failures[server.name] = self._failures.get(server.name, 0) + 1
        with anyio.move_on_after(CLOSE_SECONDS):
            await server.stop()
        return self._failures[server.name] == 1

    async def aclose(self) -> None:
        """End all of them, within `CLOSE_SECONDS`."""
        servers, self._servers = list(self._servers.values()), {}
        with anyio.move_on_after(CLOSE_SECONDS, shield=True):
            async with anyio.create_task_group() as closing:
                for server in servers:
                    closing.start_soon(server.stop)
