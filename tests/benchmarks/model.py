"""The model of the benchmarks: an OpenAI-style server on loopback, in a process of its own, with no delay.

It is blocking and prepares its answers in advance, so that it takes little of the machine it shares with what is being
measured. The last message chooses the answer; each answer's times are kept until `Model.exchanges` collects them.
`perf_counter_ns` is one clock for all processes of a machine, so they compare with the client's.

    small               a few words; also the answer to anything unknown and to every tool result
    read PATH           one call of `read_file`
    stream COUNT        small pieces of text, a write each
    burst COUNT         the same in a single write
    paced COUNT         each a write, `PACE` apart, saying when it was sent
"""

import json
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from http.client import HTTPConnection
from typing import Any, NamedTuple, cast

from tests.support.servers.model_replies import Call, Say

PACE = 0.002  # seconds between paced pieces: faster than any model, slow enough that none waits for the one before
WORD = "word "  # the text of one small piece
SMALL = ("All ", "is ", "well.")
MOMENT = b"#" * 20  # stands for the moment of sending, in nanoseconds
SIZED = ("stream", "burst", "read")  # kinds whose argument matters
END = b"0\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\ntransfer-encoding: chunked\r\n\r\n"
ANSWER_WITHIN = 10.0  # seconds for the model to say where it is, and for its times


class Exchange(NamedTuple):
    """When one answer was given, in nanoseconds: request read, first write of the body begins, last write begins."""

    received: int
    first: int
    last: int

    @property
    def own(self) -> int:
        """The model's own time."""
        return self.last - self.received


class Model:
    """A running model server. Made by `running_model`."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self._port = port

    def exchanges(self) -> list[Exchange]:
        """The answers given since the last call."""
        connection = HTTPConnection("127.0.0.1", self._port, timeout=ANSWER_WITHIN)
        try:
            connection.request("GET", "/exchanges")
            rows: list[list[int]] = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        return [Exchange(*row) for row in rows]

    def read_directly(self, text: str) -> int:
        """Nanoseconds from the first write of an answer to its last byte, for a client that only reads."""
        question = {"messages": [{"role": "user", "content": text}]}
        connection = HTTPConnection("127.0.0.1", self._port, timeout=ANSWER_WITHIN)
        self.exchanges()
        try:
            connection.request("POST", "/v1/chat/completions", body=json.dumps(question))
            connection.getresponse().read()
            at = time.perf_counter_ns()
        finally:
            connection.close()
        (exchange,) = self.exchanges()
        return at - exchange.first


@contextmanager
def running_model() -> Generator[Model]:
    """The model in a process of its own, which ends with the block."""
    command = (sys.executable, "-m", "tests.benchmarks.model")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Model(int(process.stdout.readline()))
        finally:
            process.stdin.close()


# ---------------------------------------------------------------- answers


class Body(NamedTuple):
    """An answer as the writes that make it; the last one holds the end of the answer and of the body."""

    most: Iterable[bytes]
    last: bytes


@cache
def prepared(kind: str, argument: str) -> Body:
    """A body made in advance."""
    match kind:
        case "stream":
            events = _rendered(Say(text=(WORD,) * int(argument)))
        case "burst":
            events = [b"".join(_rendered(Say(text=(WORD,) * int(argument))))]
        case "read":
            events = _rendered(Say(calls=(Call(name="read_file", arguments={"path": argument}),)))
        case _:
            events = _rendered(Say(text=SMALL))
    *most, last = [_chunk(event) for event in events]
    return Body(most, last + END)


def paced(count: int) -> Body:
    """Pieces whose text is the moment of their sending."""
    begin, piece, *ending = _rendered(Say(text=(MOMENT.decode(),)))
    blank = _chunk(piece)

    def writes() -> Iterator[bytes]:
        yield _chunk(begin)
        for _ in range(count):
            time.sleep(PACE)
            yield blank.replace(MOMENT, b"%*d " % (len(MOMENT) - 1, time.perf_counter_ns()))

    return Body(writes(), b"".join(map(_chunk, ending)) + END)


def _rendered(say: Say) -> Sequence[bytes]:
    return [piece for piece in say.render("openai").pieces if isinstance(piece, bytes)]


def _chunk(event: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(event), event)


def _asked(body: bytes) -> tuple[str, str]:
    """What the last message asks for, in its last line: a kind and its argument."""
    last: dict[str, Any] = json.loads(body)["messages"][-1]
    if last["role"] == "tool":
        return "small", ""
    content: Any = last["content"]
    text = content if isinstance(content, str) else "".join(part["text"] for part in content)
    kind, _, argument = text.rpartition("\n")[2].partition(" ")
    return kind, argument


# ---------------------------------------------------------------- the server


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64
    exchanges: list[Exchange]


class _Connection(socketserver.StreamRequestHandler):
    """One connection, kept for as many requests as the client likes."""

    disable_nagle_algorithm = True
    rbufsize = 64 * 1024

    def handle(self) -> None:
        with suppress(ConnectionError):  # the agent was killed
            self._serve()

    def _serve(self) -> None:
        while head := self._head():
            size = int(head.get("content-length", "0"))
            body = self.rfile.read(size)
            if len(body) < size:
                return
            received = time.perf_counter_ns()
            if head["method"] == "POST":
                self._answer(_asked(body), received=received)
            else:
                self._report(head["path"])

    def _head(self) -> dict[str, str]:
        """Header fields in lower case, with `method` and `path`; empty at the connection's end."""
        line = self.rfile.readline()
        if not line:
            return {}
        method, path, _ = line.decode().split(" ")
        head = {"method": method, "path": path}
        while (field := self.rfile.readline().strip()) != b"":
            name, _, value = field.decode("latin-1").partition(":")
            head[name.lower()] = value.strip()
        return head

    def _answer(self, asked: tuple[str, str], *, received: int) -> None:
        kind, argument = asked
        body = paced(int(argument)) if kind == "paced" else prepared(kind, argument if kind in SIZED else "")
        send = self.connection.sendall
        send(HEAD % b"text/event-stream")
        first = time.perf_counter_ns()
        for piece in body.most:
            send(piece)
        # Kept before the end is sent, so that whoever has seen the end finds it.
        cast("_Server", self.server).exchanges.append(Exchange(received, first, time.perf_counter_ns()))
        send(body.last)

    def _report(self, path: str) -> None:
        server = cast("_Server", self.server)
        content: Any = {"object": "list", "data": [{"id": "test-model", "object": "model"}]}
        if path == "/exchanges":
            content, server.exchanges = server.exchanges, []
        self.connection.sendall(HEAD % b"application/json" + _chunk(json.dumps(content).encode()) + END)


def main() -> None:
    """Print the port and serve until standard input closes."""
    with _Server(("127.0.0.1", 0), _Connection) as server:
        server.exchanges = []
        prepared("small", "")
        print(server.server_address[1], flush=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdin.read()
        server.shutdown()


if __name__ == "__main__":
    main()
