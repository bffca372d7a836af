"""The common part of programs that attach to a hub: the connection, the first exchange, signs of life.

Printed text goes to standard error, so that it cannot break the protocol.
"""

import itertools
import json
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, ClassVar, Final, TypeAlias, cast

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup
from jsonrpcserver import Result, Success, async_dispatch

from claw_acp.contracts.endpoint import PROTOCOL, Role
from claw_acp.kit.endpoint_wire import CancelParams, EndpointInfo, InitializeResult, LogParams, Message, RequestId

INTERNAL_ERROR: Final = -32603  # JSON-RPC 2.0
LARGEST_LINE: Final = 64 * 1024 * 1024

Methods: TypeAlias = Mapping[str, Callable[..., Awaitable[Result]]]

_MEMBERS = ("jsonrpc", "id", "method", "params")
_Key: TypeAlias = tuple[type, RequestId]  # 1 and "1" are two ids


class HubRefused(Exception):
    """The hub answered a request with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"the hub refused: {message} (error {code})")
        self.code = code


class _Waiting:
    def __init__(self) -> None:
        self.answered = anyio.Event()
        self.answer: dict[str, Any] = {}


class AttachedProgram:
    """One program that attaches; what it does is its role's.

    Args:
        name: Its name, for people.
        version: Its own version.
        instance: Tells several running copies apart; one that attaches again with the same replaces the older.
        methods: The requests that its role has, handled beside each other.
    """

    role: ClassVar[Role]

    def __init__(self, name: str, *, version: str, instance: str | None, methods: Methods) -> None:
        self._info = EndpointInfo(name=name, version=version, instance=instance)
        self._running: dict[_Key, anyio.CancelScope] = {}
        self._waiting: dict[object, _Waiting] = {}
        self._numbers = itertools.count(1)
        self._leaving = anyio.Event()
        self._send: Callable[[bytes], Awaitable[None]]
        self._beside = frozenset(methods)
        self._methods: Methods = {
            "initialize": self._initialize,
            "ping": self._nothing,
            "shutdown": self._nothing,
            "closing": self._closing,
            "$/cancel_request": self._cancel,
            **methods,
        }

    async def attached(self) -> None:
        """Do what the role does once the hub knows the program; for subclasses."""

    async def log(self, message: str) -> None:
        """Write a line to the hub's log."""
        await self._write(method="log", params=LogParams(message=message).plain())

    def run(self, path: str | None = None) -> None:
        """Serve until the hub lets us go: on standard input and output, or on the socket at `path`."""
        anyio.run(self._serve, path)

    async def request(self, method: str, params: Message) -> Any:  # noqa: ANN401 - of the method
        """Ask the hub; returns the result.

        Raises:
            HubRefused: The answer is an error.
        """
        request_id, waiting = f"ours-{next(self._numbers)}", _Waiting()
        self._waiting[request_id] = waiting
        try:
            await self._write(id=request_id, method=method, params=params.plain())
            await waiting.answered.wait()
        finally:
            del self._waiting[request_id]
        if "error" in waiting.answer:
            error = waiting.answer["error"]
            raise HubRefused(error.get("code", INTERNAL_ERROR), str(error.get("message", "")))
        return waiting.answer.get("result")

    def cancellable(self, request_id: RequestId | None) -> anyio.CancelScope:
        """The scope that `$/cancel_request` for this request cancels."""
        key: _Key = type(request_id), "" if request_id is None else request_id
        scope = self._running[key] = anyio.CancelScope()
        return scope

    # ------------------------------------------------------------------ messages

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
        given = cast("dict[str, Any]", message) if isinstance(message, dict) else {}
        if "method" not in given:
            if (waiting := self._waiting.get(given.get("id"))) is not None:
                waiting.answer = given
                waiting.answered.set()
            return
        # jsonrpcserver refuses members that it does not know, and the protocol wants them ignored
        request = {name: held for name, held in given.items() if name in _MEMBERS}
        request_id = request.get("id")
        if request["method"] in self._beside and isinstance(request_id, int | str):
            tasks.start_soon(self._answer, request, request_id)
            return
        await self._answer(request, None)
        if request["method"] == "initialize":
            tasks.start_soon(self.attached)

    async def _answer(self, request: Mapping[str, object], request_id: RequestId | None) -> None:
        methods = cast("dict[str, Callable[..., Result]]", self._methods)
        if "id" not in request and request["method"] not in methods:
            return
        try:
            answer = await async_dispatch(json.dumps(request), methods, context=request_id)
        finally:
            self._running.pop((type(request_id), "" if request_id is None else request_id), None)
        if answer:
            await self._send(answer.encode() + b"\n")
        if request["method"] == "shutdown":
            self._leaving.set()

    async def _write(self, **message: object) -> None:
        await self._send(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    # ------------------------------------------------------------------ methods

    async def _initialize(self, _id: object, **_params: object) -> Result:
        answer = InitializeResult(protocol_version=PROTOCOL, role=self.role, endpoint_info=self._info)
        return Success(answer.plain())

    async def _nothing(self, _id: object, **_params: object) -> Result:
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
