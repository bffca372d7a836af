"""A program that lends tools to a hub: on standard input and output, or attached to the hub's socket.

Calls run concurrently, and functions that are not `async def` in threads. Printed text goes to standard error, so that
it cannot break the protocol.
"""

import json
import os
import sys
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, Final, TypeAlias, cast

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup
from jsonrpcserver import Error, InvalidParams, Result, Success, async_dispatch
from pydantic import ValidationError

from claw_acp.contracts.endpoint import CALL_SECONDS, PROTOCOL
from claw_acp.core.plugin_errors import CANCELLED
from claw_acp.kit.endpoint_wire import (
    CallParams,
    CallResult,
    CancelParams,
    EndpointInfo,
    InitializeResult,
    LogParams,
    RegisterParams,
    RequestId,
    Scope,
    TextContent,
    ToolOffer,
)

Function: TypeAlias = Callable[..., Any]

INTERNAL_ERROR: Final = -32603  # JSON-RPC 2.0
LARGEST_LINE: Final = 64 * 1024 * 1024

_MEMBERS = ("jsonrpc", "id", "method", "params")
_Key: TypeAlias = tuple[type, RequestId]  # 1 and "1" are two ids


class ToolFailed(Exception):
    """Raised by a tool: the text tells the model why, and what to do instead."""


