"""A dispatcher with the bare other side of its connection, for tests."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.dispatcher import Dispatcher
from claw_acp.rpc.errors import RpcError
from claw_acp.rpc.memory_pair import MemoryTransport, memory_pair
from claw_acp.rpc.peer import IncomingCall, NotificationHandler, RequestHandler

SOON = 5  # seconds; a bound for waits that should end at once


class Handlers:
    def __init__(self) -> None:
        self.requests: dict[str, RequestHandler] = {}
        self.notifications: dict[str, NotificationHandler] = {}

    def request_handler(self, method: str) -> RequestHandler | None:
        if method == "cannot be loaded":
            raise KeyError("lookup")
        return self.requests.get(method)

    def notification_handler(self, method: str) -> NotificationHandler | None:
        if method == "cannot be loaded":
            raise KeyError("lookup")
        return self.notifications.get(method)

    def to_wire(self, error: Exception, method: str) -> RpcError:
        return error if isinstance(error, RpcError) else RpcError(-32603, f"{method}: {error}")


class Wire:
    """The bare other side of a dispatcher."""

    def __init__(self, transport: MemoryTransport, handlers: Handlers, dispatcher: Dispatcher) -> None:
        self.transport = transport
        self.handlers = handlers
        self.dispatcher = dispatcher

    def says(self, *lines: "bytes | dict[str, Any]") -> None:
        for line in lines:
            self.transport.send(line + b"\n" if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")

    async def hears(self) -> dict[str, Any]:
        with anyio.fail_after(SOON):
            frame = await self.transport.receive()
        assert isinstance(frame, bytes)
        return json.loads(frame)


@asynccontextmanager
async def wired() -> AsyncGenerator[Wire]:
    ours, theirs = memory_pair()
    handlers = Handlers()
    dispatcher = Dispatcher(ours, handlers)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(dispatcher.run)
        yield Wire(theirs, handlers, dispatcher)
        theirs.close()


def call(method: str, *, id: object = 1, **params: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


async def echo(_call: IncomingCall, params: JsonObject) -> JsonValue:
    return params


async def forever(_call: IncomingCall, _params: JsonObject) -> JsonValue:
    await anyio.sleep_forever()
    return None
