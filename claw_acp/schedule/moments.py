"""Moments and timings as people write and read them."""

import re
from datetime import UTC, datetime
from typing import Final, assert_never

from claw_acp.contracts.schedule import At, Cron, Every, Timing
from claw_acp.core.errors import InvalidRequest
from claw_acp.schedule.durations import duration_text, seconds_in
from claw_acp.schedule.next_time import instant
from claw_acp.schedule.zone import zone_named

_FIRST_YEAR: Final = 1971
_LAST_YEAR: Final = 2199


def moment_of(text: str, *, zone: str, now: float) -> float:
    """The moment of `2026-12-01 09:00` in a zone, of `2026-12-01T09:00+01:00`, or of `+20m` from now on.

    Raises:
        InvalidRequest: It is none of these.
    """
    written = text.strip()
    if written.startswith("+"):
        return now // 1 + seconds_in(written[1:])
    try:
        read = datetime.fromisoformat(written)
    except ValueError as error:
        raise InvalidRequest(
            f'{text!r} is no date and time; write "2026-12-01 09:00", 2026-12-01T09:00+01:00, or +20m'
        ) from error
    if not re.search(r"\d[T ]\d", written):
        raise InvalidRequest(f'{text!r} has no time of day; write "{written} 09:00"')
    if not _FIRST_YEAR <= read.year <= _LAST_YEAR:
        raise InvalidRequest(f"{text!r} is out of range; years from {_FIRST_YEAR} to {_LAST_YEAR} are known")
    return instant(read.replace(microsecond=0), zone_named(zone)) if read.tzinfo is None else read.timestamp() // 1


def moment_text(moment: float, *, zone: str = "") -> str:
    """A moment for people, as in `Tue 2026-12-01 09:00 CET`."""
    seen = datetime.fromtimestamp(moment, tz=UTC).astimezone(zone_named(zone))
    return f"{seen:%a %Y-%m-%d %H:%M}{_seconds(seen)} {seen.tzname()}"


def _seconds(seen: datetime) -> str:
    return f":{seen:%S}" if seen.second else ""


def zone_of(timing: Timing) -> str:
    """The zone in which the times of a timing are shown; empty: the machine's."""
    return timing.zone if isinstance(timing, Cron) else ""


def timing_text(timing: Timing) -> str:
    """A timing in words: `every 2h`, `at Tue 2026-12-01 09:00 CET`, `0 9 * * 1-5 (Europe/Berlin)`."""
    match timing:
        case At(moment=moment):
            return f"at {moment_text(moment)}"
        case Every(seconds=seconds):
            return f"every {duration_text(seconds)}"
        case Cron(expression=expression, zone=zone):
            return f"{expression} ({zone})" if zone else expression
        case _:
            assert_never(timing)