class Lender:
    """One program that lends tools.

        lender = Lender("counter")

        @lender.tool("Counts the words of a text", {"type": "object", "properties": {"text": {"type": "string"}}})
        def word_count(text: str) -> str: return str(len(text.split()))

        lender.run()

    Args:
        name: Its name, for people.
        version: Its own version.
        scope: The sessions that see the tools; by default all.
        instance: Tells several running copies apart; one that attaches again with the same replaces the older.
    """

    def __init__(
        self, name: str, *, version: str = "", scope: Scope | None = None, instance: str | None = None
    ) -> None:
        self._info = EndpointInfo(name=name, version=version, instance=instance)
        self._scope = scope or Scope()
        self._tools: dict[str, tuple[ToolOffer, Function]] = {}
        self._running: dict[_Key, anyio.CancelScope] = {}
        self._leaving = anyio.Event()
        self._send: Callable[[bytes], Awaitable[None]]
        self._methods: Mapping[str, Callable[..., Awaitable[Result]]] = {
            "initialize": self._initialize,
            "tools/call": self._call,
            "ping": self._ping,
            "shutdown": self._shut_down,
            "closing": self._closing,
            "$/cancel_request": self._cancel,
        }

    def tool(
        self,
        description: str,
        schema: Mapping[str, Any],
        *,
        title: str | None = None,
        read_only: bool = False,
        destructive: bool = False,
        timeout: float = CALL_SECONDS,
    ) -> Callable[[Function], Function]:
        """Lend a function under its own name. It gets the arguments by name, and returns a text."""

        def lend(function: Function) -> Function:
            name = function.__name__
            offer = ToolOffer(
                name=name,
                title=title,
                description=description,
                input_schema=dict(schema),
                read_only=read_only,
                destructive=destructive,
                timeout=timeout,
            )
            self._tools[name] = (offer, function)
            return function

        return lend

    async def log(self, message: str) -> None:
        """Write a line to the hub's log."""
        await self._write(method="log", params=LogParams(message=message).plain())

    def run(self, path: str | None = None) -> None:
        """Serve until the hub lets us go: on standard input and output, or on the socket at `path`."""
        anyio.run(self._serve, path)

    async def _serve(self, path: str | None) -> None:
        async with _connected(path) as (receive, self._send), anyio.create_task_group() as tasks:
            tasks.start_soon(self._read, receive, tasks)
            await self._leaving.wait()
            tasks.cancel_scope.cancel()

    async def _read(self, receive: Callable[[], Awaitable[bytes]], tasks: TaskGroup) -> None:
        while line := await receive():
            if line.strip():
                await self._take(line, tasks)
        self._leaving.set()

    async def _take(self, line: bytes, tasks: TaskGroup) -> None:
        try:
            message: object = json.loads(line)
        except (ValueError, RecursionError):
            await self._write(id=None, error={"code": -32700, "message": "not JSON"})
            return
        if not isinstance(message, dict) or "method" not in message:
            self._tell_refusals(cast("object", message))
            return
        # jsonrpcserver refuses members that it does not know, and the protocol wants them ignored
        request = {name: held for name, held in cast("dict[str, object]", message).items() if name in _MEMBERS}
        request_id = request.get("id")
        if request["method"] == "tools/call" and isinstance(request_id, int | str):
            tasks.start_soon(self._answer, request, request_id)
        else:
            await self._answer(request, None)

    async def _answer(self, request: Mapping[str, object], request_id: RequestId | None) -> None:
        methods = cast("dict[str, Callable[..., Result]]", self._methods)
        if "id" not in request and request["method"] not in methods:
            return
        answer = await async_dispatch(json.dumps(request), methods, context=request_id)
        if answer:
            await self._send(answer.encode() + b"\n")
        if request["method"] == "initialize" and self._tools:
            offers = tuple(offer for offer, _ in self._tools.values())
            params = RegisterParams(tools=offers, scope=self._scope)
            await self._write(id="register", method="tools/register", params=params.plain())
        if request["method"] == "shutdown":
            self._leaving.set()

    def _tell_refusals(self, message: object) -> None:
        """Print what the hub did not take."""
        answer = cast("dict[str, Any]", message) if isinstance(message, dict) else {}
        result = cast("dict[str, Any]", answer.get("result") or {})
        refused: object = result.get("refused") or answer.get("error")
        if refused:
            print("the hub refused:", refused, file=sys.stderr)  # noqa: T201 - for the program's author

    async def _write(self, **message: object) -> None:
        await self._send(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    # ------------------------------------------------------------------ methods

    async def _initialize(self, _id: object, **_params: object) -> Result:
        answer = InitializeResult(protocol_version=PROTOCOL, role="tools", endpoint_info=self._info)
        return Success(answer.plain())

    async def _ping(self, _id: object, **_params: object) -> Result:
        return Success({})

    async def _shut_down(self, _id: object, **_params: object) -> Result:
        return Success({})

    async def _closing(self, _id: object, **params: object) -> Result:
        print("the hub ends the connection:", params.get("message"), file=sys.stderr)  # noqa: T201 - for people
        self._leaving.set()
        return Success(None)

    async def _cancel(self, _id: object, **params: object) -> Result:
        wanted = CancelParams.model_validate(params).request_id
        scope = self._running.get((type(wanted), wanted))
        if scope is not None:
            scope.cancel()
        return Success(None)

    async def _call(self, request_id: RequestId | None, **params: object) -> Result:
        try:
            asked = CallParams.model_validate(params)
        except ValidationError as error:
            return InvalidParams(str(error.errors(include_url=False)[0]["msg"]))
        known = self._tools.get(asked.name)
        if known is None:
            return InvalidParams(f"there is no tool {asked.name}")
        key: _Key = type(request_id), "" if request_id is None else request_id
        with anyio.CancelScope() as scope:
            self._running[key] = scope
            try:
                return Success((await _result(known[1], asked.arguments)).plain())
            except TypeError as error:
                traceback.print_exc()
                return InvalidParams(str(error))
            except Exception as error:  # noqa: BLE001 - the author's code may raise anything; they see all of it
                traceback.print_exc()
                return Error(INTERNAL_ERROR, f"the tool failed: {type(error).__name__}: {error}")
            finally:
                del self._running[key]
        return Error(CANCELLED, "cancelled")


async def _result(function: Function, arguments: Mapping[str, Any]) -> CallResult:
    try:
        if iscoroutinefunction(function):
            said = await function(**arguments)
        else:
            said = await to_thread.run_sync(partial(function, **arguments), abandon_on_cancel=True)
    except ToolFailed as failed:
        return CallResult(content=(TextContent(text=str(failed)),), is_error=True)
    return CallResult(content=(TextContent(text=str(said)),))


_Streams: TypeAlias = tuple[Callable[[], Awaitable[bytes]], Callable[[bytes], Awaitable[None]]]


@asynccontextmanager
async def _connected(path: str | None) -> AsyncGenerator[_Streams]:
    """Reading a line, and writing bytes."""
    if path is not None:
        async with await anyio.connect_unix(path) as stream:
            held = bytearray()

            async def receive() -> bytes:
                while b"\n" not in held and len(held) < LARGEST_LINE:
                    try:
                        held.extend(await stream.receive())
                    except anyio.EndOfStream:
                        return b""
                line, _, rest = bytes(held).partition(b"\n")
                held[:] = rest
                return line + b"\n"

            yield receive, stream.send
        return
    output = sys.stdout.buffer
    sys.stdout = sys.stderr
    with os.fdopen(os.dup(sys.stdin.fileno()), "rb") as source:

        async def read() -> bytes:
            return await to_thread.run_sync(source.readline, abandon_on_cancel=True)

        async def write(data: bytes) -> None:
            output.write(data)
            output.flush()

        yield read, write
