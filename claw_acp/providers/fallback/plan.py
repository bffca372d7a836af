"""The order in which targets are asked, and the waits between. No input, no output, no clock of its own.

The order is that of the targets: keys, then models, then other providers. A failure of a target outlives the request:
the target cools down, and every session of the process asks another one meanwhile.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Literal

from claw_acp.contracts.provider_setup import ProviderSetup
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
from claw_acp.providers.selection.target import Target

FIRST_DELAY = 0.5  # seconds; vendors punish clients that come back sooner
LONGEST_DELAY = 10.0  # seconds of our own backing off
LONGEST_WISH = 60.0  # seconds of a vendor's Retry-After that are honoured; nobody sits longer before an editor
JITTER = 0.25  # the share of a delay that is left to chance, so that many sessions do not return together
MOST_REFUSED = 64  # keys that are known as refused; the oldest is forgotten
COOLDOWN = 10.0  # seconds a target rests that failed while others were there, unless it said how long
KEY_REST = 300.0  # seconds a refused key rests, and a target without credit or a right to its model

Why = Literal["limited", "failing", "refused"]
"""The reason for a cool-down: the target asked for it, so it is waited for; it failed; its key is bad."""


class Rest(Value):
    """A target is not used `until` this reading of the monotonic clock."""

    why: Why
    until: float


class Health:
    """The targets that cool down. One for all sessions of a process."""

    def __init__(self) -> None:
        self._rests: dict[Hashable, Rest] = {}
        self._refused: dict[ProviderSetup, None] = {}  # in the order in which they were refused

    def rest_of(self, target: Target, *, now: float) -> Rest | None:
        """The reason and time of a target's cool-down; None without one."""
        if not self._rests:  # as usual; to hash a setup takes microseconds
            return None
        for place in (target.setup, (target.setup, target.model)):
            rest = self._rests.get(place)
            if rest is not None and rest.until > now:
                return rest
        return None

    def rest(self, target: Target, why: Why, *, now: float, seconds: float) -> None:
        """Let a target cool down; the same key may still be used for other models."""
        self._put((target.setup, target.model), Rest(why=why, until=now + seconds), now=now)

    def refuse(self, target: Target, *, now: float) -> None:
        """Let all targets of a refused key cool down."""
        self._refused.pop(target.setup, None)
        self._refused[target.setup] = None
        if len(self._refused) > MOST_REFUSED:
            del self._refused[next(iter(self._refused))]
        self._put(target.setup, Rest(why="refused", until=now + KEY_REST), now=now)

    def answered(self, target: Target) -> None:
        """End the cool-down of a target."""
        if self._refused or self._rests:
            self._refused.pop(target.setup, None)
            self._rests.pop(target.setup, None)
            self._rests.pop((target.setup, target.model), None)

    def is_refused(self, setup: ProviderSetup) -> bool:
        """True if the key was refused when it was last used."""
        return setup in self._refused

    def _put(self, place: Hashable, rest: Rest, *, now: float) -> None:
        for old in [old for old, held in self._rests.items() if held.until <= now]:
            del self._rests[old]
        self._rests[place] = rest


class NextAttempt(Value):
    """Ask the target with this `index`, after `delay` seconds. `rested`: targets before it are cooling down."""

    index: int
    delay: float = 0.0
    rested: bool = False


class FallbackPlan:
    """The order of one request's attempts; it ends after at most `retries + 1` of them on each target."""

    def __init__(self, targets: Sequence[Target], *, health: Health) -> None:
        assert targets, "somebody must be asked"
        self._targets = targets
        self._health = health
        self._tries = [0] * len(targets)
        self._open = list(range(len(targets)))

    def first(self, *, now: float) -> NextAttempt:
        """The first attempt."""
        attempt = self._next(now)
        assert attempt is not None
        return attempt

    def answered(self, number: int) -> None:
        """Note that a target answered."""
        self._health.answered(self._targets[number])

    def after(self, number: int, error: ProviderError, *, now: float, chance: float) -> NextAttempt | None:
        """The attempt after `error` of the target `number`; None if none can help. `chance` is in [0, 1)."""
        target = self._targets[number]
        self._tries[number] += 1
        match error:
            case ServiceMisconfigured():
                self._drop(lambda other: other.provider == target.provider)
            case ContextTooLong() | RequestRejected():
                return None  # the request itself is at fault: elsewhere it would be as wrong
            case ProviderAuthFailed():
                self._health.refuse(target, now=now)
                self._drop(lambda other: other.setup == target.setup)
            case QuotaExceeded() | ModelNotAllowed():
                self._health.rest(target, "refused", now=now, seconds=KEY_REST)
                self._drop(lambda other: (other.setup, other.model) == (target.setup, target.model))
            case ModelNotFound():
                self._drop(lambda other: (other.provider, other.model) == (target.provider, target.model))
            case _ if error.retryable:
                return self._again(number, error, now=now, chance=chance)
            case _:
                self._open.remove(number)
        return self._next(now)

    def _again(self, number: int, error: ProviderError, *, now: float, chance: float) -> NextAttempt | None:
        target = self._targets[number]
        others = any(self._health.rest_of(self._targets[other], now=now) is None for other in self._others(number))
        delay = backoff(self._tries[number] - 1, chance=chance, retry_after=error.retry_after)
        used_up = self._tries[number] > target.retries
        asked_to_wait = isinstance(error, RateLimited) or error.retry_after is not None
        if asked_to_wait and len(self._open) > 1:
            wish = COOLDOWN if error.retry_after is None else min(error.retry_after, LONGEST_WISH)
            self._health.rest(target, "limited", now=now, seconds=wish if others else delay)
        elif (used_up or isinstance(error, ProviderTimeout)) and others:
            self._health.rest(target, "failing", now=now, seconds=COOLDOWN)
            used_up = True
        elif not used_up:
            return NextAttempt(index=number, delay=delay)
        if used_up:
            self._open.remove(number)
        return self._next(now)

    def _next(self, now: float) -> NextAttempt | None:
        rests = {number: self._health.rest_of(self._targets[number], now=now) for number in self._open}
        for number, rest in rests.items():
            if rest is None:
                return NextAttempt(index=number, rested=number != self._open[0])
        for number, rest in rests.items():
            if rest is not None and rest.why == "failing":
                return NextAttempt(index=number, rested=number != self._open[0])
        waits = {number: rest.until - now for number, rest in rests.items() if rest and rest.why == "limited"}
        if waits:
            soonest = min(waits, key=lambda number: waits[number])
            return NextAttempt(index=soonest, delay=waits[soonest], rested=True)
        return NextAttempt(index=self._open[0]) if self._open else None

    def _others(self, number: int) -> Iterator[int]:
        return (other for other in self._open if other != number)

    def _drop(self, which: Callable[[Target], bool]) -> None:
        self._open = [number for number in self._open if not which(self._targets[number])]


def backoff(attempt: int, *, chance: float, retry_after: float | None = None) -> float:
    """Seconds to wait after failed attempt `attempt` (from 0); `chance` in [0, 1).

    At least what the vendor asked for.
    """
    delay = min(LONGEST_DELAY, FIRST_DELAY * 2**attempt) * (1 - JITTER * chance)
    return max(delay, min(retry_after or 0.0, LONGEST_WISH))
