"""Destinations of connections: a host by its name, and a port."""

import re
from typing import Final

from claw_acp.core.value import Value

HTTPS_PORT: Final = 443
HTTP_PORT: Final = 80
DEFAULT_PORTS: Final = (HTTPS_PORT, HTTP_PORT)
"""The ports that a rule without a port is about."""

_LABEL: Final = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")  # a name that ends in one is read as an address: 127.1, 0x7f.1
_AUTHORITY: Final = re.compile(r"([a-z0-9_.-]+|\[[0-9a-f:.]{2,45}\])(?::([0-9]{1,5}))?", re.IGNORECASE | re.ASCII)
_LONGEST: Final = 253
_LAST_PORT: Final = 65_535


class BadDestination(ValueError):
    """Text that is no host and port."""


class Destination(Value):
    """A host in lower case, without a final dot, and a port."""

    host: str
    port: int

    @property
    def named(self) -> str:
        """The host, with its port if rules have to name that."""
        return self.host if self.port in DEFAULT_PORTS else f"{self.host}:{self.port}"

    @property
    def rule(self) -> str:
        """The narrowest rule that permits it."""
        return f"network({self.named})"

    @property
    def private_rule(self) -> str:
        """The narrowest rule that permits it on a private network, too."""
        return f"network(private {self.named})"


def host_name(text: str) -> str:
    """A host name in the form that is compared.

    Raises:
        BadDestination: It is no name.
    """
    name = text.lower().removesuffix(".")
    if not text.isascii() or len(name) > _LONGEST or not _NAME.fullmatch(name) or is_address(name):
        raise BadDestination(f"{text[:_LONGEST]!r} is not the name of a host")
    return name


def is_address(host: str) -> bool:
    """Return whether a host is an address, in any form that resolvers understand: `::1`, `127.1`, `0x7f.1`."""
    return ":" in host or _NUMBER.fullmatch(host.rpartition(".")[2]) is not None


def destination_of(authority: str, *, port: int | None = None) -> Destination:
    """The destination in `host:port`, which may be an address; `port` is the one where none is named.

    Raises:
        BadDestination: It is none.
    """
    found = _AUTHORITY.fullmatch(authority)
    if found is None:
        raise BadDestination(f"{authority[:_LONGEST]!r} is not a host and a port")
    number = port if found[2] is None else int(found[2])
    if number is None or not 0 < number <= _LAST_PORT:
        raise BadDestination(f"{authority[:_LONGEST]!r} has no port that exists")
    if found[1].startswith("["):
        return Destination(host=found[1][1:-1].lower(), port=number)
    host = found[1].lower().removesuffix(".")
    known = is_address(host) and _NAME.fullmatch(host)
    return Destination(host=host if known else host_name(found[1]), port=number)


def target_of(url: str) -> tuple[Destination, str]:
    """The destination of an `http://` address, and what is asked for there.

    Raises:
        BadDestination: It is another address, or has a user's name in it.
    """
    scheme, sign, rest = url.partition("://")
    if not sign or scheme.lower() != "http":
        raise BadDestination("only http:// addresses are forwarded; for https:// a client asks for a tunnel (CONNECT)")
    end = next((place for place, letter in enumerate(rest) if letter in "/?#"), len(rest))
    authority, path = rest[:end], rest[end:].partition("#")[0]
    return destination_of(authority, port=HTTP_PORT), path if path.startswith("/") else f"/{path}"
