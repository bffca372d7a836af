"""The real connection and engine in this process, joined to a client in memory."""

import logging
import os
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from claw_acp.acp.connection import Connection
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.rpc.framing import LineSplitter
from claw_acp.rpc.memory_pair import MemoryTransport, memory_pair
from claw_acp.runtime.build import open_engine
from claw_acp.runtime.engine_host import EngineHost
from tests.fuzz.client import PATIENCE, Client, Found
from tests.fuzz.corpus import script
from tests.support.quiet import QUIET
from tests.support.script_files import configure

FRAME_LIMIT = 256 * 1024  # bytes; small, so that frames beyond it are part of the game


class MemoryWire:
    """The client's end."""

    def __init__(self, end: MemoryTransport) -> None:
        self._end = end

    async def send(self, data: bytes) -> None:
        """See `Wire.send`."""
        self._end.send(data)


class Lab:
    """One engine, for many connections. Made by `opened`."""

    def __init__(self, house: EngineHost, *, tasks: TaskGroup, project: Path, crashes: list[str]) -> None:
        self.project = project
        self._crashes = crashes
        self._house = house
        self._tasks = tasks

    @classmethod
    @asynccontextmanager
    async def opened(cls, folder: Path) -> "AsyncGenerator[Lab]":
        """An engine in a folder of its own."""
        project, home = folder / "project", folder / "home"
        project.mkdir()
        (project / "a.txt").write_text("hello\n")
        configure(home / "claw", script(project))
        keyring = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
        environ = {**QUIET, "HOME": str(home), "CLAW_ACP_HOME": str(home / "claw"), "PATH": "/usr/bin:/bin", **keyring}
        os.environ.update(keyring)
        house = EngineHost(partial(open_engine, environ=environ))
        with _watched_log() as crashes:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(house.keep)
                yield cls(house, tasks=tasks, project=project, crashes=crashes)
                tasks.cancel_scope.cancel()

    @asynccontextmanager
    async def connected(self, client_of: "partial[Client]") -> AsyncGenerator[Client]:
        """A client on a connection of its own; at the end the agent must let go of everything.

        Raises:
            Found: The connection ended too early, or does not end.
        """
        near, far = memory_pair()
        far._splitter = LineSplitter(limit=FRAME_LIMIT)  # pyright: ignore[reportPrivateUsage]
        client = client_of(MemoryWire(near), cwd=str(self.project), limit=FRAME_LIMIT, longer=True)
        ended = anyio.Event()
        self._tasks.start_soon(self._serve, far, ended)
        self._tasks.start_soon(_listen, near, client)
        yield client
        if self._crashes:
            raise Found(f"an exception was logged: {self._crashes[0]}")
        if ended.is_set():
            raise Found("the connection ended")
        far.finish()
        with anyio.move_on_after(PATIENCE):
            await ended.wait()
            near.close()
            engine = await self._house.engine()
            if left := [*engine.sessions.in_use()]:
                raise Found(f"sessions are left open: {left}")
            return
        raise Found("the connection does not end")

    async def _serve(self, end: MemoryTransport, ended: anyio.Event) -> None:
        try:
            await Connection(end, self._house, clock=SYSTEM_CLOCK, spoken=(1, 2)).run()
        finally:
            ended.set()


@contextmanager
def _watched_log() -> Generator[list[str]]:
    """The exceptions that are logged: nothing that arrives may be a surprise."""
    crashes: list[str] = []

    class Watch(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.exc_info:
                crashes.append(logging.Formatter().format(record))

    log, watch = logging.getLogger("claw_acp"), Watch(logging.ERROR)
    log.addHandler(watch)
    propagate, log.propagate = log.propagate, False
    try:
        yield crashes
    finally:
        log.removeHandler(watch)
        log.propagate = propagate


async def _listen(end: MemoryTransport, client: Client) -> None:
    while (frame := await end.receive()) is not None:
        if isinstance(frame, bytes):
            await client.heard(frame)
        else:
            client.failure = Found(f"a line of {frame.size} bytes was sent")
