"""MCP over HTTP: streamable HTTP, and the older form with server-sent events."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from urllib.parse import urlsplit

import httpx2
from anyio import to_thread
from mcp.client._transport import TransportStreams
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from claw_acp.contracts.mcp_server import HttpServer
from claw_acp.mcp.diagnostics import Diagnostics
from claw_acp.mcp.failure import ServerFailed

CONNECT_SECONDS = 10.0  # until name, TCP and TLS stand
LARGEST = 32 * 1024 * 1024  # bytes of one answer or event; pictures travel inside them

_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


@asynccontextmanager
async def http_streams(spec: HttpServer, *, evidence: Diagnostics) -> AsyncGenerator[TransportStreams]:
    """The streams to the server at an address.

    Redirects within its origin are followed, others are not: our headers are meant for this server alone. Callers limit
    the time of their requests; a silent stream of events is normal.

    Raises:
        ServerFailed: The address or a header cannot be used.
    """
    _check(spec)
    client = await to_thread.run_sync(partial(_make_client, spec, evidence), abandon_on_cancel=True)

    def made_already(
        headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
    ) -> httpx2.AsyncClient:
        del headers, timeout, auth  # it has its own
        return client

    if spec.kind == "sse":
        async with sse_client(spec.url, httpx_client_factory=made_already) as streams:
            yield streams
    else:
        async with (
            client,
            streamable_http_client(spec.url, http_client=client, max_sse_event_size=LARGEST) as streams,
        ):
            yield streams


def _make_client(spec: HttpServer, evidence: Diagnostics) -> httpx2.AsyncClient:
    """A client created in a thread: reading the certificates takes some 50 ms, too long to block other sessions."""

    async def look(response: httpx2.Response) -> None:
        if spec.kind == "sse" or response.request.method == "POST":  # many refuse the GET of streamable HTTP, rightly
            refused = response.status_code >= HTTPStatus.BAD_REQUEST
            evidence.status = response.status_code if refused else None
        if "text/event-stream" not in response.headers.get("content-type", ""):  # the size of events has its own bound
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _Bounded(response.stream)

    return httpx2.AsyncClient(
        headers=dict(spec.headers),
        timeout=httpx2.Timeout(CONNECT_SECONDS, read=None),
        event_hooks={"response": [look]},
        trust_env=urlsplit(spec.url).hostname not in _HERE,  # a proxy for the world is none for this machine
    )


class _Bounded(httpx2.AsyncByteStream):
    """A body that fails when it grows too large; this affects only its request."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > LARGEST:
                raise httpx2.StreamError(f"the answer is larger than {LARGEST} bytes")
            yield chunk

    async def aclose(self) -> None:
        """See `AsyncByteStream`."""
        await self._stream.aclose()


def _check(spec: HttpServer) -> None:
    try:
        httpx2.URL(spec.url)  # stricter: it knows which names a host can have
        parts = urlsplit(spec.url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except (ValueError, httpx2.InvalidURL):
        usable = False
    if not usable:
        raise ServerFailed("has no usable address", advice="Write one that begins with http:// or https://.")
    for name, value in spec.headers.items():
        if not (name.isascii() and name.isprintable() and value.isascii() and value.isprintable()):
            raise ServerFailed(
                f"cannot be asked: the header {name!r} holds a character that cannot be sent",
                advice="Look for a line break or a letter that is not ASCII in it.",
            )
