"""The limits of a turn: model requests, tokens, money, time. They are checked before each model request.

From 80 % of one on, each request tells the model to come to an end. What is not known counts as nothing: tokens that a
provider does not report, the cost of a model without a price. Time spent waiting for the person does not count.
"""

from collections.abc import Callable, Iterator
from typing import Final

from claw_acp.core.clock import Clock
from claw_acp.core.messages import Usage
from claw_acp.core.money import shown
from claw_acp.core.value import Value

NEAR: Final = 0.8


class TurnLimits(Value):
    """The limits; `cost` is in picodollars. None: there is none."""

    requests: int = 50
    tokens: int | None = None
    cost: int | None = None
    minutes: float | None = None


class TurnMeter:
    """Measures one turn against its limits; its time begins now.

    Args:
        limits: The limits.
        clock: Time.
        cost: Returns the cost of the turn so far, in picodollars.
        waited: Returns the seconds that the turn waited for the person.
        above: The meter of the turn that delegated this one: its limits hold here, too, but for that of requests, and
            it counts what this one takes.

    Attributes:
        below: The meters of the turns that this one delegated.
    """

    def __init__(
        self,
        limits: TurnLimits,
        *,
        clock: Clock,
        cost: Callable[[], int] = lambda: 0,
        waited: Callable[[], float] = lambda: 0.0,
        above: "TurnMeter | None" = None,
    ) -> None:
        self._limits = limits
        self._above = above
        self.below: list[TurnMeter] = []
        if above is not None:
            above.below.append(self)
        self._clock = clock
        self._cost = cost
        self._waited = waited
        self._began = clock.monotonic()
        self._requests = 0
        self._tokens = 0

    def count(self, usage: Usage | None) -> None:
        """Count a model request and its usage, if reported."""
        self._requests += 1
        self._tokens += 0 if usage is None else usage.input_tokens + usage.output_tokens

    @property
    def tokens(self) -> int:
        """The tokens so far, with those of the turns below."""
        return self._tokens + sum(meter.tokens for meter in self.below)

    @property
    def cost(self) -> int:
        """The cost so far in picodollars, with that of the turns below."""
        return self._cost() + sum(meter.cost for meter in self.below)

    @property
    def reached(self) -> str | None:
        """The limit that is reached, as text: `50 model requests`; None if there is none."""
        return next((words for used, limit, _, words in self._measures() if used >= limit), None)

    @property
    def warning(self) -> str | None:
        """The text for the model when a limit is near, else None."""
        near = [f"{used} of {words}" for value, limit, used, words in self._measures() if value >= limit * NEAR]
        if not near or not self._requests:
            return None
        return (
            f"[This turn has taken {' and '.join(near)}; at that limit it ends. Do what matters most, then say what is "
            "done and what is left.]"
        )

    def _measures(self) -> Iterator[tuple[float, float, str, str]]:
        """The usage, the limit, and both as text, for each limit."""
        limits = self._limits
        yield self._requests, limits.requests, str(self._requests), f"{limits.requests} model requests"
        yield from self.shared_measures()

    def shared_measures(self) -> Iterator[tuple[float, float, str, str]]:
        """The same for the limits that turns below have a share of, and for those of the turns above."""
        limits = self._limits
        if limits.tokens is not None:
            yield self.tokens, limits.tokens, f"{self.tokens:,}", f"{limits.tokens:,} tokens"
        if limits.cost is not None:
            yield self.cost, limits.cost, shown(self.cost), shown(limits.cost)
        if limits.minutes is not None:
            minutes = (self._clock.monotonic() - self._began - self._waited()) / 60
            yield minutes, limits.minutes, f"{minutes:.0f}", f"{limits.minutes:g} minutes"
        if self._above is not None:
            yield from self._above.shared_measures()
