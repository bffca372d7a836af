"""When a cron job runs, found by looking at the clock every minute: slow, plain, and without a calendar library."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

MINUTE = 60


@dataclass(frozen=True)
class Fields:
    """The numbers of an expression; None stands for `*`."""

    minutes: Collection[int] | None
    hours: Collection[int] | None
    days: Collection[int] | None
    months: Collection[int] | None
    weekdays: Collection[int] | None
    text: str

    def fit(self, wall: datetime) -> bool:
        named = [
            (self.minutes, wall.minute),
            (self.hours, wall.hour),
            (self.months, wall.month),
        ]
        if any(numbers is not None and number not in numbers for numbers, number in named):
            return False
        day = self.days is None or wall.day in self.days
        weekday = self.weekdays is None or wall.isoweekday() % 7 in self.weekdays
        return day or weekday if self.days is not None and self.weekdays is not None else day and weekday

    @property
    def follows_clock(self) -> bool:
        return self.text.split()[1].startswith("*")


def runs(fields: Fields, zone: ZoneInfo, *, after: float, until: float) -> Iterator[float]:
    """The moments later than `after`, up to `until`."""
    moment = (int(after) // MINUTE) * MINUTE
    before = datetime.fromtimestamp(moment, tz=UTC).astimezone(zone)
    while (moment := moment + MINUTE) <= until:
        now = datetime.fromtimestamp(moment, tz=UTC).astimezone(zone)
        if fields.follows_clock:
            hit = fields.fit(now)
        else:
            wall, expected = now.replace(tzinfo=None), before.replace(tzinfo=None) + timedelta(minutes=1)
            left_out: list[datetime] = []
            while expected < wall:
                left_out.append(expected)
                expected += timedelta(minutes=1)
            hit = (fields.fit(now) and now.fold == 0) or any(map(fields.fit, left_out))
        if hit and moment > after:
            yield float(moment)
        before = now
