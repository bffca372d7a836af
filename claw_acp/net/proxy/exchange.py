"""One request in plain HTTP: it is read, written anew for its destination, and the response is passed on.

Nothing is copied that could be understood in another way there (smuggling): both messages are parsed and written by
h11, and what either side says about its own connection stays there.
"""

from typing import Final, TypeAlias

import anyio
import h11
from anyio.abc import ByteStream

from claw_acp.net.proxy.destination import HTTP_PORT, BadDestination, Destination, destination_of, target_of
from claw_acp.net.proxy.http_end import HttpEnd
from claw_acp.net.proxy.limits import Limits
from claw_acp.net.proxy.refusal import not_understood, unreachable
from claw_acp.net.proxy.tunnel import BROKEN, Tunnel

Headers: TypeAlias = list[tuple[bytes, bytes]]

_OF_ONE_CONNECTION: Final = frozenset(
    b"""connection keep-alive proxy-connection proxy-authorization proxy-authenticate te trailer transfer-encoding
    upgrade http2-settings""".split()
)
_LENGTH: Final = frozenset({b"content-length"})
_SWITCHED: Final = 101


def destination_in(request: h11.Request, *, tunnel_to: Destination | None) -> tuple[Destination, str]:
    """The destination of a request, and what it asks for there.

    Args:
        request: The request.
        tunnel_to: The destination of the tunnel in which it came; its requests are for a server, not for a proxy.

    Raises:
        Refusal: It is ambiguous, or not for a proxy.
    """
    names = {name for name, _ in request.headers}
    if b"transfer-encoding" in names and (b"content-length" in names or request.http_version < b"1.1"):
        raise not_understood("A request with two lengths can be understood in two ways")
    target = request.target.decode("ascii")
    try:
        if tunnel_to is None or not target.startswith("/"):
            return target_of(target)
        host = next((value for name, value in request.headers if name == b"host"), b"")
        return destination_of(host.decode("latin-1"), port=HTTP_PORT), target
    except BadDestination as error:
        raise not_understood(error) from error


class Exchange:
    """A request and its response.

    Args:
        request: The request, whose body follows.
        client: The program that sent it.
        stream: A connection to its destination, for it alone.
        limits: Limits.
    """

    def __init__(self, request: h11.Request, client: HttpEnd, stream: ByteStream, *, limits: Limits) -> None:
        self._request = request
        self._client = client
        self._server = HttpEnd(h11.CLIENT, stream, limits=limits)
        self._idle = limits.idle
        self._silence = anyio.CancelScope()
        self._upgrades = (b"upgrade", b"websocket") in ((name, value.lower()) for name, value in request.headers)
        self._failure: Exception | None = None

    async def run(self, destination: Destination, target: str) -> None:
        """Serve it.

        Raises:
            Refusal: The destination does not speak HTTP.
            h11.ProtocolError: The client's body is broken.
        """
        headers = _kept(self._request.headers.raw_items(), but=frozenset({b"host"}))
        framing = [item for item in self._request.headers if item[0] == b"transfer-encoding"]
        connection = _upgrade_headers() if self._upgrades else [(b"Connection", b"close")]
        outgoing = h11.Request(
            method=self._request.method,
            target=target,
            headers=[(b"Host", _host(destination)), *headers, *framing, *connection],
        )
        try:
            await self._server.send(outgoing)
            switched = await self._pass_both()
        except (h11.RemoteProtocolError, *BROKEN) as error:
            raise unreachable(destination, f"broke off ({error or type(error).__name__})") from error
        if switched:
            await self._client.stream.send(self._server.rest)
            await Tunnel(self._client.stream, self._server.stream, idle=self._idle).run(self._first)

    async def _first(self) -> bytes:
        return self._client.rest or await self._client.stream.receive()

    async def _pass_both(self) -> bool:
        """Pass the body and the response on at the same time; returns whether both sides now speak something else."""
        switched = False
        with self._silence:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._pass_body, tasks.cancel_scope)
                try:
                    switched = await self._pass_response()
                except (h11.ProtocolError, *BROKEN) as error:
                    self._failure = self._failure or error
                tasks.cancel_scope.cancel()
        if self._silence.cancelled_caught:
            raise TimeoutError(f"nothing moved for {self._idle:g} s")
        if self._failure is not None:
            raise self._failure
        return switched

    def _moved(self) -> None:
        self._silence.deadline = anyio.current_time() + self._idle

    async def _pass_body(self, scope: anyio.CancelScope) -> None:
        """Pass the request's body on. A destination may respond before its end, and then need not take the rest."""
        while True:
            self._moved()
            try:
                event = await self._client.receive()
            except h11.RemoteProtocolError as error:
                self._failure = error
                scope.cancel()
                return
            if not isinstance(event, h11.Data | h11.EndOfMessage):
                return
            try:
                await self._server.send(
                    h11.Data(data=event.data) if isinstance(event, h11.Data) else h11.EndOfMessage()
                )
            except BROKEN:
                return

    async def _pass_response(self) -> bool:
        while True:
            self._moved()
            match await self._server.receive():
                case h11.InformationalResponse(status_code=status, headers=headers, reason=reason):
                    switches = _upgrade_headers() if status == _SWITCHED else []
                    kept = [*_kept(headers.raw_items()), *switches]
                    await self._client.send(h11.InformationalResponse(status_code=status, headers=kept, reason=reason))
                    if switches:
                        return True
                case h11.Response(status_code=status, headers=headers, reason=reason):
                    chunked = any(name == b"transfer-encoding" for name, _ in headers)
                    but = _LENGTH if chunked else frozenset[bytes]()
                    kept = _kept(headers.raw_items(), but=but)
                    await self._client.send(h11.Response(status_code=status, headers=kept, reason=reason))
                case h11.Data(data=data):
                    await self._client.send(h11.Data(data=data))
                case h11.EndOfMessage():
                    await self._client.send(h11.EndOfMessage())
                    return False
                case _:
                    raise h11.RemoteProtocolError("no response")


def _kept(headers: Headers, *, but: frozenset[bytes] = frozenset()) -> Headers:
    """The headers that are for the other end, not for one connection; a length is never only for that."""
    named = {
        part.strip().lower() for name, value in headers if name.lower() == b"connection" for part in value.split(b",")
    }
    dropped = _OF_ONE_CONNECTION | (named - _LENGTH) | but
    return [(name, value) for name, value in headers if name.lower() not in dropped]


def _upgrade_headers() -> Headers:
    return [(b"Connection", b"Upgrade"), (b"Upgrade", b"websocket")]


def _host(destination: Destination) -> bytes:
    port = "" if destination.port == HTTP_PORT else f":{destination.port}"
    return f"{destination.host}{port}".encode("ascii")
