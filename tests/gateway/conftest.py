"""Tests of the server for clients elsewhere."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import httpx
import pytest

from tests.support.editors.editor_fixtures import home, project
from tests.support.editors.exchange import Json
from tests.support.program.agent_process import TIMEOUT
from tests.support.script_files import Script, say, turn
from tests.support.servers.remote_server import RemoteServer

__all__ = ["Peer", "Serve", "home", "peer", "project", "serve", "shared"]

Serve: TypeAlias = Callable[..., AbstractAsyncContextManager[RemoteServer]]
INITIALIZE: Json = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}


@pytest.fixture
def serve(project: Path, home: Path) -> Serve:
    """`RemoteServer.started` for the project."""
    return partial(RemoteServer.started, project=project, home=home)


@pytest.fixture(scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[RemoteServer]:
    """One server for all tests of a module that leave it as they found it."""
    project, home = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("home")
    async with RemoteServer.started(project=project, home=home, script=Script(turn(say("here")), loop=True)) as server:
        yield server


class Peer:
    """A client that sends single requests of streamable HTTP, right and wrong."""

    def __init__(self, server: RemoteServer, client: httpx.AsyncClient, *, project: Path) -> None:
        self.server = server
        self.client = client
        self.connection = ""
        self.project = project

    async def initialize(self) -> httpx.Response:
        """Make a connection."""
        answer = await self.client.post(self.server.url, json=INITIALIZE)
        self.connection = answer.headers["Acp-Connection-Id"]
        return answer

    async def post(self, message: Any, session: str = "", **headers: str | None) -> httpx.Response:
        """Send a message; headers by name with underscores, None takes one away."""
        content = message if isinstance(message, bytes) else None
        return await self.client.post(
            self.server.url,
            json=None if content is not None else message,
            content=content,
            headers=self.headers(session, {"content_type": "application/json", **headers}),
        )

    def headers(self, session: str, more: dict[str, str | None]) -> dict[str, str]:
        """What identifies us, and more."""
        named = {"acp_connection_id": self.connection or None, "acp_session_id": session or None, **more}
        return {name.replace("_", "-"): value for name, value in named.items() if value is not None}

    @asynccontextmanager
    async def stream(self, session: str = "") -> AsyncGenerator[httpx.Response]:
        """Open a stream; right after another reader has left it, the server may have to notice that first."""
        headers = self.headers(session, {"accept": "text/event-stream"})
        with anyio.fail_after(TIMEOUT):
            while True:
                async with self.client.stream("GET", self.server.url, headers=headers) as stream:
                    if stream.status_code != 409:
                        yield stream
                        return

    async def ask(self, method: str, params: Json, request_id: Any = 2) -> Json:
        """Send a request and read its answer from the connection's stream."""
        async with self.stream() as stream:
            message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
            assert (await self.post(message)).status_code == 202
            return (await up_to_answer(messages_of(stream), request_id))[-1]


async def messages_of(stream: httpx.Response) -> AsyncGenerator[Json]:
    """What comes on a stream."""
    async for line in stream.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


async def up_to_answer(messages: AsyncGenerator[Json], request_id: Any) -> list[Json]:
    """Messages, the last of them the answer to a request."""
    passed: list[Json] = []
    async for message in messages:
        passed.append(message)
        if message.get("id") == request_id and "method" not in message:
            return passed
    raise AssertionError("the stream ended")


@pytest.fixture
async def peer(shared: RemoteServer, tmp_path: Path) -> AsyncGenerator[Peer]:
    """A client of the shared server, connected."""
    async with shared.http() as client:
        peer = Peer(shared, client, project=tmp_path)
        await peer.initialize()
        yield peer
        await client.delete(shared.url, headers={"Acp-Connection-Id": peer.connection})
