"""HTTP request and response, independent of the HTTP version."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from email.utils import formatdate
from http import HTTPStatus
from typing import Final, TypeAlias

import anyio
from anyio.abc import ByteStream, SocketAttribute

from claw_acp.core.value import Value
from claw_acp.core.version import VERSION
from claw_acp.gateway.http.http_error import HttpError
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.http.receive_budget import ReceiveBudget

PRODUCT: Final = "claw-acp"

RawHeaders: TypeAlias = Sequence[tuple[bytes, bytes]]

_BODILESS: Final = 204
_STRANGERS: Final = frozenset({401, 403})
_POLITELY_READ: Final = 1024 * 1024  # bytes of a refused body that are read, so that the refusal is not lost in a reset
_POLITE: Final = 1.0  # seconds that may take


class Head(Value):
    """Method, path and headers of a request. Header names are in lower case; repeated headers are joined by commas."""

    method: str
    path: str
    headers: Mapping[str, str]
    subprotocols: tuple[str, ...] = ()
    """The subprotocols that a WebSocket request offers; empty for other requests."""
    address: str = ""
    """The client's IP address."""

    @classmethod
    def of(cls, *, method: bytes, target: bytes, headers: Iterable[tuple[bytes, bytes]], address: str = "") -> "Head":
        """Build the head from raw parts; the query is left out."""
        joined: dict[str, str] = {}
        for raw_name, raw_value in headers:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1").strip()
            joined[name] = f"{joined[name]}, {value}" if name in joined else value
        return cls(
            method=method.decode("latin-1").upper(),
            path=target.partition(b"?")[0].decode("latin-1"),
            headers=joined,
            subprotocols=tuple(listed(joined.get("sec-websocket-protocol", ""))),
            address=address,
        )


def address_of(stream: ByteStream) -> str:
    """The IP address of the client at the other end; empty when it is not known."""
    remote = stream.extra(SocketAttribute.remote_address, None)  # noqa: S610 - not of Django
    return str(remote[0]) if isinstance(remote, tuple) else ""


def listed(value: str) -> list[str]:
    """The members of a comma-separated header."""
    return [member for part in value.split(",") if (member := part.strip())]


def phrase(status: int) -> str:
    """The reason phrase of a status."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def raw_headers(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Headers as bytes, together with those that every response has."""
    named = {"server": f"{PRODUCT}/{VERSION}", "date": formatdate(usegmt=True), **headers}
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in named.items()]


class Exchange(ABC):
    """One request and its response. Sending waits while the client is slow.

    Attributes:
        head: The request's head.
        on_admitted: To be called when the client has shown a right to be served.
        extra: Headers added to every response.
        last: Whether the connection closes after this response.
    """

    def __init__(self, head: Head, *, on_admitted: Callable[[], None]) -> None:
        self.head = head
        self.on_admitted = on_admitted
        self.extra: Mapping[str, str] = {}
        self.last = False
        self._whole = False

    # ------------------------------------------------------------------ how it travels

    @abstractmethod
    async def receive(self) -> bytes:
        """The next chunk of the request body; empty at its end.

        Raises:
            ClientGone: The client hung up.
        """

    @abstractmethod
    async def begin(self, status: int, headers: RawHeaders) -> None:
        """Send the head of the response.

        Raises:
            ClientGone: The client hung up.
        """

    @abstractmethod
    async def send(self, piece: bytes) -> None:
        """Send a chunk of the response body.

        Raises:
            ClientGone: The client hung up.
        """

    @abstractmethod
    async def end(self) -> None:
        """Finish the response.

        Raises:
            ClientGone: The client hung up.
        """

    @abstractmethod
    async def gone(self) -> None:
        """Wait until the client hangs up."""

    # ------------------------------------------------------------------ what is made of it

    async def body(self, *, limits: Limits, room: ReceiveBudget) -> bytes:
        """The whole request body. A body over the limit is read to its end as well, so that the refusal arrives.

        Raises:
            Refused: 413 when it is too long, 408 when it takes too long, 503 when too much is being received.
            ClientGone: The client hung up.
        """
        pieces: list[bytes] = []
        refusal: HttpError | None = None
        with anyio.move_on_after(limits.body), room.for_one() as share:
            while piece := await self._piece(limits.gap):
                if refusal is None:
                    pieces.append(piece)
                    refusal = share.grow(len(piece))
            if refusal is not None:
                raise refusal
            return b"".join(pieces)
        self._whole = True  # as much as there will be
        raise HttpError(408, "the body took too long")

    async def _piece(self, gap: float) -> bytes:
        with anyio.move_on_after(gap):
            piece = await self.receive()
            self._whole = not piece
            return piece
        self._whole = True  # as much as there will be
        raise HttpError(408, "the rest of the body did not arrive")

    async def refuse(self, refusal: HttpError) -> None:
        """Respond with a refusal, after reading some of the remaining body. Unauthorized clients must reconnect.

        Raises:
            ClientGone: The client hung up.
        """
        self.last = self.last or refusal.status in _STRANGERS
        with anyio.move_on_after(_POLITE):
            await self._read_on()
        kind = "application/json" if refusal.json else "text/plain; charset=utf-8"
        body = refusal.json or f"{refusal.reason}\n".encode()
        await self.answer(refusal.status, body, {"content-type": kind, **refusal.headers})

    async def _read_on(self) -> None:
        read = 0
        while read < _POLITELY_READ and not self._whole:
            piece = await self.receive()
            read += len(piece)
            self._whole = not piece

    async def answer(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Send a whole response.

        Raises:
            ClientGone: The client hung up.
        """
        length = {} if status == _BODILESS else {"content-length": str(len(body))}
        await self.begin(status, raw_headers({**length, **headers, **self.extra}))
        if body and self.head.method != "HEAD":
            await self.send(body)
        await self.end()

    async def begin_stream(self, headers: Mapping[str, str]) -> None:
        """Send the head of a streamed response.

        Raises:
            ClientGone: The client hung up.
        """
        await self.begin(200, raw_headers({**headers, **self.extra}))
