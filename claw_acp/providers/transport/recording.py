"""Recording and replay of the exchanges of one service (see `cassette`), for `HttpService`."""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

import httpx
from anyio import lowlevel

from claw_acp.contracts.provider_setup import Cassette
from claw_acp.core.value import replace
from claw_acp.providers.transport.cassette import COMPLETE, EXCHANGE_LIMIT, LEFT, Exchange, Player, Recorder, headers_of

_FAILURES: Final[dict[str, type[httpx.TransportError]]] = {
    kind.__name__: kind
    for kind in (
        httpx.ConnectError,
        httpx.ConnectTimeout,
        httpx.ReadError,
        httpx.ReadTimeout,
        httpx.WriteError,
        httpx.WriteTimeout,
        httpx.PoolTimeout,
        httpx.ProxyError,
        httpx.RemoteProtocolError,
    )
}


class Tape:
    """Sends requests, and records them or replays recorded ones.

    Args:
        cassette: The file and the mode.
        provider: The provider's name for errors.
        secrets: Texts that must never be in the file.
    """

    def __init__(self, cassette: Cassette, *, provider: str, secrets: tuple[str, ...]) -> None:
        replays = cassette.mode == "replay"
        self._player = Player(cassette.path, provider=provider, secrets=secrets) if replays else None
        self._recorder = Recorder(cassette.path, secrets=secrets)
        self._told = False

    async def send(self, client: httpx.AsyncClient, request: httpx.Request, *, path: str) -> httpx.Response:
        """The response with its body unread, as `AsyncClient.send` with `stream=True`.

        Raises:
            httpx.TransportError: There was no response, now or when it was recorded.
            RequestRejected: There is no recorded answer.
        """
        if self._player is not None:
            return _played(await self._player.answer(request.method, path, body=request.content), request=request)
        exchange = Exchange(method=request.method, path=path, body=request.content)
        try:
            response = await client.send(request, stream=True)
        except httpx.TransportError as error:
            await self._recorder.keep(replace(exchange, end=type(error).__name__))
            raise
        assert isinstance(response.stream, httpx.AsyncByteStream)
        exchange = replace(exchange, status=response.status_code, headers=headers_of(response.headers))
        encoding = response.headers.get("content-encoding", "")
        response.stream = _Recorded(response.stream, exchange=exchange, recorder=self._recorder, encoding=encoding)
        return response

    def trouble(self) -> str:
        """The first failure of recording; else empty."""
        if self._told or not self._recorder.trouble:
            return ""
        self._told = True
        return self._recorder.trouble


class _Recorded(httpx.AsyncByteStream):
    """A body that is recorded when it was read, or closed."""

    def __init__(
        self, body: httpx.AsyncByteStream, *, exchange: Exchange, recorder: Recorder, encoding: str = ""
    ) -> None:
        self._body = body
        self._encoding = encoding
        self._exchange = exchange
        self._recorder = recorder
        self._pieces: list[bytes] = []
        self._size = 0
        self._end = LEFT
        self._kept = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._body:
                if self._size < EXCHANGE_LIMIT:
                    self._pieces.append(piece)
                    self._size += len(piece)
                yield piece
        except httpx.TransportError as error:
            self._end = type(error).__name__
            raise
        self._end = COMPLETE

    async def aclose(self) -> None:
        await self._body.aclose()
        if not self._kept:
            self._kept = True
            pieces = tuple(self._pieces) if self._encoding in {"", "identity"} else self._decoded()
            await self._recorder.keep(replace(self._exchange, pieces=pieces, end=self._end))

    def _decoded(self) -> tuple[bytes, ...]:
        """Decompressed body, so that secrets in it can be masked."""
        body = httpx.Response(200, headers={"content-encoding": self._encoding}, content=iter(self._pieces))
        decoded: list[bytes] = []
        size = 0
        with suppress(httpx.DecodingError):
            for piece in body.iter_bytes():
                decoded.append(piece)
                size += len(piece)
                if size >= EXCHANGE_LIMIT:
                    break
        return tuple(decoded)


class _Played(httpx.AsyncByteStream):
    """A recorded body, in its original pieces."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._exchange.pieces:
            await lowlevel.checkpoint()
            yield piece
        _fail(self._exchange.end)


def _played(exchange: Exchange, *, request: httpx.Request) -> httpx.Response:
    if exchange.status is None:
        _fail(exchange.end)
        raise httpx.RemoteProtocolError("the recording has no answer")
    return httpx.Response(exchange.status, headers=list(exchange.headers), stream=_Played(exchange), request=request)


def _fail(end: str) -> None:
    if end not in {COMPLETE, LEFT}:
        raise _FAILURES.get(end, httpx.RemoteProtocolError)("as it was recorded")
