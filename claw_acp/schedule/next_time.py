"""The next time of a timing.

A cron expression speaks of the clock on the wall. When that is put forward, a named hour may be left out: the job then
runs at the first moment after the gap. When it is put back, a named hour comes twice: the job runs in the first. A job
whose hour is `*` follows the clock in both cases. All of it is decided here; croniter only steps through a calendar
without time zones.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Final, assert_never

from claw_acp.contracts.schedule import At, Cron, Every, Timing
from claw_acp.registry.reference import Ref
from claw_acp.schedule.cron_expression import parse_cron
from claw_acp.schedule.zone import zone_named

if TYPE_CHECKING:
    from croniter import croniter

_CRONITER: Final["Ref[type[croniter]]"] = Ref("croniter:croniter")  # 60 ms, and many jobs are no cron expressions


def next_time(timing: Timing, *, after: float) -> float | None:
    """The first time later than `after`, in seconds since the epoch; None: there is none.

    Raises:
        InvalidRequest: A cron expression or time zone is invalid.
    """
    match timing:
        case At(moment=moment):
            return moment if moment > after else None
        case Every(seconds=seconds, anchor=anchor):
            passed = (after - anchor) // seconds
            return anchor + (passed + 1) * seconds
        case Cron(expression=text, zone=name):
            expression, zone = parse_cron(text), zone_named(name)
            if expression.follows_clock:
                return _next_by_clock(expression.text, zone, after=after)
            return _next_fixed(expression.text, zone, after=after)
        case _:
            assert_never(timing)


def repeats(timing: Timing) -> bool:
    """Return whether occurrences that a clock put back passes again are occurrences of their own."""
    return isinstance(timing, Every) or (isinstance(timing, Cron) and parse_cron(timing.expression).follows_clock)


def instant(wall: datetime, zone: tzinfo) -> float:
    """The moment at which clocks in a zone show `wall`: the first if there are two, the end of the gap if none."""
    moment = _seen(wall, zone)
    if _shown(moment, zone) == wall:
        return moment
    return _change(zone, before=_seen(wall, zone, fold=1), after=moment)


def _next_fixed(text: str, zone: tzinfo, *, after: float) -> float:
    moments = (instant(wall, zone) for wall in _walls(text, after=_shown(after, zone)))
    return next(moment for moment in moments if moment > after)


def _next_by_clock(text: str, zone: tzinfo, *, after: float) -> float:
    wall = _shown(after, zone)
    again = _seen(wall, zone, fold=1)
    later = next(moment for wall in _walls(text, after=wall) for moment in _moments(wall, zone) if moment > after)
    if again <= after or _shown(again, zone) != wall:
        return later
    # The clock will be put back within what was just shown, and passes a part of it again.
    change = _change(zone, before=after, after=again)
    repeated = next(_walls(text, after=_shown(change, zone) - timedelta(seconds=1)))
    return min(later, _seen(repeated, zone, fold=1)) if repeated <= wall else later


def _moments(wall: datetime, zone: tzinfo) -> list[float]:
    """The moments at which clocks show `wall`: none, one or two."""
    both = {_seen(wall, zone), _seen(wall, zone, fold=1)}
    return sorted(moment for moment in both if _shown(moment, zone) == wall)


def _walls(text: str, *, after: datetime) -> Iterator[datetime]:
    """The dates and times that fit an expression, without a time zone."""
    steps = _CRONITER.load()(text, after)
    while True:
        yield steps.get_next(datetime)


def _shown(moment: float, zone: tzinfo) -> datetime:
    """The time on the clock, without fractions of seconds."""
    return datetime.fromtimestamp(moment // 1, tz=UTC).astimezone(zone).replace(tzinfo=None, fold=0)


def _seen(wall: datetime, zone: tzinfo, *, fold: int = 0) -> float:
    return wall.replace(tzinfo=zone, fold=fold).timestamp()


def _change(zone: tzinfo, *, before: float, after: float) -> float:
    """The moment between two at which the offset of a zone changes, to the second."""
    low, high = int(before // 1), int(after // 1)
    offset = _offset(low, zone)
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(middle, zone) == offset:
            low = middle
        else:
            high = middle
    return float(high)


def _offset(moment: int, zone: tzinfo) -> timedelta | None:
    return datetime.fromtimestamp(moment, tz=UTC).astimezone(zone).utcoffset()
