"""One connection of a command to the proxy: requests in plain HTTP one after the other, or a tunnel."""

from typing import Final

import anyio
import h11
from anyio.abc import ByteStream

from claw_acp.core.errors import ClawError
from claw_acp.net.proxy.client_hello import UNRECOGNIZED_NAME, BadHello, is_tls, read_hello
from claw_acp.net.proxy.destination import DEFAULT_PORTS, HTTP_PORT, BadDestination, Destination, destination_of
from claw_acp.net.proxy.exchange import Exchange, destination_in
from claw_acp.net.proxy.gate import Gate
from claw_acp.net.proxy.http_end import HttpEnd
from claw_acp.net.proxy.limits import Limits
from claw_acp.net.proxy.refusal import Refusal, blocked, not_understood, undecided
from claw_acp.net.proxy.tunnel import Tunnel
from claw_acp.net.proxy.verdict import Verdict

NO_TLS: Final = "Only TLS is carried to this port, and what was sent is something else."
NO_NAME: Final = "The TLS connection does not name the server that it wants."
LONGEST_SHOWN: Final = 100
ENCRYPTED: Final = "The TLS connection may want another server, whose name is encrypted (ECH)."


class ProxyConnection:
    """Serves one connection.

    Args:
        stream: The connection.
        gate: Decides, and connects.
        limits: Limits.
        early: Bytes that were received before.
        tunnel_to: The destination of the tunnel that this connection is inside of.
    """

    def __init__(
        self,
        stream: ByteStream,
        gate: Gate,
        *,
        limits: Limits,
        early: bytes = b"",
        tunnel_to: Destination | None = None,
    ) -> None:
        self._stream = stream
        self._gate = gate
        self._limits = limits
        self._tunnel_to = tunnel_to
        self._client = HttpEnd(h11.SERVER, stream, limits=limits, early=early)

    async def run(self) -> None:
        """Serve until either side is done."""
        seconds = self._limits.first_request
        try:
            while (request := await self._next_request(seconds)) is not None:
                if request.method == b"CONNECT" and self._tunnel_to is None:
                    await self._serve_tunnel(request)
                    return
                await self._serve_request(request)
                if not self._client.reusable:
                    return
                self._client.next()
                seconds = self._limits.unused
        except Refusal as refusal:
            await self._client.refuse(refusal)
        except ClawError as error:
            await self._client.refuse(undecided(error))
        except h11.RemoteProtocolError as error:
            await self._client.refuse(not_understood(f"This is no request to a proxy: {error}"))

    async def _next_request(self, seconds: float) -> h11.Request | None:
        """The next request; None when none came in time or the client is done."""
        with anyio.move_on_after(seconds):
            event = await self._client.receive()
            return event if isinstance(event, h11.Request) else None
        return None

    # ------------------------------------------------------------------ plain HTTP

    async def _serve_request(self, request: h11.Request) -> None:
        destination, target = destination_in(request, tunnel_to=self._tunnel_to)
        if self._tunnel_to is not None and self._tunnel_to != destination:
            other = Verdict(allowed=False, reason=f"It is a request to another server, {destination.named}.")
            await self._gate.refuse(self._tunnel_to, other)
            raise blocked(other)
        verdict = await self._gate.admit(destination)
        async with self._gate.connection(destination, verdict) as stream:
            await Exchange(request, self._client, stream, limits=self._limits).run(destination, target)

    # ------------------------------------------------------------------ tunnels

    async def _serve_tunnel(self, request: h11.Request) -> None:
        try:
            destination = destination_of(request.target.decode("ascii"))
        except BadDestination as error:
            raise not_understood(error) from error
        verdict = await self._gate.admit(destination)
        end: h11.Event | None = None
        with anyio.move_on_after(self._limits.unused):
            end = await self._client.receive()
        if not isinstance(end, h11.EndOfMessage):
            raise not_understood("A request for a tunnel has no body")
        if destination.port == HTTP_PORT:
            await self._open_either(destination, verdict)
        else:
            async with self._gate.connection(destination, verdict) as stream:
                await self._accept()
                await self._carry(destination, stream, self._client.rest)

    async def _accept(self) -> None:
        await self._client.send(h11.Response(status_code=200, headers=[], reason=b"Connected"))

    async def _open_either(self, destination: Destination, verdict: Verdict) -> None:
        """Serve a tunnel to a port on which servers speak plain HTTP: requests in it are checked as any other."""
        await self._accept()
        early = self._client.rest
        with anyio.move_on_after(self._limits.unused):
            early = early or await self._stream.receive()
        if early and is_tls(early):
            async with self._gate.connection(destination, verdict) as stream:
                await self._carry(destination, stream, early)
        elif early:
            inner = ProxyConnection(self._stream, self._gate, limits=self._limits, early=early, tunnel_to=destination)
            await inner.run()

    async def _carry(self, destination: Destination, stream: ByteStream, early: bytes) -> None:
        async def first() -> bytes:
            return await self._first_bytes(destination, early)

        await Tunnel(self._stream, stream, idle=self._limits.idle).run(first)

    async def _first_bytes(self, destination: Destination, early: bytes) -> bytes:
        """The first bytes of the client, with the name of the server if they are TLS; none if they are refused."""
        data = early or await self._stream.receive()
        if not is_tls(data):
            return data if destination.port not in DEFAULT_PORTS else await self._cut_off(destination, NO_TLS)
        try:
            while (hello := read_hello(data)) is None:
                data += await self._stream.receive()
        except BadHello as error:
            return await self._cut_off(destination, f"{error}.")
        if hello.encrypted:
            return await self._cut_off(destination, ENCRYPTED)
        if hello.server_name != destination.host:
            other = (
                f"It is a TLS connection to another server, {_shown(hello.server_name)}."
                if hello.server_name
                else NO_NAME
            )
            return await self._cut_off(destination, other)
        return data

    async def _cut_off(self, destination: Destination, reason: str) -> bytes:
        await self._gate.refuse(destination, Verdict(allowed=False, reason=reason))
        await self._stream.send(UNRECOGNIZED_NAME)
        return b""


def _shown(name: str) -> str:
    """A name that a program made up, for people and models."""
    return repr(name if len(name) <= LONGEST_SHOWN else f"{name[:LONGEST_SHOWN]}...")
