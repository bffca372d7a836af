"""HTTP server: accepts a limited number of TCP connections and detects the HTTP version of each."""

import logging
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from anyio.abc import TaskGroup

from claw_acp.gateway.http.handler import Handler, HttpConnection
from claw_acp.gateway.http.http1 import Http1
from claw_acp.gateway.http.http2 import PREFACE, Http2
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.http.strangers import Strangers
from claw_acp.gateway.http.tcp_stream import TcpStream, tcp_stream
from claw_acp.net.accepting import accepted

log = logging.getLogger(__name__)


class Listener:
    """Serves one listening socket.

    Args:
        listening: The bound and listening socket, which is closed at the end.
        handler: The application.
        limits: Limits.
    """

    def __init__(self, listening: socket.socket, handler: Handler, *, limits: Limits) -> None:
        self._listening = listening
        self._handler = handler
        self._limits = limits
        self._connections: set[HttpConnection] = set()
        self._strangers = Strangers()
        self._unknown: set[anyio.CancelScope] = set()
        self._count = 0
        self._crowded = False
        self._empty = anyio.Event()

    async def run(self, *, until: Callable[[], Awaitable[None]]) -> None:
        """Serve until `until` returns, then give open requests `limits.flush` seconds."""
        async with anyio.create_task_group() as tasks:
            with self._listening:
                async with anyio.create_task_group() as door:
                    door.start_soon(self._accept, tasks)
                    await until()
                    door.cancel_scope.cancel()
            self._shut_down()
            with anyio.move_on_after(self._limits.flush):
                while self._count:
                    self._empty = anyio.Event()
                    await self._empty.wait()
            tasks.cancel_scope.cancel()

    async def _accept(self, tasks: TaskGroup) -> None:
        self._listening.settimeout(0)
        while True:
            connection, address = await accepted(self._listening)
            if self._count < self._limits.sockets:
                self._crowded = False
            else:
                self._complain(str(address[0]))
                if not self._strangers.hang_up_on_oldest():
                    connection.close()
                    continue
            self._count += 1
            tasks.start_soon(self._serve, connection, address)

    def _complain(self, address: str) -> None:
        if not self._crowded:
            self._crowded = True
            facts = {"limit": self._limits.sockets, "address": address}
            log.warning("too many TCP connections: the oldest without a token are hung up on", extra=facts)

    async def _serve(self, connection: socket.socket, address: tuple[Any, ...]) -> None:
        try:
            with self._strangers.one() as stranger:
                async with tcp_stream(connection, address) as stream:
                    await self._run(stream, stranger.admitted)
        except Exception:
            log.exception("a client's connection failed")
        finally:
            self._count -= 1
            if not self._count:
                self._empty.set()

    def _shut_down(self) -> None:
        for scope in self._unknown:
            scope.cancel()
        for http_connection in tuple(self._connections):
            http_connection.shut_down()

    async def _first_bytes(self, stream: TcpStream) -> bytes:
        """Enough bytes to tell the HTTP versions apart; empty when they do not arrive in time."""
        early = b""
        with anyio.move_on_after(self._limits.first_message) as scope:
            self._unknown.add(scope)
            try:
                while PREFACE.startswith(early) and len(early) < len(PREFACE):
                    early += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return b""
            finally:
                self._unknown.remove(scope)
        return b"" if scope.cancelled_caught else early

    async def _run(self, stream: TcpStream, on_admitted: Callable[[], None]) -> None:
        early = await self._first_bytes(stream)
        if not early:
            return
        kind = Http2 if early.startswith(PREFACE) else Http1
        http_connection = kind(stream, self._handler, limits=self._limits, early=early, on_admitted=on_admitted)
        self._connections.add(http_connection)
        try:
            await http_connection.run()
        finally:
            self._connections.remove(http_connection)
