"""A model server on loopback, over real HTTP/1.1, that plays scripted replies and records requests.

In an async test:

    async with ModelServer() as server: server.will_say("Hel", "lo") provider = OpenAIChatProvider(name="openai",
    api_key="k", base_url=server.openai_url)

From synchronous code, on a thread of its own: `with running_model_server() as server`. From a shell, for benchmarks in
which the server must not share the interpreter: `python -m tests.support.servers.model_server --chunks 20000` prints
its addresses as one JSON line and serves until its standard input closes.
"""

import argparse
import json
import socket
import sys
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from types import TracebackType
from typing import Self

import anyio
import anyio.abc
import anyio.from_thread

from tests.support.servers.model_replies import (
    Call,
    Cut,
    Gate,
    HangUp,
    Json,
    NoAnswer,
    Piece,
    Raw,
    ReceivedRequest,
    Reply,
    Responder,
    Say,
    Stall,
    Tokens,
    failure,
)

HEAD_LIMIT = 64 * 1024
MODELS = ("test-model", "other-model")
WRONG_KEY = "this key opens nothing here"


class ModelServer:
    """Answers each model request with the next scripted reply.

    When the script is empty the reply set by `always` is used, else the request fails with status 400 and the reason.
    `GET .../models` lists `MODELS` and takes nothing from the script.
    """

    def __init__(self) -> None:
        self.requests: list[ReceivedRequest] = []
        self._script: deque[Reply] = deque()
        self._default: Reply | Responder | None = None
        self._listing: Raw | None = None
        self._pages: dict[str, Raw] = {}
        self._keys: tuple[str, ...] = ()
        self._port = 0
        self._connections = 0
        self._streams: set[anyio.abc.SocketStream] = set()
        self._changed = anyio.Event()
        self._stack = AsyncExitStack()

    # ------------------------------------------------------------------ what to say (callable from any thread)

    def will_say(
        self,
        *text: str,
        thinking: Sequence[str] = (),
        calls: Sequence[Call] = (),
        usage: Tokens | None = None,
        stop: str | None = None,
        insert: Mapping[int, Piece] | None = None,
    ) -> None:
        """Answer the next request with these pieces of text, thinking and tool calls."""
        self.will_reply(
            Say(
                text=text,
                thinking=tuple(thinking),
                calls=tuple(calls),
                usage=usage or Tokens(),
                stop=stop,
                insert=insert or {},
            )
        )

    def will_fail(self, status: int, body: Json = "", *, headers: Mapping[str, str] | None = None) -> None:
        """Answer the next request with an error."""
        self.will_reply(failure(status, body, headers=headers))

    def will_reply(self, *replies: Reply) -> None:
        """Answer the next requests with these replies, in order."""
        self._script.extend(replies)

    def always(self, reply: Reply | Responder) -> None:
        """Answer with this whenever the script is empty; a function gets the request and decides."""
        self._default = reply

    def serves_only(self, *keys: str) -> None:
        """Refuse every request without one of these keys, as the vendors do."""
        self._keys = keys

    def always_lists(self, reply: Raw) -> None:
        """Answer every `GET .../models` with this."""
        self._listing = reply

    def shows(self, path: str, body: Json) -> None:
        """Answer every `GET` of this path with this document."""
        self._pages[path] = failure(200, body)

    # ------------------------------------------------------------------ where it is, what happened

    @property
    def port(self) -> int:
        """The TCP port on 127.0.0.1."""
        return self._port

    @property
    def openai_url(self) -> str:
        """Base URL for the OpenAI family."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def anthropic_url(self) -> str:
        """Base URL for the Anthropic family."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def connections(self) -> int:
        """TCP connections accepted so far."""
        return self._connections

    async def until(self, condition: Callable[["ModelServer"], bool]) -> None:
        """Wait, at most 5 s and on the server's own loop, until a request or a disconnect makes this true."""
        with anyio.fail_after(5):
            while not condition(self):
                await self._changed.wait()

    async def all_closed(self) -> None:
        """Wait until no client is connected."""
        await self.until(lambda server: not server._streams)

    async def drop_connections(self) -> None:
        """Close every connection from this side, as services do with idle ones."""
        for stream in list(self._streams):
            await stream.aclose()
        await self.all_closed()

    # ------------------------------------------------------------------ lifetime

    async def __aenter__(self) -> Self:
        """Listen on a free port of 127.0.0.1."""
        async with AsyncExitStack() as stack:
            listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
            await stack.enter_async_context(listener)
            tasks = await stack.enter_async_context(anyio.create_task_group())
            stack.callback(tasks.cancel_scope.cancel)
            self._port = int(listener.extra(anyio.abc.SocketAttribute.local_port))
            tasks.start_soon(listener.serve, self._serve)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening and drop every connection."""
        await self._stack.__aexit__(kind, error, trace)

    def _notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    # ------------------------------------------------------------------ HTTP

    async def _serve(self, stream: anyio.abc.SocketStream) -> None:
        number = self._connections
        self._connections += 1
        self._streams.add(stream)
        stream.extra(anyio.abc.SocketAttribute.raw_socket).setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            async with stream:
                buffered = b""
                while (received := await _read_request(stream, buffered, number)) is not None:
                    request, buffered = received
                    self.requests.append(request)
                    self._notify()
                    goes_on = await _answer(stream, self._reply_to(request))
                    if not goes_on or request.headers.get("connection", "").lower() == "close":
                        return
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream):
            return  # one side went away, which is a thing tests do on purpose
        finally:
            self._streams.discard(stream)
            self._notify()

    def _reply_to(self, request: ReceivedRequest) -> Raw | NoAnswer | HangUp:
        key = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        if self._keys and key not in self._keys:
            return failure(401, {"type": "error", "error": {"type": "authentication_error", "message": WRONG_KEY}})
        if request.method == "GET":
            return self._pages.get(request.path) or self._listing or _model_list(request)
        reply: Reply | Responder = self._script.popleft() if self._script else self._default or _UNSCRIPTED
        if callable(reply):
            reply = reply(request)
        return reply.render(request.family) if isinstance(reply, Say) else reply


_UNSCRIPTED = failure(400, {"error": {"message": "the test scripted no reply for this request"}})


def _model_list(request: ReceivedRequest) -> Raw:
    if request.family == "anthropic":
        rows: Json = [{"type": "model", "id": name, "display_name": name.title()} for name in MODELS]
        return failure(200, {"data": rows, "has_more": False})
    return failure(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in MODELS]})


async def _read_request(
    stream: anyio.abc.ByteStream, buffered: bytes, connection: int
) -> tuple[ReceivedRequest, bytes] | None:
    while b"\r\n\r\n" not in buffered:
        if len(buffered) > HEAD_LIMIT:
            raise ValueError("the request head is too long")
        try:
            buffered += await stream.receive()
        except anyio.EndOfStream:
            return None
    head, _, body = buffered.partition(b"\r\n\r\n")
    line, *fields = head.decode("latin-1").split("\r\n")
    method, path, _ = line.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (item.partition(":") for item in fields)}
    length = int(headers.get("content-length", "0"))
    parts = [body]
    while (missing := length - sum(map(len, parts))) > 0:
        parts.append(await stream.receive(max(missing, 1)))
    body = b"".join(parts)
    request = ReceivedRequest(method=method, path=path, headers=headers, body=body[:length], connection=connection)
    return request, body[length:]


async def _answer(stream: anyio.abc.ByteStream, reply: Raw | NoAnswer | HangUp) -> bool:
    """Send a reply; returns whether the connection can take another request."""
    match reply:
        case HangUp():
            return False
        case NoAnswer():
            await _until_closed(stream)
            return False
        case Raw():
            fields = {"content-type": reply.content_type, **reply.headers, "transfer-encoding": "chunked"}
            head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
            await stream.send(f"HTTP/1.1 {reply.status} Scripted\r\n{head}\r\n".encode())
            for piece in reply.pieces:
                if not await _send(stream, piece):
                    return False
            await stream.send(b"0\r\n\r\n")
            return True


async def _send(stream: anyio.abc.ByteStream, piece: Piece) -> bool:
    match piece:
        case Cut():
            return False
        case Stall():
            await _until_closed(stream)
            return False
        case Gate():
            await piece.passed()
        case bytes():
            await stream.send(b"%x\r\n%b\r\n" % (len(piece), piece))
    return True


async def _until_closed(stream: anyio.abc.ByteStream) -> None:
    """Wait for the client's end of the connection."""
    while True:
        await stream.receive()


@contextmanager
def running_model_server() -> Generator[ModelServer]:
    """A `ModelServer` on a thread of its own."""
    with anyio.from_thread.start_blocking_portal() as portal:
        server = portal.call(ModelServer)
        with portal.wrap_async_context_manager(server):
            yield server


@contextmanager
def refusing_address() -> Generator[str]:
    """A base URL with a reserved port without a listener, so that connections are refused."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/v1"


def main() -> None:
    """Serve one fixed answer to every client until standard input closes."""
    parser = argparse.ArgumentParser(description="a model server that always says the same")
    parser.add_argument("--chunks", type=int, default=3, help="pieces of text in the answer")
    parser.add_argument("--text", default="word ", help="the text of each piece")
    parser.add_argument("--split", choices=("events", "bytes", "whole"), default="events", help="bytes of one write")
    options = parser.parse_args()
    with running_model_server() as server:
        say = Say(text=(options.text,) * options.chunks, split=options.split)
        rendered = {family: say.render(family) for family in ("openai", "anthropic")}
        server.always(lambda request: rendered[request.family])
        print(json.dumps({"openai_url": server.openai_url, "anthropic_url": server.anthropic_url}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
