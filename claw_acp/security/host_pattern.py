"""Hosts in rules: a name, or everything below one; for connections of commands also a port."""

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from claw_acp.core.value import Value, replace
from claw_acp.registry.reference import Ref

ADDRESS_REFUSAL: Final = Ref[Callable[[str], str | None]]("claw_acp.net.address_guard:refusal")
"""By name, as its table of networks takes a thousandth of a second of every start, and few rules are about hosts."""

LOOKED_UP: Final = Ref[Callable[[str], str]]("claw_acp.net.host_names:looked_up")
"""By name, as few names have letters that its tables are needed for."""

# Compiled when the first such rule is read.
_HOST: Final = r"(?:\*\.)?[\w-]+(?:\.[\w-]+)*|\[?[0-9a-f:.]+\]?"
_NAME_AND_PORT: Final = r"((?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?)(?::([0-9]{1,5}))?"
_ADDRESS: Final = r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)"
_LAST_PORT: Final = 65_535

METHODS: Final = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
"""The methods of requests."""


class HostPattern(Value):
    """A host name in lower case; `*.x` in `name` means everything below x (not x itself).

    Attributes:
        name: The name.
        private: Whether it may be on the person's own network, where requests are refused otherwise.
        port: The only port that is meant; None: the usual ones.
        method: The only method of requests that is meant; empty: all.
    """

    name: str
    private: bool = False
    port: int | None = None
    method: str = ""

    def covers(self, host: str) -> bool:
        """Return whether it means a host name (lower case, without port)."""
        if self.name.startswith("*."):
            return host.endswith(self.name[1:]) and host != self.name[2:]
        return host == self.name


def parse_host(body: str) -> HostPattern:
    """The pattern of a rule about addresses of the web.

    Raises:
        ValueError: It names no host.
    """
    private, name = _privacy(body)
    if "://" in name or "/" in name:
        raise ValueError(
            f"`{body}` is an address; write only its host, `{urlsplit(name).hostname or name.split('/')[0]}`"
        )
    if not re.fullmatch(_HOST, name):
        raise ValueError(f"`{body}` is not a host name or `*.` and a host name")
    _check_single(body, name, private=private)
    below, star, rest = name.strip("[]").rpartition("*.")
    name = f"{below}{star}{compared(rest)}"
    return HostPattern(name=name, private=private or _is_private(name))


def compared(host: str) -> str:
    """A host name in the one form in which rules and addresses are compared: as it is looked up, without final dots."""
    return (host.lower() if host.isascii() else LOOKED_UP.load()(host)).rstrip(".")


def parse_request(body: str) -> HostPattern:
    """The pattern of a rule about requests: a host, after a method where only that one is meant.

    Raises:
        ValueError: It names no host, or no such method.
    """
    first, _, rest = body.partition(" ")
    if not rest.strip() or not first.isupper():
        return parse_host(body)
    if first not in METHODS:
        raise ValueError(f"`{first}` is none of the methods {', '.join(METHODS)}")
    return replace(parse_host(rest.strip()), method=first)


def parse_destination(body: str) -> HostPattern:
    """The pattern of a rule about connections of commands, which are made by name.

    Raises:
        ValueError: It names no host, or its address.
    """
    private, name = _privacy(body)
    found = re.fullmatch(_NAME_AND_PORT, name)
    if found is None or re.fullmatch(_ADDRESS, found[1]):
        raise ValueError(f"`{body}` is not a host name, `*.` and a host name, or one of them with `:` and a port")
    port = int(found[2]) if found[2] else None
    if port is not None and not 0 < port <= _LAST_PORT:
        raise ValueError(f"there is no port {port}")
    _check_single(body, name, private=private)
    return HostPattern(name=found[1].rstrip("."), private=private, port=port)


def _privacy(body: str) -> tuple[bool, str]:
    first, _, rest = body.partition(" ")
    private = first == "private" and bool(rest.strip())
    return private, (rest.strip() if private else body).lower().rstrip(".")


def _check_single(body: str, name: str, *, private: bool) -> None:
    if private and "*" in name:
        raise ValueError(f"`{body}` names no single host; each private host has a rule of its own")


def _is_private(name: str) -> bool:
    """True if a host name itself is private; other names may lead anywhere tomorrow."""
    try:
        return name == "localhost" or ADDRESS_REFUSAL.load()(name) is not None
    except ValueError:
        return False
