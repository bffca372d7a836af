"""The entrance of one command: a Unix socket that takes one listening socket, on which the command is then served."""

import logging
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NoReturn

import anyio
from anyio.abc import SocketListener, SocketStream, TaskGroup, UNIXSocketStream

from claw_acp.net.proxy.connection import ProxyConnection
from claw_acp.net.proxy.gate import Gate
from claw_acp.net.proxy.limits import Limits
from claw_acp.net.proxy.refusal import told
from claw_acp.net.proxy.tunnel import BROKEN

log = logging.getLogger(__name__)

MOST_TOLD = 20  # refusals
EXHAUSTED = 1.0  # seconds before a look whether the system has descriptors again


class Entrance:
    """Serves one command. Its socket is gone once it was used, before the command itself runs.

    The listening socket comes from within the command's own network (`sandbox/network_stage`), so nobody else can
    connect to it; nor can the command reach anything of ours but this proxy.

    Args:
        path: The place of the Unix socket, in a private directory of its own, which is removed with it.
        gate: Decides about destinations.
        limits: Limits.
        places: Limits the connections of all commands together.
    """

    def __init__(self, path: Path, gate: Gate, *, limits: Limits, places: anyio.Semaphore) -> None:
        self.socket = path
        self._gate = gate
        self._limits = limits
        self._own_places = anyio.Semaphore(limits.connections)
        self._places = places

    def refusals_told(self) -> str:
        """The connections that were refused, for the end of a command's output; empty if there were none."""
        refused = self._gate.refused
        if not refused:
            return ""
        lines = [f"- {record.destination.host}:{record.destination.port}: {told(record)}" for record in refused]
        more = [f"- and {len(lines) - MOST_TOLD} more"] if len(lines) > MOST_TOLD else []
        return "\n".join(("The sandbox refused connections of this command:", *lines[:MOST_TOLD], *more))

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[None]:
        """Serve for the duration of the block."""
        try:
            door = await anyio.create_unix_listener(self.socket, mode=0o600)
            async with door, anyio.create_task_group() as tasks:
                tasks.start_soon(self._serve, door, tasks)
                yield
                tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:  # no task of ours raises: this is an error of the block
            raise group.exceptions[0] from group.exceptions[0].__cause__
        finally:
            self._remove()

    def _remove(self) -> None:
        with suppress(OSError):
            self.socket.unlink()
        with suppress(OSError):
            self.socket.parent.rmdir()

    async def _serve(self, door: SocketListener, tasks: TaskGroup) -> None:
        try:
            listening = await self._handed_over(door)
            if listening is not None:
                async with await SocketListener.from_socket(listening) as listener:
                    await self._accept(listener, tasks)
        except Exception:
            log.exception("a command lost its network")

    async def _accept(self, listener: SocketListener, tasks: TaskGroup) -> NoReturn:
        while True:
            await self._own_places.acquire()
            tasks.start_soon(self._serve_connection, await self._accepted(listener))

    async def _handed_over(self, door: SocketListener) -> socket.socket | None:
        """The socket that the command's stage listens on. Then nobody can use the door again."""
        async with door, await door.accept() as stream:
            self._remove()
            assert isinstance(stream, UNIXSocketStream)
            try:
                _, descriptors = await stream.receive_fds(1, 1)
            except (anyio.EndOfStream, *BROKEN):
                return None
        return _listening(descriptors[0]) if descriptors else None

    async def _accepted(self, listener: SocketListener) -> SocketStream:
        while True:
            try:
                return await listener.accept()
            except OSError as error:
                log.warning("no connection of a command can be taken in", extra={"reason": error.strerror})
                await anyio.sleep(EXHAUSTED)

    async def _serve_connection(self, stream: SocketStream) -> None:
        try:
            async with stream, self._places:
                await ProxyConnection(stream, self._gate, limits=self._limits).run()
        except BROKEN:
            return  # the command hung up
        except Exception:
            log.exception("a connection of a command failed")
        finally:
            self._own_places.release()


def _listening(descriptor: int) -> socket.socket | None:
    """The listening TCP socket behind a descriptor; None, and closed, if it is something else."""
    os.set_inheritable(descriptor, False)  # noqa: FBT003 - the only form there is
    try:
        found = socket.socket(fileno=descriptor)
    except OSError:
        os.close(descriptor)
        return None
    if found.family == socket.AF_INET and found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        found.settimeout(0)
        return found
    found.close()
    return None
