"""The price of a model, in picodollars for a token."""

from collections.abc import Sequence

from claw_acp.core.value import Value

MINUTES = 24 * 60  # of a day


class Rate(Value):
    """Picodollars for one token of each kind.

    Cached tokens without a price of their own cost as much as other input.
    """

    input: int
    output: int
    cached_read: int | None = None
    cached_write: int | None = None


class Price(Value):
    """A model's price. A request of more than `above` tokens is billed at `long` as a whole, if that is set.

    `hours` is the range of minutes of the day (UTC) in which it applies; None: always.
    """

    rate: Rate
    above: int = 0
    long: Rate | None = None
    hours: tuple[int, int] | None = None

    def applies(self, minute: int) -> bool:
        """Return whether the price applies at a minute of the day (UTC)."""
        if self.hours is None:
            return True
        start, end = self.hours
        return start <= minute < end if start <= end else minute >= start or minute < end


def price_at(prices: Sequence[Price], seconds: float) -> Price | None:
    """The price at a time, in seconds since the Unix epoch: the last one that applies; None if none does."""
    minute = int(seconds // 60) % MINUTES
    return next((price for price in reversed(prices) if price.applies(minute)), None)
