"""The decision about a job that is due: which occurrence runs now, and when the next one comes."""

from collections import deque
from hashlib import sha256
from itertools import islice
from typing import Final

from claw_acp.contracts.schedule import At, MissedPolicy, Timing
from claw_acp.core.value import Value
from claw_acp.schedule.next_time import next_time, repeats

GRACE: Final = 60.0
"""Seconds by which a run may be late and is still on time; what is later was missed."""

CAUGHT_UP: Final = 24
"""Missed occurrences that are run one by one; the earlier ones are given up."""

SMALL_STEP: Final = 3 * 3600.0
"""Seconds by which a clock may be put back without runs at fixed hours being repeated. More is a correction."""

_COUNTED: Final = 1000


class Due(Value):
    """The decision. `run` is an occurrence, or None; `dropped` tells how many were given up, at least."""

    run: float | None
    dropped: int
    next_at: float | None


def decide(timing: Timing, missed: MissedPolicy, *, occurrence: float, delay: float, now: float) -> Due:
    """Decide about an occurrence that is due `now`, and about those that followed it meanwhile."""
    if now - occurrence - delay <= GRACE:
        return Due(run=occurrence, dropped=0, next_at=next_time(timing, after=occurrence))
    if missed == "run_all":
        return _one_of_many(timing, occurrence=occurrence, now=now)
    following = next_time(timing, after=now)
    if missed == "run_once":
        return Due(run=occurrence, dropped=0, next_at=following)
    latest = None if isinstance(timing, At) else next_time(timing, after=now - GRACE)
    return Due(run=latest if latest is not None and latest <= now else None, dropped=1, next_at=following)


def _one_of_many(timing: Timing, *, occurrence: float, now: float) -> Due:
    """The first of the occurrences to catch up with; the others stay due, and come when it has ended."""
    kept: deque[float] = deque([occurrence], maxlen=CAUGHT_UP)
    total, moment = 1, next_time(timing, after=occurrence)
    while moment is not None and moment <= now and total < _COUNTED:
        kept.append(moment)
        total, moment = total + 1, next_time(timing, after=moment)
    if total == _COUNTED:
        moment = next_time(timing, after=now)
    first, second = (*islice(kept, 2), moment)[:2]
    return Due(run=first, dropped=total - len(kept), next_at=second)


def replanned(timing: Timing, *, next_at: float | None, last_for: float | None, now: float) -> float | None:
    """The next occurrence after the clock was set, or the rules of a time zone were changed.

    One that is due stays due. What a clock put back passes again is not repeated: at named hours when it was put back
    by a few hours, at other times only when it was put back by seconds.
    """
    if next_at is None or next_at <= now or isinstance(timing, At):
        return next_at
    most = GRACE if repeats(timing) else SMALL_STEP
    after = last_for if last_for is not None and 0 < last_for - now <= most else now
    return next_time(timing, after=after)


def delay_of(job_id: str, *, occurrence: float, jitter: int) -> float:
    """The seconds by which an occurrence is put off: always the same, so that a restart does not draw again."""
    if not jitter:
        return 0.0
    drawn = int.from_bytes(sha256(f"{job_id} {occurrence}".encode()).digest()[:8], "big")
    return drawn / 2**64 * jitter
