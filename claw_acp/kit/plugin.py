"""A provider program: reads requests from standard input, answers on standard output, until the host goes away.

It speaks both modes of the protocol: a `chat` that comes before any `initialize` is one-shot, and is answered without
deltas. Requests run concurrently. Printed text goes to standard error, so that it cannot break the protocol.
"""

import json
import os
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from inspect import iscoroutinefunction
from typing import TypeAlias, cast

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup
from jsonrpcserver import Error, InvalidParams, Result, Success, async_dispatch
from pydantic import ValidationError

from claw_acp.core.plugin_errors import CANCELLED
from claw_acp.kit.errors import ChatFailed
from claw_acp.kit.wire import (
    PROTOCOL_VERSION,
    CancelParams,
    ChatDelta,
    ChatParams,
    ChatResult,
    InitializeResult,
    ModelRow,
    ModelsResult,
    Party,
    PluginCapabilities,
    RequestId,
    TokenUsage,
    ToolRequest,
    Wire,
)

Handler: TypeAlias = "Callable[[ChatParams, Stream], Awaitable[ChatResult | str | None]]"

INVALID_REQUEST, INTERNAL_ERROR = -32600, -32603  # JSON-RPC 2.0

_MEMBERS = ("jsonrpc", "id", "method", "params")
_Key: TypeAlias = tuple[type, RequestId]  # 1 and "1" are two ids


class Stream:
    """Takes the answer of a chat handler piece by piece. A host that wants no pieces gets none."""

    def __init__(self, request_id: RequestId | None, *, send: Callable[[ChatDelta], None] | None) -> None:
        self._request_id = request_id
        self._send = send
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._calls: list[ToolRequest] = []
        self._usage: TokenUsage | None = None

    def text(self, piece: str) -> None:
        """Send the next piece of visible text."""
        if piece:
            self._text.append(piece)
            self._tell("text", text=piece)

    def thought(self, piece: str) -> None:
        """Send the next piece of thinking."""
        if piece:
            self._thoughts.append(piece)
            self._tell("thought", text=piece)

    def tool_call(self, call: ToolRequest) -> None:
        """Send a tool call of the model."""
        index = len(self._calls)
        self._calls.append(call)
        arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        self._tell("tool_call", index=index, id=call.id, name=call.name, arguments=arguments)

    def usage(self, *, input_tokens: int, output_tokens: int) -> None:
        """Set the tokens of the request; `input_tokens` counts everything sent."""
        self._usage = TokenUsage(input_tokens=input_tokens, output_tokens=output_tokens)

    def result(self, said: ChatResult | str | None) -> ChatResult:
        """The whole answer, from the streamed pieces and the handler's return value."""
        if isinstance(said, ChatResult):
            return said
        content = "".join(self._text) if said is None else said
        return ChatResult(
            content=content,
            tool_calls=tuple(self._calls) or None,
            usage=self._usage,
            reasoning="".join(self._thoughts) or None,
            stopReason="tool_calls" if self._calls else "end",
        )

    def _tell(self, kind: str, **piece: object) -> None:
        if self._send is not None:
            self._send(ChatDelta.model_validate({"requestId": self._request_id, "type": kind, **piece}))


