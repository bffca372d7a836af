"""A server of the official SDK in a process of its own, reached over loopback."""

import json
import signal
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from tests.support.editors.exchange import Json
from tests.support.program.agent_process import eventually
from tests.support.program.forked_process import forked_python
from tests.support.program.process_mark import unmarked

SDK_SERVER = Path(__file__).with_name("sdk_server.py")


class HttpServer:
    """It can be stopped, and started again at the same port."""

    def __init__(self, kind: Literal["http", "sse"], folder: Path) -> None:
        self.kind = kind
        self._file = folder / f"{kind}.port"
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    async def start(self) -> None:
        """Start it and wait until it listens."""
        self._file.unlink(missing_ok=True)
        port = [str(self.port)] if self.port else []
        self._process = subprocess.Popen(  # noqa: ASYNC220 - at once, and not waited for
            [forked_python(), str(SDK_SERVER), self.kind, str(self._file), *port], env=unmarked()
        )
        await eventually(self._file.exists, what="a listening server")
        self.port = int(self._file.read_text())

    def stop(self) -> None:
        """End it, with all that it knows."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def requests(self) -> list[Json]:
        """The headers of the requests so far, with their method and path."""
        file = self._file.with_suffix(".log")
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def declared(self, name: str = "official", secret: str = "open sesame") -> Json:
        """It, as an editor names it."""
        path = "sse" if self.kind == "sse" else "mcp"
        url = f"http://127.0.0.1:{self.port}/{path}"
        return {"type": self.kind, "name": name, "url": url, "headers": [{"name": "X-Secret", "value": secret}]}


@asynccontextmanager
async def http_server(kind: Literal["http", "sse"], folder: Path) -> AsyncGenerator[HttpServer]:
    """A server for as long as the block runs."""
    server = HttpServer(kind, folder)
    try:
        await server.start()
        yield server
    finally:
        server.stop()
