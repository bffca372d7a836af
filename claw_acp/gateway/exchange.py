"""A request and its answer, whichever version of HTTP carries them."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from email.utils import formatdate
from http import HTTPStatus
from typing import Final, TypeAlias

import anyio

from claw_acp.core.value import Value
from claw_acp.core.version import VERSION
from claw_acp.gateway.limits import Limits
from claw_acp.gateway.refused import Refused
from claw_acp.gateway.room import Room

PRODUCT: Final = "claw-acp"

RawHeaders: TypeAlias = Sequence[tuple[bytes, bytes]]

_BODILESS: Final = 204
_STRANGERS: Final = frozenset({401, 403})
_POLITELY_READ: Final = 1024 * 1024  # bytes of a refused body that are read, so that the refusal is not lost in a reset
_POLITE: Final = 1.0  # seconds that may take


class Head(Value):
    """The head of a request. Names of headers are in lower case; repeated ones are joined by commas."""

    method: str
    path: str
    headers: Mapping[str, str]
    subprotocols: tuple[str, ...] = ()
    """What a WebSocket offers; empty for other requests."""

    @classmethod
    def of(cls, *, method: bytes, target: bytes, headers: Iterable[tuple[bytes, bytes]]) -> "Head":
        """The head as it came; the query is left out."""
        joined: dict[str, str] = {}
        for raw_name, raw_value in headers:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1").strip()
            joined[name] = f"{joined[name]}, {value}" if name in joined else value
        return cls(
            method=method.decode("latin-1").upper(),
            path=target.partition(b"?")[0].decode("latin-1"),
            headers=joined,
            subprotocols=tuple(listed(joined.get("sec-websocket-protocol", ""))),
        )


def listed(value: str) -> list[str]:
    """The members of a header that is a list."""
    return [member for part in value.split(",") if (member := part.strip())]


def phrase(status: int) -> str:
    """What a status is called."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def raw_headers(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Headers as they travel, with those that every answer has."""
    named = {"server": f"{PRODUCT}/{VERSION}", "date": formatdate(usegmt=True), **headers}
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in named.items()]


class Exchange(ABC):
    """One request and its answer. What is sent waits while the client is slow.

    Attributes:
        head: The request's head.
        extra: Headers that every answer gets.
        last: Whether the client has to come again for another request.
    """

    def __init__(self, head: Head) -> None:
        self.head = head
        self.extra: Mapping[str, str] = {}
        self.last = False
        self._whole = False

    # ------------------------------------------------------------------ how it travels

    @abstractmethod
    async def receive(self) -> bytes:
        """The next piece of the body; empty at its end.

        Raises:
            ClientGone: The client hung up.
        """

    @abstractmethod
    async def begin(self, status: int, headers: RawHeaders) -> None:
        """Send the head of the answer.

        Raises:
            ClientGone: The client hung up.
        """

    @abstractmethod
    async def send(self, piece: bytes) -> None:
        """Send more of its body.

        Raises:
            ClientGone: The client hung up.
        """

    @abstractmethod
    async def end(self) -> None:
        """The answer is whole.

        Raises:
            ClientGone: The client hung up.
        """

    @abstractmethod
    async def gone(self) -> None:
        """Wait until the client hangs up."""

    # ------------------------------------------------------------------ what is made of it

    async def body(self, *, limits: Limits, room: Room) -> bytes:
        """The whole body. What is too long is read to its end all the same, so that the answer is not lost.

        Raises:
            Refused: 413 when it is too long, 408 when it takes too long, 503 when too much is being received.
            ClientGone: The client hung up.
        """
        pieces: list[bytes] = []
        refusal: Refused | None = None
        with anyio.move_on_after(limits.body), room.for_one() as share:
            while piece := await self._piece(limits.gap):
                if refusal is None:
                    pieces.append(piece)
                    refusal = share.grow(len(piece))
            if refusal is not None:
                raise refusal
            return b"".join(pieces)
        self._whole = True  # as much as there will be
        raise Refused(408, "the body took too long")

    async def _piece(self, gap: float) -> bytes:
        with anyio.move_on_after(gap):
            piece = await self.receive()
            self._whole = not piece
            return piece
        self._whole = True  # as much as there will be
        raise Refused(408, "nothing more of the body came")

    async def refuse(self, refusal: Refused) -> None:
        """Answer with a refusal, after a look at what is left of the body. Strangers have to come again.

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
        """Send a whole answer.

        Raises:
            ClientGone: The client hung up.
        """
        length = {} if status == _BODILESS else {"content-length": str(len(body))}
        await self.begin(status, raw_headers({**length, **headers, **self.extra}))
        if body and self.head.method != "HEAD":
            await self.send(body)
        await self.end()

    async def begin_stream(self, headers: Mapping[str, str]) -> None:
        """Send the head of an answer whose body comes in pieces.

        Raises:
            ClientGone: The client hung up.
        """
        await self.begin(200, raw_headers({**headers, **self.extra}))
