"""How soon a plugin that died is started again."""

from claw_acp.core.clock import Clock

FIRST_DELAY = 0.5  # seconds after the first death; doubled with each further one
LONGEST_DELAY = 30.0  # seconds


class Restarts:
    """Counts deaths with no success between them."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._deaths = 0
        self._not_before = 0.0

    @property
    def delay(self) -> float:
        """Seconds until it may be started; 0 when it may be now."""
        return max(0.0, self._not_before - self._clock.monotonic()) if self._deaths else 0.0

    def died(self) -> None:
        """It ended by itself."""
        wait = min(LONGEST_DELAY, FIRST_DELAY * 2 ** min(self._deaths, 10))
        self._deaths += 1
        self._not_before = self._clock.monotonic() + wait

    def worked(self) -> None:
        """It answered: what was before does not matter any more."""
        self._deaths = 0
