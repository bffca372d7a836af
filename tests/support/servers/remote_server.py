"""`claw-acp serve` as a process, and clients that reach it."""

import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx

from tests.support.editors.http2_transport import http2_client
from tests.support.program.agent_process import EXIT_BOUND, TIMEOUT, AgentProcess, eventually
from tests.support.program.processes import run_program
from tests.support.quiet import QUIET
from tests.support.script_files import Script, configure

KEPT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
JSON = {"content-type": "application/json"}


class RemoteServer:
    """A server that listens. Made by `started`.

    Attributes:
        url: The endpoint, as the first line on stdout has it.
        token: The clients' token; empty when none is needed.
        process: The process.
    """

    def __init__(self, process: AgentProcess, *, url: str, token: str) -> None:
        self.process = process
        self.url = url
        self.token = token

    @classmethod
    @asynccontextmanager
    async def started(
        cls,
        *,
        project: Path,
        home: Path,
        script: Script | None = None,
        config: str = "",
        arguments: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        ignored: Sequence[signal.Signals] = (),
    ) -> "AsyncGenerator[RemoteServer]":
        """Start one on a free port; at the end it must exit in time, with code 0, and without remaining processes.

        `ignored` are signals that its parent ignores, which it inherits.
        """
        claw = home / "claw"
        configure(claw, script, more=config)
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        before = {number: signal.signal(number, signal.SIG_IGN) for number in ignored}
        process = AgentProcess.start(
            cwd=project,
            env={**kept, **QUIET, "HOME": str(home), "CLAW_ACP_HOME": str(claw), **(env or {})},
            stderr=home / f"stderr-{os.urandom(4).hex()}.txt",
            command=(sys.executable, "-m", "claw_acp", "serve", "--listen", "127.0.0.1:0", *arguments),
        )
        for number, handler in before.items():
            signal.signal(number, handler)
        try:
            url = await _first_line(process)
            token = "" if "--no-token" in arguments else (claw / "serve-token").read_text().strip()
            server = cls(process, url=url, token=token)
            yield server
            if process.exit_code is None:
                await server.stop()
        finally:
            process.destroy()

    @property
    def websocket_url(self) -> str:
        """The endpoint for WebSockets."""
        return self.url.replace("http://", "ws://")

    @property
    def headers(self) -> dict[str, str]:
        """The headers that every client needs."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    @asynccontextmanager
    async def http(self, *, http2: bool = False) -> AsyncGenerator[httpx.AsyncClient]:
        """A client with the token; over HTTP/2 it begins with it, since there is no TLS to agree on it."""
        if http2:
            async with http2_client(self.url, headers=self.headers) as client:
                yield client
        else:
            async with httpx.AsyncClient(headers=self.headers, timeout=TIMEOUT, trust_env=False) as client:
                yield client

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Stop it with a signal, and wait for its end."""
        self.process.signal(number)
        assert await self.process.ended(within=EXIT_BOUND) == 0, self.process.stderr()
        await self.process.childless()
        assert "Traceback" not in self.process.stderr(), self.process.stderr()


async def _first_line(process: AgentProcess) -> str:
    data = b""
    with anyio.move_on_after(TIMEOUT):
        while not data.endswith(b"\n"):
            piece = await process.read()
            assert piece, f"it ended:\n{process.stderr()}"
            data += piece
    await eventually(lambda: "token:" in process.stderr(), what="the words for people")
    return data.decode().strip()


def refused_start(*arguments: str, home: Path, code: int = 1) -> str:
    """The stderr output of a server that refuses to start."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    env = {**kept, **QUIET, "HOME": str(home), "CLAW_ACP_HOME": str(home / "claw")}
    done = run_program("serve", *arguments, cwd=Path.cwd(), env=env)
    assert (done.returncode, done.stdout) == (code, ""), done
    return done.stderr
