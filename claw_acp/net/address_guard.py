"""SSRF guard: requests made for a model only reach public addresses, unless a person allowed the host.

A page can name any host, and any name can resolve to any address. So names are resolved here, all their addresses are
checked, and the request is then sent to a checked address, not to the name.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from socket import SOCK_STREAM, gaierror
from typing import Final

import anyio

from claw_acp.core.errors import ToolError
from claw_acp.core.value import Value

_REFUSED_V4: Final = tuple(
    (IPv4Network(network), reason)
    for network, reason in (
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "private to a carrier"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "a cloud's metadata service"),
        ("169.254.0.0/16", "link-local, where clouds keep their metadata service"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "for documentation"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_REFUSED_V6: Final = tuple(
    (IPv6Network(network), reason)
    for network, reason in (
        ("::1/128", "loopback"),
        ("::/128", "unspecified"),
        ("::ffff:0:0/96", "an IPv4 address in disguise"),
        ("64:ff9b::/96", "an IPv4 address behind NAT64"),
        ("64:ff9b:1::/48", "an IPv4 address behind NAT64"),
        ("2001::/23", "reserved (Teredo tunnels among others)"),
        ("2001:db8::/32", "for documentation"),
        ("2002::/16", "an IPv4 address in a 6to4 tunnel"),
        ("3fff::/20", "for documentation"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
    )
)
_PUBLIC_V6: Final = IPv6Network("2000::/3")  # all that is given out; the rest of the space is reserved
_OWN: Final = frozenset({"private", "private to a carrier", "loopback", "for benchmarks"})
"""The kinds of addresses that services of one's own have; VPNs use those for benchmarks."""
_METADATA: Final = frozenset({"100.100.100.200", "fd00:ec2::254"})
"""Metadata services of clouds at such addresses."""


class AddressGuard(Value):
    """Checks hosts by their resolved addresses.

    Attributes:
        allow_hosts: Hosts whose addresses may be private, because a person allowed them: exact names, or
            `*.example.org` for all subdomains. Case and a final dot are ignored. Addresses that no service of one's own
            has, such as those of metadata services, have to be allowed themselves: a name may lead there one day.
    """

    allow_hosts: Sequence[str] = ()

    async def address(self, host: str, *, port: int) -> str:
        """A checked address of `host` to connect to.

        Raises:
            ToolError: The host is unknown, or one of its addresses is not public: a name that leads to both is a trap.
        """
        addresses = await _resolve(host, port=port)
        allowed = self._allows(host)
        if not (allowed and _is_address(host)):
            for address in addresses:
                if (reason := refusal(address, allowed=allowed)) is not None:
                    raise ToolError(
                        f"{host} is not fetched: its address {address} is {reason}, not on the public internet. "
                        f'The user can allow it by the permission rule "fetch(private {address if allowed else host})".'
                    )
        return addresses[0]

    def _allows(self, host: str) -> bool:
        name = _canonical(host)
        return any(
            name.endswith(_canonical(allowed[1:])) if allowed.startswith("*.") else name == _canonical(allowed)
            for allowed in self.allow_hosts
        )


def refusal(address: str, *, allowed: bool = False) -> str | None:
    """The reason to refuse an IP address, completing "it is ..."; None for a public one, or one's own if `allowed`."""
    reason = _kind(address)
    if allowed and reason in _OWN:
        return "a cloud's metadata service" if address in _METADATA else None
    return reason


def _kind(address: str) -> str | None:
    parsed = ip_address(address)
    match parsed:
        case IPv4Address():
            return next((reason for network, reason in _REFUSED_V4 if parsed in network), None)
        case IPv6Address():
            reason = next((reason for network, reason in _REFUSED_V6 if parsed in network), None)
            return reason or (None if parsed in _PUBLIC_V6 else "reserved")


def _is_address(host: str) -> bool:
    try:
        ip_address(_canonical(host))
    except ValueError:
        return False
    return True


async def _resolve(host: str, *, port: int) -> list[str]:
    try:
        found = await anyio.getaddrinfo(host, port, type=SOCK_STREAM)
    except (gaierror, UnicodeError) as error:
        raise ToolError(f"The host {host} is unknown: its name does not resolve. Check the address.") from error
    return [entry[4][0] for entry in found]


def _canonical(host: str) -> str:
    return host.lower().removesuffix(".").strip("[]")