class Plugin:
    """One provider program.

        plugin = Plugin("echo", models=[ModelRow(id="echo-1")])

        @plugin.chat
        async def chat(request: ChatParams, stream: Stream) -> None: stream.text(request.last.content)

        plugin.run()

    Args:
        name: Its name, for people.
        version: Its own version.
        models: Its models; a `Sequence`, or a function called each time.
        capabilities: Its capabilities besides streaming.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str = "",
        models: Sequence[ModelRow] | Callable[[], Awaitable[Sequence[ModelRow]]] = (),
        capabilities: PluginCapabilities | None = None,
    ) -> None:
        self._party = Party(name=name, version=version)
        self._models = models
        self._capabilities = (capabilities or PluginCapabilities()).model_copy(update={"streaming": True})
        self._handler: Handler | None = None
        self._in_session = False
        self._leaving = False
        self._running: dict[_Key, anyio.CancelScope] = {}
        self._tasks: anyio.CancelScope | None = None
        self._output = sys.stdout.buffer
        self._methods: Mapping[str, Callable[..., Awaitable[Result]]] = {
            "initialize": self._initialize,
            "chat": self._chat,
            "models/list": self._list_models,
            "shutdown": self._shutdown,
            "$/cancel_request": self._cancel,
        }

    def chat(self, handler: Handler) -> Handler:
        """Register the handler of `chat` requests; it may stream, or return the answer, whole or as text.

        Raises:
            TypeError: It is no `async def` function.
        """
        if not iscoroutinefunction(handler):
            raise TypeError("a chat handler is an async function: write `async def` before its name")
        self._handler = handler
        return handler

    def run(self) -> None:
        """Serve until the host sends `shutdown` or closes our input. Does not return before that."""
        sys.stdout = sys.stderr
        anyio.run(self._serve)

    async def _serve(self) -> None:
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks.cancel_scope
            async for line in _lines():
                await self._take(line, tasks)
                if self._leaving:
                    break
            if self._in_session:
                tasks.cancel_scope.cancel()  # nobody waits for these answers any more

    async def _take(self, line: bytes, tasks: TaskGroup) -> None:
        try:
            message: object = json.loads(line)
        except (ValueError, RecursionError):
            self._write(json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "not JSON"}}))
            return
        if not isinstance(message, dict):
            await self._answer(line, None)
            return
        # jsonrpcserver refuses members that it does not know, and the protocol wants them ignored
        request = {name: held for name, held in cast("dict[str, object]", message).items() if name in _MEMBERS}
        request_id, text = request.get("id"), json.dumps(request)
        if request.get("method") == "chat" and isinstance(request_id, int | str):
            tasks.start_soon(self._answer, text, request_id)
        else:
            await self._answer(text, None)

    async def _answer(self, text: str | bytes, request_id: RequestId | None) -> None:
        # what belongs to one request reaches the methods as the context of the dispatcher
        methods = cast("dict[str, Callable[..., Result]]", self._methods)
        answer = await async_dispatch(text if isinstance(text, str) else text.decode(), methods, context=request_id)
        if answer:
            self._write(answer)

    def _write(self, text: str) -> None:
        try:
            self._output.write(text.encode() + b"\n")
            self._output.flush()
        except BrokenPipeError:  # the host is gone
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._output.fileno())  # else the interpreter complains at its end
            self._leaving = True
            if self._tasks is not None:
                self._tasks.cancel()

    # ------------------------------------------------------------------ methods

    async def _initialize(self, _id: object, **_params: object) -> Result:
        self._in_session = True
        result = InitializeResult(
            protocolVersion=PROTOCOL_VERSION,
            pluginInfo=self._party,
            capabilities=self._capabilities,
            models=tuple(await self._offered()),
        )
        return Success(_plain(result))

    async def _list_models(self, _id: object, **_params: object) -> Result:
        return Success(_plain(ModelsResult(models=tuple(await self._offered()))))

    async def _offered(self) -> Sequence[ModelRow]:
        return await self._models() if callable(self._models) else self._models

    async def _shutdown(self, _id: object, **_params: object) -> Result:
        self._leaving = True
        return Success({})

    async def _cancel(self, _id: object, **params: object) -> Result:
        try:
            wanted = CancelParams.model_validate(params)
        except ValidationError as error:
            return InvalidParams(_words(error))
        scope = self._running.get(_key(wanted.requestId))
        if scope is not None:
            scope.cancel()
        return Success(None)

    async def _chat(self, request_id: RequestId | None, **params: object) -> Result:
        assert self._handler is not None, "register a handler with @plugin.chat before plugin.run()"
        try:
            asked = ChatParams.model_validate(params)
        except ValidationError as error:
            return InvalidParams(_words(error))
        if _key(request_id) in self._running:
            return Error(INVALID_REQUEST, "a chat with this id is under way")
        stream = Stream(request_id, send=self._send_delta if self._in_session else None)
        with anyio.CancelScope() as scope:
            self._running[_key(request_id)] = scope
            try:
                return Success(_plain(stream.result(await self._handler(asked, stream))))
            except ChatFailed as failed:
                return Error(failed.code, failed.message, *(() if failed.data is None else (failed.data,)))
            except Exception as error:  # noqa: BLE001 - the author's code may raise anything; they see all of it
                traceback.print_exc()
                return Error(INTERNAL_ERROR, f"the plugin failed: {type(error).__name__}: {error}")
            finally:
                del self._running[_key(request_id)]
        return Error(CANCELLED, "cancelled")

    def _send_delta(self, delta: ChatDelta) -> None:
        self._write(json.dumps({"jsonrpc": "2.0", "method": "chat/delta", "params": _plain(delta)}))


def _key(request_id: RequestId | None) -> _Key:
    return type(request_id), "" if request_id is None else request_id


def _plain(value: Wire) -> object:
    return value.model_dump(exclude_none=True)


def _words(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    return f"{place}: {problem['msg']}"


async def _lines() -> AsyncIterator[bytes]:
    """The lines of standard input, without blank ones."""
    with os.fdopen(os.dup(sys.stdin.fileno()), "rb") as source:
        while line := await to_thread.run_sync(partial(source.readline), abandon_on_cancel=True):
            if line.strip():
                yield line
