"""`claw-acp serve --no-listen` as a process: the hub that editors' processes find."""

import os
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from tests.support.program.agent_process import TIMEOUT, AgentProcess
from tests.support.quiet import QUIET
from tests.support.script_files import Script, configure

KEPT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "TMPDIR")


def environment_of(home: Path) -> dict[str, str]:
    """The environment of programs in a test's home."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**kept, **QUIET, "HOME": str(home), "CLAW_ACP_HOME": str(home / "claw")}


class Hub:
    """A running hub.

    Attributes:
        process: Its process.
        socket: Where it listens.
    """

    def __init__(self, process: AgentProcess, socket: Path) -> None:
        self.process = process
        self.socket = socket

    @classmethod
    @asynccontextmanager
    async def started(
        cls,
        *,
        home: Path,
        script: Script | None = None,
        config: str = "",
        arguments: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> "AsyncGenerator[Hub]":
        """Start one, and wait until it can be found; at the end it is killed with everything it started."""
        configure(home / "claw", script, more=config)
        process = AgentProcess.start(
            cwd=home,
            env={**environment_of(home), **(env or {})},
            stderr=home / f"stderr-{os.urandom(4).hex()}.txt",
            command=(sys.executable, "-m", "claw_acp", "serve", "--no-listen", *arguments),
        )
        try:
            line = b""
            with anyio.fail_after(TIMEOUT):
                while not line.endswith(b"\n"):
                    piece = await process.read()
                    assert piece, f"it ended:\n{process.stderr()}"
                    line += piece
            yield cls(process, Path(line.decode().strip()))
        finally:
            process.destroy()
