"""A small HTTP/1.1 server on loopback, on threads of its own: a function answers, and requests are recorded."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """A received request. The path is unchanged, header names are lower-case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Answered(NamedTuple):
    """A response: each piece is a chunk of a chunked body; `whole` False leaves the body without its end."""

    pieces: Sequence[bytes] = ()
    status: int = 200
    kind: str = "application/json"
    headers: Mapping[str, str] = {}
    whole: bool = True


class Loopback(ThreadingHTTPServer):
    """Answers every request with the result of `answer`."""

    daemon_threads = True

    def __init__(self, answer: Callable[[Asked], Answered]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.asked: list[Asked] = []

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Do nothing: tests disconnect on purpose."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.command, self.path, headers, body)
        assert isinstance(self.server, Loopback)
        self.server.asked.append(asked)
        answer = self.server.answer(asked)
        self.send_response(answer.status)
        for name, value in {"content-type": answer.kind, **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for piece in answer.pieces:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        if answer.whole:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    do_GET = do_OPTIONS = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - the base class calls them so

    def log_message(self, format: str, *args: object) -> None:
        """Do nothing: tests read `asked`."""


@contextmanager
def serving(server: Loopback) -> Generator[None]:
    """Run a server until the block ends."""
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
