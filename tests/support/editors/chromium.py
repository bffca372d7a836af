"""A headless Chromium, told what to do over its DevTools protocol."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx

from tests.support.editors.websocket_client import Closed, WebSocketClient
from tests.support.program.agent_process import TIMEOUT, eventually
from tests.support.toolchain import ENVIRONMENT, missing

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome-headless-shell")


def no_chromium() -> str:
    """The reason that there is no Chromium here; empty when there is one."""
    reasons = {name: missing(name) for name in NAMES}
    return "" if "" in reasons.values() else "; ".join(reasons.values())


class Tab:
    """A page in a browser. Made by `open_tab`.

    Attributes:
        complaints: What the browser logged as an error: broken scripts, refused resources.
    """

    def __init__(self, devtools: WebSocketClient) -> None:
        self._devtools = devtools
        self._requests = 0
        self.complaints: list[str] = []

    async def tell(self, method: str, **params: object) -> dict[str, Any]:
        """Send a command and wait for its result."""
        self._requests += 1
        await self._devtools.send(json.dumps({"id": self._requests, "method": method, "params": params}))
        while True:
            received = await self._devtools.receive()
            assert not isinstance(received, Closed), received
            message = json.loads(received)
            if message.get("id") == self._requests:
                return message["result"]
            if message["method"] in {"Log.entryAdded", "Runtime.exceptionThrown"}:
                self.complaints.append(json.dumps(message["params"]))

    async def run(self, script: str) -> Any:
        """The value of an expression."""
        found = await self.tell("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        return found["result"].get("value")

    async def until(self, script: str) -> None:
        """Wait until an expression is true; the page is looked at after each of its frames."""
        with anyio.fail_after(TIMEOUT):
            while not await self.run(f"new Promise(done => setTimeout(() => done(Boolean({script})), 20))"):
                pass


@asynccontextmanager
async def open_tab(url: str, *, profile: Path) -> AsyncGenerator[Tab]:
    """A tab with a page, for the block."""
    program = next(name for name in NAMES if not missing(name))
    errors = profile / "stderr"
    alone = ["--no-sandbox", "--no-zygote"] if os.geteuid() == 0 else []
    with errors.open("wb") as stderr:
        browser = subprocess.Popen(  # noqa: ASYNC220 - as quick as in a thread
            [shutil.which(program, path=ENVIRONMENT["PATH"]) or program, "--headless", "--disable-gpu", *alone,
             "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"],
            env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr,
        )  # fmt: skip
    try:
        found: list[str] = []
        await eventually(
            lambda: bool(found.extend(re.findall(r"ws://127\.0\.0\.1:(\d+)", errors.read_text())) or found),
            what="the browser",
        )
        async with httpx.AsyncClient(trust_env=False) as client:
            pages = (await client.get(f"http://127.0.0.1:{found[0]}/json")).json()
        address = next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page")
        async with WebSocketClient.connected(address) as devtools:
            tab = Tab(devtools)
            for domain in ("Log", "Runtime", "Page"):
                await tab.tell(f"{domain}.enable")
            await tab.tell("Page.navigate", url=url)
            yield tab
    finally:
        browser.kill()
        browser.wait()
