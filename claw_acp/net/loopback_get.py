"""A small GET client for servers on this machine; importing an HTTP library would take longer than the request.

It speaks HTTP/1.0, so that servers do not keep the connection open.
"""

from collections.abc import Awaitable, Callable, Iterator
from urllib.parse import urlsplit

import anyio

from claw_acp.core.value import Value

CONNECT_TIMEOUT = 1.0  # seconds; a port of this machine is open or it is not, but the machine may be busy
ANSWER_TIMEOUT = 2.0  # seconds until the whole answer is there
ANSWER_LIMIT = 1024 * 1024  # bytes
HEAD_LIMIT = 16 * 1024  # bytes before the body
CHUNKS_LIMIT = 16 * 1024  # pieces of one body, in what servers send that speak only HTTP/1.1
SIZE_LIMIT = 256  # characters of the line before a piece


class Answer(Value):
    """A response: its status and its body."""

    status: int
    body: bytes


async def get(url: str, *, headers: tuple[tuple[str, str], ...] = ()) -> Answer | None:
    """The response, whatever its status; None when nothing listens there or it does not speak HTTP."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    shown = "".join(f"{name}: {value}\r\n" for name, value in headers)
    request = (
        f"GET {parts.path or '/'} HTTP/1.0\r\nHost: {parts.netloc}\r\n"
        f"User-Agent: claw-acp\r\nAccept: application/json\r\n{shown}Connection: close\r\n\r\n"
    )
    try:
        with anyio.fail_after(CONNECT_TIMEOUT):
            stream = await anyio.connect_tcp(parts.hostname or "", port, tls=parts.scheme == "https")
        async with stream:
            with anyio.fail_after(ANSWER_TIMEOUT):
                await stream.send(request.encode("latin-1"))
                return _answer(await _all(stream.receive))
    except (OSError, TimeoutError, anyio.EndOfStream, anyio.BrokenResourceError, ValueError):
        return None


async def _all(receive: Callable[[], Awaitable[bytes]]) -> bytes:
    """All bytes of the response, up to its content length or else the end of the connection.

    Raises:
        ValueError: It is longer than `ANSWER_LIMIT`.
    """
    data = bytearray()
    end, body = ANSWER_LIMIT, 0
    while len(data) < end:
        seen = max(0, len(data) - 3)
        try:
            data += await receive()
        except anyio.EndOfStream:
            break
        if not body and (blank := data.find(b"\r\n\r\n", seen)) >= 0:
            body = blank + 4
            if (length := _length(bytes(data[:blank]))) is not None:
                end = body + length
        if end > ANSWER_LIMIT or len(data) > (end if body else HEAD_LIMIT):
            raise ValueError("the answer is too long")
    return bytes(data)


def _length(head: bytes) -> int | None:
    for line in head.split(b"\r\n")[1:]:
        if value := _named(line, b"content-length"):
            return _number(value, base=10)
    return None


def _named(line: bytes, name: bytes) -> bytes:
    own, _, value = line.partition(b":")
    return value.strip().lower() if own.strip().lower() == name else b""


def _number(text: bytes, *, base: int) -> int:
    """Parse a number. Raises ValueError also for signs, blanks and underscores, which `int` accepts."""
    if not text.isalnum():
        raise ValueError("this is no number")
    return int(text, base)


def chunks(body: bytes) -> Iterator[bytes]:
    """The pieces of a chunked body, for servers that speak only HTTP/1.1. Reads each byte of `body` once.

    Raises:
        ValueError: It is not chunked, or there are more than `CHUNKS_LIMIT`.
    """
    at = 0
    for _ in range(CHUNKS_LIMIT):
        line_end = body.find(b"\r\n", at, at + SIZE_LIMIT)
        if line_end < 0:
            break
        size = _number(body[at:line_end].partition(b";")[0].strip(), base=16)
        if not size:
            return
        at = line_end + 2 + size + 2
        yield body[line_end + 2 : at - 2]
    if at < len(body):
        raise ValueError("these are no chunks, or too many")


def _answer(data: bytes) -> Answer:
    """Parse a whole response. Raises ValueError when it is not HTTP."""
    head, blank, body = data.partition(b"\r\n\r\n")
    if any(_named(line, b"transfer-encoding") == b"chunked" for line in head.split(b"\r\n")[1:]):
        body = b"".join(chunks(body))
    version, _, rest = head.split(b"\r\n", 1)[0].partition(b" ")
    if not blank or not version.startswith(b"HTTP/1."):
        raise ValueError("this is not HTTP")
    return Answer(status=_number(rest[:3], base=10), body=body)
