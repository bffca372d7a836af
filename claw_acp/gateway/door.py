"""The listening socket: how many may come in at once, who has to leave again, and the end of them all."""

import errno
import logging
import socket
from contextlib import suppress
from typing import Final, cast

import anyio

from claw_acp.core.clock import Clock

log = logging.getLogger(__name__)

BACKLOG: Final = 128


class Door(socket.socket):
    """A bound socket that lets in a limited number of connections; those beyond are hung up on at once.

    The server library has no such limit, and without one a single client could use up the descriptors that the tools
    of everybody's sessions need. Nor does it end every connection that never asks for anything: whoever is not vouched
    for in time has to leave.

    Args:
        family: The kind of address.
        limit: Connections at once.
        patience: Seconds after which the kernel drops a connection whose other side takes nothing.
        clock: Time.
    """

    def __init__(self, family: int, *, limit: int, patience: float, clock: Clock) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self._limit = limit
        self._clock = clock
        self._guests: list[socket.socket] = []
        self._strangers: dict[object, tuple[socket.socket, float]] = {}
        self._knock = anyio.Event()
        self._crowded = False
        self.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family in {socket.AF_INET, socket.AF_INET6}:
            self._set_patience(patience)
        self.settimeout(0)

    def accept(self) -> tuple[socket.socket, object]:
        """See `socket.accept`.

        Raises:
            ConnectionAbortedError: Nobody who could be let in is there.
        """
        guest, address = super().accept()
        self._guests = [known for known in self._guests if known.fileno() >= 0]
        if len(self._guests) < self._limit:
            self._crowded = False
            self._guests.append(guest)
            self._strangers[_name(address)] = guest, self._clock.monotonic()
            self._knock.set()
            return guest, address
        guest.close()
        if not self._crowded:
            self._crowded = True
            log.warning("too many TCP connections: more are hung up on", extra={"limit": self._limit})
        raise ConnectionAbortedError(errno.ECONNABORTED, "too many connections")

    def vouch(self, client: object) -> None:
        """Whoever comes from this address has asked for something and may stay."""
        self._strangers.pop(_name(client), None)

    async def hang_up_on_strangers(self, *, after: float) -> None:
        """Hang up on whoever was not vouched for so many seconds after coming in; runs as long as the server."""
        while True:
            self._knock = anyio.Event()
            if not self._strangers:
                await self._knock.wait()
            await anyio.sleep(after / 2)
            latest = self._clock.monotonic() - after
            for name, (guest, came) in tuple(self._strangers.items()):
                if came <= latest or guest.fileno() < 0:
                    del self._strangers[name]
                    _hang_up(guest)

    def hang_up(self) -> None:
        """End all connections at once."""
        for guest in self._guests:
            _hang_up(guest)

    def _set_patience(self, seconds: float) -> None:
        """Notice clients that are gone or take nothing; connections inherit this. What a system lacks is left out."""
        self.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        probes = {"TCP_KEEPIDLE": seconds / 2, "TCP_KEEPINTVL": seconds / 6, "TCP_KEEPCNT": 3}
        for name, value in (*probes.items(), ("TCP_USER_TIMEOUT", seconds * 1000)):
            option: int | None = getattr(socket, name, None)
            if option is not None:
                self.setsockopt(socket.IPPROTO_TCP, option, max(1, int(value)))


def _name(address: object) -> object:
    """Host and port; of IPv6 addresses the rest does not count."""
    return cast("tuple[object, ...]", address)[:2] if isinstance(address, tuple) else address


def _hang_up(guest: socket.socket) -> None:
    with suppress(OSError):
        guest.shutdown(socket.SHUT_RDWR)
