"""Which target is asked next after a failure, and after what wait. No input, no output, no clock of its own.

The order is that of the targets: keys, then models, then other providers. What a failure says about a target outlives
the request: the target rests, and every session of the process asks another one meanwhile.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Literal

from claw_acp.core.errors import (
    ContextTooLong,
    ModelNotAllowed,
    ModelNotFound,
    ProviderAuthFailed,
    ProviderError,
    ProviderTimeout,
    QuotaExceeded,
    RateLimited,
    RequestRejected,
    ServiceMisconfigured,
)
from claw_acp.core.value import Value

RETRIES = 2
FIRST_DELAY = 0.5  # seconds; vendors punish clients that come back sooner
LONGEST_DELAY = 10.0  # seconds of our own backing off
LONGEST_WISH = 60.0  # seconds of a vendor's Retry-After that are honoured; nobody sits longer before an editor
JITTER = 0.25  # the share of a delay that is left to chance, so that many sessions do not return together
MOST_REFUSED = 64  # keys that are known as refused; the oldest is forgotten
COOLDOWN = 10.0  # seconds a target rests that failed while others were there, unless it said how long
KEY_REST = 300.0  # seconds a refused key rests, and a target without credit or a right to its model

Why = Literal["limited", "failing", "refused"]
"""Why a target rests: it asked for it, so it is waited for; it failed, so others come first; its key is no good."""


class Leg(Value):
    """What the course knows of a target.

    Attributes:
        account: What a key opens; the same for all models behind one key of one service.
        provider: The provider's name.
        model: The model's own name.
        retries: How often a failed request is tried again before another target has its turn.
    """

    account: Hashable
    provider: str
    model: str
    retries: int = RETRIES


class Rest(Value):
    """A target is left alone `until` this reading of the monotonic clock."""

    why: Why
    until: float


class Health:
    """Which targets rest. One for all sessions of a process."""

    def __init__(self) -> None:
        self._rests: dict[Hashable, Rest] = {}
        self._refused: dict[Hashable, None] = {}  # in the order in which they were refused

    def rest_of(self, leg: Leg, *, now: float) -> Rest | None:
        """Why and how long a target is to be left alone; None when it is not."""
        for place in (leg.account, (leg.account, leg.model)):
            rest = self._rests.get(place)
            if rest is not None and rest.until > now:
                return rest
        return None

    def rest(self, leg: Leg, why: Why, *, now: float, seconds: float) -> None:
        """Leave a target alone; the same key may still be asked for other models."""
        self._put((leg.account, leg.model), Rest(why=why, until=now + seconds), now=now)

    def refuse(self, leg: Leg, *, now: float) -> None:
        """Leave alone all that a key should have opened."""
        self._refused.pop(leg.account, None)
        self._refused[leg.account] = None
        if len(self._refused) > MOST_REFUSED:
            del self._refused[next(iter(self._refused))]
        self._put(leg.account, Rest(why="refused", until=now + KEY_REST), now=now)

    def answered(self, leg: Leg) -> None:
        """Forget what was held against a target."""
        self._refused.pop(leg.account, None)
        self._rests.pop(leg.account, None)
        self._rests.pop((leg.account, leg.model), None)

    def is_refused(self, account: Hashable) -> bool:
        """Whether the key was refused when it was last used."""
        return account in self._refused

    def _put(self, place: Hashable, rest: Rest, *, now: float) -> None:
        for old in [old for old, held in self._rests.items() if held.until <= now]:
            del self._rests[old]
        self._rests[place] = rest


class Move(Value):
    """Ask the target with this number, after `delay` seconds. `rested`: targets before it are being left alone."""

    leg: int
    delay: float = 0.0
    rested: bool = False


class Course:
    """One request's way through its targets; it ends after at most `retries + 1` attempts on each."""

    def __init__(self, legs: Sequence[Leg], *, health: Health) -> None:
        assert legs, "somebody must be asked"
        self._legs = legs
        self._health = health
        self._tries = [0] * len(legs)
        self._open = list(range(len(legs)))

    def first(self, *, now: float) -> Move:
        """Whom to ask first."""
        move = self._next(now)
        assert move is not None
        return move

    def answered(self, number: int) -> None:
        """Note that a target answered."""
        self._health.answered(self._legs[number])

    def after(self, number: int, error: ProviderError, *, now: float, chance: float) -> Move | None:
        """Whom to ask after `error` of the target `number`; None: nobody can mend it. `chance` is in [0, 1)."""
        leg = self._legs[number]
        self._tries[number] += 1
        match error:
            case ServiceMisconfigured():
                self._drop(lambda other: other.provider == leg.provider)
            case ContextTooLong() | RequestRejected():
                return None  # the request itself is at fault: elsewhere it would be as wrong
            case ProviderAuthFailed():
                self._health.refuse(leg, now=now)
                self._drop(lambda other: other.account == leg.account)
            case QuotaExceeded() | ModelNotAllowed():
                self._health.rest(leg, "refused", now=now, seconds=KEY_REST)
                self._drop(lambda other: (other.account, other.model) == (leg.account, leg.model))
            case ModelNotFound():
                self._drop(lambda other: (other.provider, other.model) == (leg.provider, leg.model))
            case _ if error.retryable:
                return self._again(number, error, now=now, chance=chance)
            case _:
                self._open.remove(number)
        return self._next(now)

    def _again(self, number: int, error: ProviderError, *, now: float, chance: float) -> Move | None:
        leg = self._legs[number]
        others = any(self._health.rest_of(self._legs[other], now=now) is None for other in self._others(number))
        delay = backoff(self._tries[number] - 1, chance=chance, retry_after=error.retry_after)
        used_up = self._tries[number] > leg.retries
        asked_to_wait = isinstance(error, RateLimited) or error.retry_after is not None
        if asked_to_wait and len(self._open) > 1:
            wish = COOLDOWN if error.retry_after is None else min(error.retry_after, LONGEST_WISH)
            self._health.rest(leg, "limited", now=now, seconds=wish if others else delay)
        elif (used_up or isinstance(error, ProviderTimeout)) and others:
            self._health.rest(leg, "failing", now=now, seconds=COOLDOWN)
            used_up = True
        elif not used_up:
            return Move(leg=number, delay=delay)
        if used_up:
            self._open.remove(number)
        return self._next(now)

    def _next(self, now: float) -> Move | None:
        rests = {number: self._health.rest_of(self._legs[number], now=now) for number in self._open}
        for number, rest in rests.items():
            if rest is None:
                return Move(leg=number, rested=number != self._open[0])
        for number, rest in rests.items():
            if rest is not None and rest.why == "failing":
                return Move(leg=number, rested=number != self._open[0])
        waits = {number: rest.until - now for number, rest in rests.items() if rest and rest.why == "limited"}
        if waits:
            soonest = min(waits, key=lambda number: waits[number])
            return Move(leg=soonest, delay=waits[soonest], rested=True)
        return Move(leg=self._open[0]) if self._open else None

    def _others(self, number: int) -> Iterator[int]:
        return (other for other in self._open if other != number)

    def _drop(self, which: Callable[[Leg], bool]) -> None:
        self._open = [number for number in self._open if not which(self._legs[number])]


def backoff(attempt: int, *, chance: float, retry_after: float | None = None) -> float:
    """Seconds to wait after failed attempt `attempt` (from 0); `chance` in [0, 1). Never less than the vendor asked."""
    delay = min(LONGEST_DELAY, FIRST_DELAY * 2**attempt) * (1 - JITTER * chance)
    return max(delay, min(retry_after or 0.0, LONGEST_WISH))
