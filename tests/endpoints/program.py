"""A program that attaches, played by the test: plain lines of JSON, so that a fault in ours cannot hide."""

import json
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import anyio
from anyio.abc import SocketStream

from claw_acp.contracts.endpoint import LARGEST_FRAME
from claw_acp.contracts.schedule import Fire
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import InvalidRequest
from claw_acp.endpoints.attached import AttachedPrograms
from claw_acp.endpoints.greeting import NotAttached, introduce
from claw_acp.rpc.socket import socket_transport

Json: TypeAlias = dict[str, Any]

TIMEOUT = 20.0  # seconds; only a hang waits so long
COUNT: Json = {
    "name": "word_count",
    "description": "Counts the words of a text",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


class Program:
    """One connection to a hub, from the program's side.

    Attributes:
        heard: All messages that came.
        calls: Answers `tools/call`; returns a result, or None for no answer.
        deaf: It answers no other requests.
    """

    def __init__(self, stream: SocketStream) -> None:
        self.stream = stream
        self.heard: list[Json] = []
        self.calls: Callable[[Json], Json | None] = words
        self.deaf = False
        self.over = False
        self._rest = b""
        self._last = 0

    async def send(self, **message: Any) -> None:
        await self.send_bytes(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def send_bytes(self, data: bytes) -> None:
        await self.stream.send(data)

    async def receive(self) -> Json | None:
        """The next message, of which calls are answered; None at the end."""
        with anyio.fail_after(TIMEOUT):
            while b"\n" not in self._rest:
                try:
                    self._rest += await self.stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    self.over = True
                    return None
        line, _, self._rest = self._rest.partition(b"\n")
        message: Json = json.loads(line)
        self.heard.append(message)
        if message.get("method") == "tools/call" and (result := self.calls(message["params"])) is not None:
            await self.send(id=message["id"], result=result)
        elif message.get("method") in {"ping", "shutdown", "schedule/finished"} and not self.deaf:
            await self.send(id=message["id"], result={})
        return message

    async def hear_all(self) -> Json:
        """Receive until the end; returns the last message."""
        while await self.receive() is not None:
            pass
        return self.heard[-1]

    async def introduce(self, role: str = "tools", **more: Any) -> None:
        """Answer `initialize`."""
        first = await self.receive()
        assert first is not None, "the host said nothing"
        assert first["method"] == "initialize"
        info = {"name": "counter", "version": "1"}
        answer = {"protocolVersion": 1, "role": role, "endpointInfo": info, "capabilities": {}, **more}
        await self.send(id=first["id"], result=answer)

    async def request(self, method: str, **params: Any) -> Json:
        """The answer to a request."""
        self._last += 1
        request_id = f"ours-{self._last}"
        await self.send(id=request_id, method=method, params=params)
        while (message := await self.receive()) is not None:
            if message.get("id") == request_id:
                return message
        raise AssertionError(f"no answer to {method}: {self.heard[-1:]}")

    async def lend(self, *tools: Json, **scope: str) -> Json:
        """Register tools."""
        return (await self.request("tools/register", tools=list(tools or (COUNT,)), scope=scope))["result"]


def words(call: Json) -> Json | None:
    """The result of `word_count`."""
    return {"content": [{"type": "text", "text": str(len(call["arguments"]["text"].split()))}]}


class NoFires:
    """A place where nothing can be fired."""

    async def fire(self, fire: Fire) -> bool:
        raise InvalidRequest(f"nothing runs here: {fire.title}")

    async def deliver_waiting(self, program: str) -> None:
        assert program


class Host:
    """The host's part in this process, without sessions. `programs` are those attached."""

    def __init__(self, programs: AttachedPrograms) -> None:
        self.programs = programs

    @asynccontextmanager
    async def attach(self) -> AsyncGenerator[Program]:
        """A connection of which `initialize` was not answered yet."""
        ours, theirs = socket.socketpair()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._serve, ours)
            async with await SocketStream.from_socket(theirs) as stream:
                yield Program(stream)
            tasks.cancel_scope.cancel()

    async def _serve(self, connection: socket.socket) -> None:
        async with socket_transport(connection, limit=LARGEST_FRAME) as transport:
            with suppress(NotAttached):
                attached = await introduce(transport, {"protocolVersion": 1, "hostInfo": {"name": "test"}})
                await self.programs.serve(transport, attached)


def host() -> Host:
    return Host(AttachedPrograms(fires=NoFires(), clock=SYSTEM_CLOCK))


@asynccontextmanager
async def attached(path: Path) -> AsyncGenerator[Program]:
    """A program on the socket of a real hub."""
    async with await anyio.connect_unix(path) as stream:
        yield Program(stream)


@asynccontextmanager
async def lending(path: Path, *tools: Json, **scope: str) -> AsyncGenerator[Program]:
    """A program that lends tools in a real hub, and answers calls meanwhile."""
    async with attached(path) as program, anyio.create_task_group() as tasks:
        await program.introduce()
        await program.lend(*tools, **scope)
        tasks.start_soon(partial(_hear, program))
        yield program
        tasks.cancel_scope.cancel()


async def _hear(program: Program) -> None:
    with anyio.CancelScope():
        while await program.receive() is not None:
            pass
