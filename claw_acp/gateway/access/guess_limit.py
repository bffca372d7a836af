"""A limit on wrong tokens, for each address that clients come from."""

import hashlib
from collections import OrderedDict
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

from claw_acp.core.clock import Clock

GUESSES: Final = 10  # different wrong tokens from one address within the window
WINDOW: Final = 60.0  # seconds
_ADDRESSES: Final = 4096  # that are remembered; the one that was wrong longest ago goes first


class GuessLimit:
    """Counts different wrong tokens: a program that shows the same old one again and again is not guessing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, dict[bytes, float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Seconds until tokens from this address are looked at again; 0: now."""
        wrong = self._wrong.get(_source(address))
        if wrong is None or len(wrong) < GUESSES:
            return 0.0
        return max(0.0, min(wrong.values()) + WINDOW - self._clock.monotonic())

    def note(self, address: str, shown: str) -> None:
        """Count a wrong token."""
        now = self._clock.monotonic()
        source = _source(address)
        wrong = self._wrong.pop(source, {})
        self._wrong[source] = {seen: at for seen, at in wrong.items() if at > now - WINDOW}
        self._wrong[source][hashlib.sha256(shown.encode("utf-8", "surrogateescape")).digest()] = now
        while len(self._wrong) > _ADDRESSES:
            self._wrong.popitem(last=False)


def _source(address: str) -> str:
    """The address that counts: one client can have all of a /64 in IPv6."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    return str(parsed.ipv4_mapped or ip_network((parsed, 64), strict=False))
