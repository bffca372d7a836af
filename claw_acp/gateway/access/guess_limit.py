"""A limit on wrong tokens or codes, for each address that clients come from."""

import hashlib
from collections import OrderedDict
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

from claw_acp.core.clock import Clock

_ADDRESSES: Final = 4096  # that are remembered; the one that was wrong longest ago goes first


class GuessLimit:
    """Counts different wrong ones: a program that shows the same old one again and again is not guessing.

    Args:
        clock: Time.
        guesses: Different wrong ones from one address within the window.
        window: Seconds.
    """

    def __init__(self, clock: Clock, *, guesses: int, window: float) -> None:
        self._clock = clock
        self._guesses = guesses
        self._window = window
        self._wrong: OrderedDict[str, dict[bytes, float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Seconds until guesses from this address are looked at again; 0: now."""
        wrong = self._wrong.get(source_of(address))
        if wrong is None or len(wrong) < self._guesses:
            return 0.0
        return max(0.0, min(wrong.values()) + self._window - self._clock.monotonic())

    def note(self, address: str, shown: str) -> None:
        """Count a wrong one."""
        now = self._clock.monotonic()
        source = source_of(address)
        wrong = self._wrong.pop(source, {})
        self._wrong[source] = {seen: at for seen, at in wrong.items() if at > now - self._window}
        self._wrong[source][hashlib.sha256(shown.encode("utf-8", "surrogatepass")).digest()] = now
        while len(self._wrong) > _ADDRESSES:
            self._wrong.popitem(last=False)


def source_of(address: str) -> str:
    """The address that counts: one client can have all of a /64 in IPv6."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    return str(parsed.ipv4_mapped or ip_network((parsed, 64), strict=False))
