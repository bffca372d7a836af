"""A clock that stands still until a test moves it, with fixed randomness."""


class FixedClock:
    """See `claw_acp.core.clock.Clock`. `random` returns `chance`."""

    def __init__(self, *, now: float = 1_790_000_000.0, chance: float = 0.0) -> None:
        self.seconds = now
        self.chance = chance

    def now(self) -> float:
        """The epoch time it was set to."""
        return self.seconds

    def monotonic(self) -> float:
        """The same, for durations."""
        return self.seconds

    def random(self) -> float:
        """Always `chance`."""
        return self.chance

    def random_bytes(self, count: int) -> bytes:
        """As many zero bytes."""
        return bytes(count)
