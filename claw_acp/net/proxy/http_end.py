"""One end of an HTTP/1.1 connection: a stream, and h11 which implements the protocol."""

from typing import TypeAlias

import anyio
import h11
from anyio.abc import ByteStream

from claw_acp.net.proxy.limits import Limits
from claw_acp.net.proxy.refusal import Refusal
from claw_acp.net.proxy.tunnel import BROKEN

Sendable: TypeAlias = h11.Request | h11.InformationalResponse | h11.Response | h11.Data | h11.EndOfMessage


class HttpEnd:
    """Receives and sends messages in parts.

    Args:
        role: `h11.SERVER` towards a client, `h11.CLIENT` towards a server.
        stream: The connection.
        limits: Limits.
        early: Bytes that were received before.
    """

    def __init__(
        self, role: type[h11.SERVER | h11.CLIENT], stream: ByteStream, *, limits: Limits, early: bytes = b""
    ) -> None:
        self.stream = stream
        self._protocol = h11.Connection(role, max_incomplete_event_size=limits.head)
        self._limits = limits
        if early:
            self._protocol.receive_data(early)

    @property
    def rest(self) -> bytes:
        """Bytes that were received and belong to no message: behind a request for a tunnel, for example."""
        return self._protocol.trailing_data[0]

    @property
    def reusable(self) -> bool:
        """True when one exchange is complete and another may follow."""
        return self._protocol.our_state is self._protocol.their_state is h11.DONE

    async def receive(self) -> h11.Event | None:
        """The next part of a message, or the end of the connection; None between two exchanges.

        A stream that breaks is one that ends.

        Raises:
            h11.RemoteProtocolError: The other side does not speak HTTP.
        """
        event = self._protocol.next_event()
        while event is h11.NEED_DATA:
            try:
                data = await self.stream.receive()
            except (anyio.EndOfStream, *BROKEN):
                data = b""
            self._protocol.receive_data(data)
            event = self._protocol.next_event()
        return event if isinstance(event, h11.Event) else None

    async def send(self, event: Sendable) -> None:
        """Send a part of a message."""
        if data := self._protocol.send(event):
            await self.stream.send(data)

    def next(self) -> None:
        """Begin another exchange."""
        self._protocol.start_next_cycle()

    async def refuse(self, refusal: Refusal) -> None:
        """Respond with a refusal, unless a response has begun, and close so that it arrives."""
        if self._protocol.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            return
        body = f"{refusal.text}\n".encode()
        headers = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body)), "connection": "close"}
        response = h11.Response(
            status_code=refusal.status, reason=refusal.phrase.encode("ascii"), headers=list(headers.items())
        )
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            await self.send(event)
        await self._linger()

    async def _linger(self) -> None:
        """End our half, and read what is still on its way: closing with unread data would discard the response."""
        with anyio.move_on_after(self._limits.linger):
            try:
                await self.stream.send_eof()
                while True:
                    await self.stream.receive()
            except (anyio.EndOfStream, *BROKEN):
                return
