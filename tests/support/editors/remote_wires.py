"""The editor for tests over a network: the same frames, over either profile."""

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Literal, cast

import anyio
import httpx
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from tests.support.editors.editor import Editor
from tests.support.editors.exchange import Json
from tests.support.editors.websocket_client import Closed, WebSocketClient
from tests.support.judges.official_schema import Judge, OfficialSchema
from tests.support.program.agent_process import TIMEOUT, AgentProcess
from tests.support.script_files import Script
from tests.support.servers.remote_server import JSON, RemoteServer

Profile = Literal["websocket", "http1", "http2"]
PROFILES: tuple[Profile, ...] = ("websocket", "http1", "http2")
MANY = 100_000


class Wire(ABC):
    """The interface of a program's process that `Editor` uses, for a remote connection."""

    def __init__(self, server: RemoteServer) -> None:
        self.server = server
        self.connection_id = ""
        self._send: MemoryObjectSendStream[bytes]
        self._receive: MemoryObjectReceiveStream[bytes]
        self._send, self._receive = anyio.create_memory_object_stream[bytes](MANY)
        self._gone = anyio.Event()

    @abstractmethod
    async def write(self, data: bytes) -> None:
        """Send lines."""

    async def read(self) -> bytes:
        """The next line; empty at the end."""
        try:
            return await self._receive.receive()
        except anyio.EndOfStream:
            return b""

    def arrived(self, line: str) -> None:
        """Add a received message."""
        if not self._gone.is_set():
            self._send.send_nowait(line.encode() + b"\n")

    def finished(self) -> None:
        """Mark the end of messages."""
        self._send.close()
        self._gone.set()

    def close_stdin(self) -> None:
        """Disconnect."""
        self.finished()

    async def ended(self) -> int:
        """Wait for the end."""
        with anyio.fail_after(TIMEOUT):
            await self._gone.wait()
        return 0

    async def childless(self) -> None:  # noqa: B027 - the server lives on
        """Do nothing."""

    def stderr(self) -> str:
        """The server's stderr output."""
        return self.server.process.stderr()

    def resume_reading(self) -> None:  # noqa: B027 - nothing was paused
        """Do nothing."""

    def destroy(self) -> None:
        """Close everything."""
        self._send.close()
        self._receive.close()


class WebSocketWire(Wire):
    """One text message for each frame."""

    def __init__(self, server: RemoteServer, client: WebSocketClient) -> None:
        super().__init__(server)
        self.client = client
        self.connection_id = client.headers["acp-connection-id"]
        self.closed: Closed | None = None

    async def write(self, data: bytes) -> None:
        """See `Wire`."""
        for line in data.decode().splitlines():
            await self.client.send(line)

    async def listen(self) -> None:
        """Receive until the end."""
        while isinstance(message := await self.client.receive(), str):
            self.arrived(message)
        self.closed = message
        self.finished()


