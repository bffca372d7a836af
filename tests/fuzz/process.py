"""The program itself, over pipes, with frames that arrive in pieces of any size."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import anyio

from tests.fuzz.client import Client, Found
from tests.fuzz.corpus import script
from tests.support.editors.editor import KEPT
from tests.support.program.agent_process import AgentProcess
from tests.support.quiet import QUIET
from tests.support.script_files import configure

LIMIT = 1024 * 1024  # bytes of the longest frame that is sent
PIECES = (1, 7, 100, 4096, 100_000)  # bytes that are written at once


class PipeWire:
    """The client's end: it cuts frames anywhere."""

    def __init__(self, process: AgentProcess, random: Random) -> None:
        self._process = process
        self._random = random
        self._lock = anyio.Lock()  # two tasks send: a frame must not begin inside another

    async def send(self, data: bytes) -> None:
        """See `Wire.send`."""
        async with self._lock:
            if self._random.random() < 0.9:
                await self._process.write(data)
                return
            while data:
                size = self._random.choice(PIECES) if len(data) < 2000 else 100_000
                await self._process.write(data[:size])
                data = data[size:]


@asynccontextmanager
async def program(folder: Path, *, random: Random, version: int) -> AsyncGenerator[Client]:
    """A client of the program, which must leave well in the end.

    Raises:
        Found: It ended too early, with another exit code than 0, or left something behind.
    """
    project, home = folder / "project", folder / "home"
    project.mkdir()
    (project / "a.txt").write_text("hello\n")
    configure(home / "claw", script(project))
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    keyring = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    environ = {**kept, **QUIET, "HOME": str(home), "CLAW_ACP_HOME": str(home / "claw"), **keyring}
    process = AgentProcess.start(cwd=project, env=environ, stderr=folder / "stderr.txt")
    client = Client(PipeWire(process, random), random=random, cwd=str(project), version=version, limit=LIMIT)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_listen, process, client)
            yield client
            process.close_stdin()
            if code := await process.ended():
                raise Found(f"exit code {code}: {process.stderr()[-2000:]}")
            await process.childless()
            tasks.cancel_scope.cancel()
    finally:
        process.destroy()


async def _listen(process: AgentProcess, client: Client) -> None:
    rest = b""
    while data := await process.read():
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            await client.heard(line)
    client.failure = client.failure or Found(f"the output ended: {process.stderr()[-2000:]}")
