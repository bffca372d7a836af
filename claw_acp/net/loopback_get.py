"""One small GET to a program on this machine, at once or not at all; loading an HTTP library would take longer.

HTTP/1.0, so that whoever answers does not keep the connection.
"""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import anyio

from claw_acp.core.value import Value

CONNECT_TIMEOUT = 0.2  # seconds; a port of this machine is open or it is not
ANSWER_TIMEOUT = 2.0  # seconds until the whole answer is there
ANSWER_LIMIT = 1024 * 1024  # bytes


class Answer(Value):
    """What came back."""

    status: int
    body: bytes


async def get(url: str, *, headers: tuple[tuple[str, str], ...] = ()) -> Answer | None:
    """The answer, of whatever status; None when nobody listens, or what listens does not speak HTTP."""
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
    """Everything until the end of the answer: where its length says, else where the connection ends.

    Raises:
        ValueError: It is longer than `ANSWER_LIMIT`.
    """
    data = b""
    end = ANSWER_LIMIT
    while len(data) < end:
        try:
            data += await receive()
        except anyio.EndOfStream:
            return data
        head, blank, _ = data.partition(b"\r\n\r\n")
        if blank and (length := _length(head)) is not None:
            end = len(head) + len(blank) + length
        if end > ANSWER_LIMIT or (len(data) > end):
            raise ValueError("the answer is too long")
    return data


def _length(head: bytes) -> int | None:
    for line in head.split(b"\r\n")[1:]:
        if value := _named(line, b"content-length"):
            return int(value)
    return None


def _named(line: bytes, name: bytes) -> bytes:
    own, _, value = line.partition(b":")
    return value.strip().lower() if own.strip().lower() == name else b""


def _joined(chunks: bytes) -> bytes:
    """What servers send that speak only HTTP/1.1: pieces, each after its length."""
    body = b""
    while chunks:
        line, _, rest = chunks.partition(b"\r\n")
        size = int(line.partition(b";")[0], 16)
        body, chunks = body + rest[:size], rest[size + 2 :] if size else b""
    return body


def _answer(data: bytes) -> Answer:
    """Raises ValueError for what is not an answer in HTTP."""
    head, blank, body = data.partition(b"\r\n\r\n")
    if any(_named(line, b"transfer-encoding") == b"chunked" for line in head.split(b"\r\n")[1:]):
        body = _joined(body)
    version, _, rest = head.split(b"\r\n", 1)[0].partition(b" ")
    if not blank or not version.startswith(b"HTTP/1."):
        raise ValueError("this is not HTTP")
    return Answer(status=int(rest[:3]), body=body)