class HttpWire(Wire):
    """POST requests and streams, as the official TypeScript SDK uses them.

    Args:
        server: The server.
        client: Sends the requests.
        tasks: Runs the streams.
        late: Open a session's stream only after a message about it, and leave out `Acp-Session-Id` where the official
            Python SDK does.
    """

    def __init__(self, server: RemoteServer, client: httpx.AsyncClient, tasks: TaskGroup, *, late: bool) -> None:
        super().__init__(server)
        self.client = client
        self.late = late
        self.streams: dict[str, anyio.CancelScope] = {}
        self.paused: anyio.Event | None = None
        self._tasks = tasks
        self._asked_in: dict[Any, str] = {}
        self._loading: dict[Any, str] = {}

    async def write(self, data: bytes) -> None:
        """See `Wire`."""
        for line in data.splitlines():
            await self.post(json.loads(line))

    async def post(self, message: Json) -> None:
        """Send one message, with the headers it needs."""
        method = message.get("method")
        if method == "initialize":
            answer = await self.client.post(self.server.url, json=message)
            assert answer.status_code == 200, answer.text
            self.connection_id = answer.headers["Acp-Connection-Id"]
            self.arrived(answer.text)
            await self.open("")
            return
        params: Json = message.get("params") or {}
        session: str = params.get("sessionId") or self._asked_in.pop(message.get("id"), "")
        headers = {"Acp-Connection-Id": self.connection_id}
        if session and not self.late:
            await self.open(session)
        if method in {"session/load", "session/resume"}:
            self._loading[message["id"]] = session
        if session and not (self.late and method in {None, "session/load", "session/resume", "session/delete"}):
            headers["Acp-Session-Id"] = session
        answer = await self.client.post(self.server.url, json=message, headers=headers)
        assert answer.status_code == 202, answer.text

    async def open(self, session: str) -> None:
        """Open a stream, if it is not open yet."""
        if session not in self.streams:
            self.streams[session] = anyio.CancelScope()
            await self._tasks.start(self._stream, session)

    async def _stream(self, session: str, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        headers = {"Acp-Connection-Id": self.connection_id, "Accept": "text/event-stream"}
        headers |= {"Acp-Session-Id": session} if session else {}
        with self.streams[session], suppress(httpx.RemoteProtocolError, httpx.ReadError):  # the server was killed
            async with self.client.stream("GET", self.server.url, headers=headers) as answer:
                assert answer.status_code == 200, await answer.aread()
                task_status.started()
                async for line in answer.aiter_lines():
                    if self.paused is not None:
                        await self.paused.wait()
                    if line.startswith("data: "):
                        await self._heard(json.loads(line.removeprefix("data: ")))
        del self.streams[session]
        if not session:
            self.finished()

    async def _heard(self, message: Json) -> None:
        params: Json = message.get("params") or {}
        result: Json | None = message.get("result")
        session: str = params.get("sessionId", "")
        if "method" in message and "id" in message and session:
            self._asked_in[message["id"]] = session
        loaded = self._loading.pop(message.get("id"), None) if "method" not in message else None
        self.arrived(json.dumps(message))
        opened: str = result.get("sessionId", "") if result else ""
        if self.late and loaded and "result" in message:
            opened = loaded
        if self.late and session and session not in self._loading.values():
            opened = session
        if opened:
            await self.open(opened)


@asynccontextmanager
async def remote_editor(
    server: RemoteServer,
    profile: Profile,
    *,
    project: Path,
    script: Script | None = None,
    capabilities: Mapping[str, Any] | None = None,
    late: bool = False,
) -> AsyncGenerator[Editor]:
    """An editor connected to a server. Leaving the block ends its connection."""
    async with unwrapped(), anyio.create_task_group() as tasks:
        if profile == "websocket":
            async with WebSocketClient.connected(server.websocket_url, headers=server.headers) as client:
                wire = WebSocketWire(server, client)
                tasks.start_soon(wire.listen)
                async with _editor(wire, project=project, script=script, capabilities=capabilities) as editor:
                    yield editor
                tasks.cancel_scope.cancel()
        else:
            async with server.http(http2=profile == "http2") as client:
                wire = HttpWire(server, client, tasks, late=late)
                async with _editor(wire, project=project, script=script, capabilities=capabilities) as editor:
                    yield editor
                if wire.connection_id and server.process.exit_code is None:
                    headers = {"Acp-Connection-Id": wire.connection_id}
                    await client.delete(server.url, headers=headers)
                tasks.cancel_scope.cancel()


@asynccontextmanager
async def unwrapped() -> AsyncGenerator[None]:
    """Raise failures unwrapped, not in the group of a task group."""
    try:
        yield
    except BaseException as error:  # noqa: BLE001 - re-raised at once
        cause = error
        while isinstance(cause, BaseExceptionGroup):
            cause = cast("BaseExceptionGroup[BaseException]", cause).exceptions[0]
        raise cause from cause.__cause__


@asynccontextmanager
async def _editor(
    wire: Wire, *, project: Path, script: Script | None, capabilities: Mapping[str, Any] | None
) -> AsyncGenerator[Editor]:
    editor = Editor(
        cast("AgentProcess", wire), project=project, script=script or Script(), judge=Judge(OfficialSchema.load())
    )
    editor.capabilities = dict(capabilities or {})
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(editor.read, tasks)
            yield editor
            editor.over = True
            wire.close_stdin()
            tasks.cancel_scope.cancel()
    except BaseException as error:
        error.add_note(editor.report())
        raise
    finally:
        wire.destroy()


__all__ = ["JSON", "PROFILES", "HttpWire", "Profile", "WebSocketWire", "remote_editor"]
