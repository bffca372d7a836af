"""A clock that tests move, and a place without people or models in which jobs run."""

from tests.support.fixed_clock import FixedClock


class ManualClock(FixedClock):
    """A clock that stands still until a test moves it; its ids differ."""

    def __init__(self, *, now: float = 1_790_000_000.0) -> None:
        super().__init__(now=now)
        self._drawn = 0

    def random_bytes(self, count: int) -> bytes:
        """Bytes that were not drawn before."""
        self._drawn += 1
        return self._drawn.to_bytes(count, "big")
