"""What the HTTP server hands over (ASGI), in the terms of the gateway."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any, Final, Literal, TypeAlias

import anyio

from claw_acp.core.value import Value
from claw_acp.core.version import VERSION
from claw_acp.gateway.limits import Limits
from claw_acp.gateway.refused import ClientGone, Refused
from claw_acp.gateway.room import Room

Event: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Event]]
Send: TypeAlias = Callable[[Event], Awaitable[None]]

PRODUCT: Final = "claw-acp"

_POLITELY_READ = 1024 * 1024  # bytes of a refused body that are read, so that the refusal is not lost in a reset
_POLITE = 1.0  # seconds that may take


class Head(Value):
    """The head of a request. Names of headers are in lower case; repeated ones are joined by commas."""

    kind: Literal["http", "websocket"]
    method: str
    path: str
    headers: Mapping[str, str]
    client: tuple[str, int] | None
    subprotocols: tuple[str, ...] = ()

    @classmethod
    def of(cls, scope: Event) -> "Head":
        """The head that an ASGI scope describes."""
        return cls(
            kind=scope["type"],
            method=scope.get("method", "GET"),
            path=scope["path"],
            headers=_joined(scope["headers"]),
            client=scope.get("client"),
            subprotocols=tuple(scope.get("subprotocols", ())),
        )


def _joined(pairs: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    headers: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1").strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def raw_headers(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Headers as ASGI wants them."""
    named = {"server": f"{PRODUCT}/{VERSION}", **headers}
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in named.items()]


class Exchange:
    """One HTTP request and its answer.

    Args:
        head: The request's head.
        receive: As ASGI has it.
        send: As ASGI has it.
        extra: Headers that every answer gets.
    """

    def __init__(self, head: Head, receive: Receive, send: Send, *, extra: Mapping[str, str]) -> None:
        self.head = head
        self._receive = receive
        self._send = send
        self._extra = extra
        self._whole = False

    async def body(self, *, limits: Limits, room: Room) -> bytes:
        """The whole body.

        What is too long is read to its end all the same: an answer in the middle of a body would be lost to many
        clients, and would cost one of HTTP/2 its whole connection.

        Raises:
            Refused: 413 when it is too long, 408 when it takes too long, 503 when too much is being received.
            ClientGone: The client hung up.
        """
        pieces: list[bytes] = []
        refusal: Refused | None = None
        with anyio.move_on_after(limits.body), room.for_one() as share:
            more = True
            while more:
                piece, more = await self._piece(limits.gap)
                if refusal is None:
                    pieces.append(piece)
                    refusal = share.grow(len(piece))
            if refusal is not None:
                raise refusal
            return b"".join(pieces)
        self._whole = True  # as much as there will be
        raise Refused(408, "the body took too long")

    async def _piece(self, gap: float) -> tuple[bytes, bool]:
        with anyio.move_on_after(gap):
            event = await self._receive()
            if event["type"] == "http.disconnect":
                raise ClientGone
            self._whole = not event.get("more_body", False)
            return event.get("body", b""), not self._whole
        self._whole = True  # as much as there will be
        raise Refused(408, "nothing more of the body came")

    async def refuse(self, refusal: Refused) -> None:
        """Answer with a refusal, after a look at what is left of the body."""
        with anyio.move_on_after(_POLITE):
            await self._read_on()
        kind = "application/json" if refusal.json else "text/plain; charset=utf-8"
        body = refusal.json or f"{refusal.reason}\n".encode()
        await self.answer(refusal.status, body, {"content-type": kind, **refusal.headers})

    async def _read_on(self) -> None:
        read = 0
        while read < _POLITELY_READ and not self._whole:
            event = await self._receive()
            read += len(event.get("body", b""))
            self._whole = not event.get("more_body", False)

    async def answer(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Send a whole answer."""
        await self.begin(status, {"content-length": str(len(body)), **headers})
        await self._send({"type": "http.response.body", "body": body})

    async def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the head of an answer."""
        listed = raw_headers({**headers, **self._extra})
        await self._send({"type": "http.response.start", "status": status, "headers": listed})

    async def send_piece(self, piece: bytes) -> None:
        """Send more of the body; waits while the client is slow."""
        await self._send({"type": "http.response.body", "body": piece, "more_body": True})

    async def end(self) -> None:
        """End a body that was sent in pieces."""
        await self._send({"type": "http.response.body", "body": b""})

    async def gone(self) -> None:
        """Wait until the client hangs up."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
