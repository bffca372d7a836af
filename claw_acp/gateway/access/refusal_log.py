"""The log of refused requests: a flood of them from one address must not push everything else out of the log."""

import logging
from collections import OrderedDict
from typing import Final

from claw_acp.core.clock import Clock
from claw_acp.gateway.access.guess_limit import source_of
from claw_acp.gateway.http.exchange import Head
from claw_acp.gateway.http.http_error import HttpError

log = logging.getLogger(__name__)

MOST: Final = 30  # lines about one address in a window
WINDOW: Final = 60.0  # seconds
_ADDRESSES: Final = 1024  # that are remembered
_LOGGED: Final = frozenset({401, 403, 429})
_SHOWN: Final = 80  # characters of what a client says


class RefusalLog:
    """Tells of clients that were not let in, without what they showed as a token.

    Args:
        clock: Time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lines: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def note(self, refusal: HttpError, head: Head) -> None:
        """Log a refusal, if it is one of access."""
        if refusal.status not in _LOGGED:
            return
        number = self._count(source_of(head.address))
        if number <= MOST:
            said = {name: head.headers[name][:_SHOWN] for name in ("host", "origin") if name in head.headers}
            facts = {"status": refusal.status, "reason": refusal.reason, "client": refusal.client}
            log.warning("refused", extra={**facts, "path": head.path[:_SHOWN], "address": head.address, **said})
        elif number == MOST + 1:
            facts = {"address": head.address, "seconds": WINDOW}
            log.warning("refused many: more from this address are not logged for a while", extra=facts)

    def _count(self, source: str) -> int:
        """The number of this line about an address in its window."""
        now = self._clock.monotonic()
        begun, lines = self._lines.pop(source, (now, 0))
        if now - begun >= WINDOW:
            begun, lines = now, 0
        self._lines[source] = (begun, lines + 1)
        if len(self._lines) > _ADDRESSES:
            self._lines.popitem(last=False)
        return lines + 1
