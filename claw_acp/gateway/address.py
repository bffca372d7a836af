"""Listening addresses: parsing and binding."""

import errno
import re
import socket
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from typing import Final

from claw_acp.core.errors import ConfigError
from claw_acp.core.value import Value
from claw_acp.gateway.http.exchange import PRODUCT
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.http.origin_policy import is_local_name

DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 8227  # "ACP" on the keys of a telephone, behind an 8; no known service has it

_WRITTEN: Final = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[^\s:/\[\]@]*))(?::(?P<port>\d{1,5}))?")
_BACKLOG: Final = 128  # connections that wait to be taken in
_LOOK: Final = 1.0  # seconds to find out which program holds a port


class Address(Value):
    """A host, as written, and a port; port 0 means any free port."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Parse `HOST:PORT`, `[IPV6]:PORT`, or one of the two parts.

        Raises:
            ConfigError: It is none of these.
        """
        match = _WRITTEN.fullmatch(text)
        port = DEFAULT_PORT if match is None or match["port"] is None else int(match["port"])
        if match is None or port > 65535:
            raise ConfigError(f'"{text}" is no address to listen on; write HOST:PORT, as in {DEFAULT_HOST}:8227')
        return cls(host=match["six"] or match["name"] or DEFAULT_HOST, port=port)

    @property
    def is_loopback(self) -> bool:
        """True when only this machine can connect."""
        return is_local_name(self.host.lower())

    def text(self) -> str:
        """The address as written in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def bind(address: Address, *, limits: Limits) -> tuple[socket.socket, Address]:
    """Open a listening socket; connections queue from now on. Returns the socket and the address with its actual port.

    Raises:
        ConfigError: The address cannot be used; the text says why and what to do.
    """
    try:
        family, _, _, _, where = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise ConfigError(f'cannot listen on "{address.host}": {error.strerror or error}') from error
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _set_timeouts(listening, limits.stall)
        listening.bind(where)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise ConfigError(f"cannot listen on {address.text()}: {_trouble(error, address)}") from error
    return listening, Address(host=address.host, port=listening.getsockname()[1])


def _set_timeouts(listening: socket.socket, seconds: float) -> None:
    """Set keep-alive and user timeouts, which connections inherit. Options that the system lacks are skipped."""
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    probes = {"TCP_KEEPIDLE": seconds / 2, "TCP_KEEPINTVL": seconds / 6, "TCP_KEEPCNT": 3}
    for name, value in (*probes.items(), ("TCP_USER_TIMEOUT", seconds * 1000)):
        option: int | None = getattr(socket, name, None)
        if option is not None:
            listening.setsockopt(socket.IPPROTO_TCP, option, max(1, int(value)))


def _trouble(error: OSError, address: Address) -> str:
    if error.errno == errno.EADDRINUSE:
        who = "another claw-acp server" if _is_ours(address) else "another program"
        return f"{who} is listening there; stop it, or choose another port with --listen HOST:PORT"
    if error.errno == errno.EACCES:
        return "that port needs special privileges; choose one above 1023"
    if error.errno == errno.EADDRNOTAVAIL:
        return "this machine does not have that address"
    return error.strerror or str(error)


def _is_ours(address: Address) -> bool:
    try:
        with closing(HTTPConnection(address.host, address.port, timeout=_LOOK)) as connection:
            connection.request("GET", "/")
            return connection.getresponse().getheader("server", "").startswith(PRODUCT)
    except (OSError, HTTPException):
        return False
