"""The ACP connections of all clients, over either transport."""

import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeAlias

import anyio
from anyio.abc import TaskGroup

from claw_acp.acp.connection import Connection
from claw_acp.core.ids import new_id
from claw_acp.gateway.access.client import Client
from claw_acp.gateway.acp.close_code import FAILED, OVER, SHUTDOWN, TOKEN_ENDED, RemoteTransport
from claw_acp.gateway.http.http_error import HttpError
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.http.receive_budget import BUSY

log = logging.getLogger(__name__)

CLOSING = 1.0  # seconds for all connections together to let go of their sessions

Connect: TypeAlias = Callable[[RemoteTransport, str], Connection]
"""Makes the agent's side of a connection; the text is its id."""

Beside: TypeAlias = Callable[[], Coroutine[object, object, None]]


class Connections:
    """Registry of connections; runs the agent's side of each. Created by `running`."""

    def __init__(self, connect: Connect, *, limits: Limits, tasks: TaskGroup) -> None:
        self._connect = connect
        self._limits = limits
        self._tasks = tasks
        self._live: dict[str, RemoteTransport] = {}
        self._none = anyio.Event()
        self._closing = False

    @classmethod
    @asynccontextmanager
    async def running(cls, connect: Connect, *, limits: Limits) -> AsyncGenerator["Connections"]:
        """A registry for the duration of the block; leaving it closes all connections, within bounds."""
        async with anyio.create_task_group() as tasks:
            connections = cls(connect, limits=limits, tasks=tasks)
            try:
                yield connections
            finally:
                with anyio.move_on_after(CLOSING, shield=True):
                    await connections.aclose()
                tasks.cancel_scope.cancel()

    @property
    def count(self) -> int:
        """The number of open connections."""
        return len(self._live)

    def add(self, transport: RemoteTransport) -> str:
        """Register a new connection that is not running yet; returns its id.

        Raises:
            Refused: 503, there are too many, or the server is about to end.
        """
        if self._closing:
            raise HttpError(503, "the server is shutting down")
        if len(self._live) >= self._limits.connections:
            raise HttpError(503, f"{self._limits.connections} connections are open; close some", headers=BUSY)
        connection_id = new_id("con")
        self._live[connection_id] = transport
        return connection_id

    def get(self, connection_id: str) -> RemoteTransport | None:
        """The connection with this id."""
        return self._live.get(connection_id)

    def start(
        self, connection_id: str, transport: RemoteTransport, client: Client, *, beside: Beside | None = None
    ) -> None:
        """Run a connection of a client until it or the client's token ends, with `beside` next to it."""
        self._tasks.start_soon(self._run, connection_id, transport, client, beside, name=connection_id)

    def remove(self, connection_id: str) -> None:
        """Remove a connection that was added and never started. Idempotent."""
        self._live.pop(connection_id, None)
        if not self._live:
            self._none.set()

    async def aclose(self) -> None:
        """Close all connections; returns when each has released its sessions."""
        self._closing = True
        for transport in tuple(self._live.values()):
            transport.end(SHUTDOWN)
        while self._live:
            self._none = anyio.Event()
            await self._none.wait()

    async def _run(self, connection_id: str, transport: RemoteTransport, client: Client, beside: Beside | None) -> None:
        log.info("connection opened", extra={"connection": connection_id, "client": client.name})
        try:
            async with anyio.create_task_group() as tasks:
                if beside is not None:
                    tasks.start_soon(beside)
                with client.visit(partial(transport.end, TOKEN_ENDED)):
                    await self._connect(transport, connection_id).run()
                tasks.cancel_scope.cancel()
        except Exception:
            log.exception("connection failed", extra={"connection": connection_id})
            transport.end(FAILED)
        finally:
            transport.end(OVER)
            self.remove(connection_id)
            log.info("connection closed", extra={"connection": connection_id})
