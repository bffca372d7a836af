"""The next time of a timing, against a clock that is looked at every minute."""

from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from claw_acp.contracts.schedule import At, Cron, Every
from claw_acp.core.errors import InvalidRequest
from claw_acp.schedule.cron_expression import parse_cron
from claw_acp.schedule.next_time import next_time
from tests.schedule.oracle import Fields, runs

ZONES = (
    "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Cairo", "America/Havana",
    "Asia/Kathmandu", "America/Sao_Paulo", "Africa/Casablanca", "Antarctica/Troll", "Atlantic/Azores", "UTC",
)  # fmt: skip
DAY = 86_400
MOST = 30  # runs that are compared in an example


@st.composite
def _field(draw: st.DrawFn, low: int, high: int, *, steps: bool = True) -> tuple[str, set[int] | None]:
    kind = draw(st.sampled_from(["all", "all", "one", "list", "range", "step"] if steps else ["all", "one", "list"]))
    if kind == "all":
        return "*", None
    if kind == "step":
        step = draw(st.integers(2, high))
        return f"*/{step}", set(range(low, high + 1, step))
    first, last = sorted((draw(st.integers(low, high)), draw(st.integers(low, high))))
    if kind == "range":
        step = draw(st.integers(1, 5))
        return f"{first}-{last}/{step}", set(range(first, last + 1, step))
    return (str(first), {first}) if kind == "one" else (f"{first},{last}", {first, last})


@st.composite
def _fields(draw: st.DrawFn) -> Fields:
    minutes, hours = draw(_field(0, 59)), draw(_field(0, 23))
    days, months, weekdays = draw(_field(1, 28, steps=False)), draw(_field(1, 12)), draw(_field(0, 6, steps=False))
    text = " ".join(field[0] for field in (minutes, hours, days, months, weekdays))
    return Fields(minutes[1], hours[1], days[1], months[1], weekdays[1], text)


@cache
def _changes(zone: str) -> list[int]:
    """Days on which clocks in a zone are changed, 1995 to 2037; any day where they never are."""
    first, last = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (1995, 2037))
    offsets = [(day, datetime.fromtimestamp(day, tz=ZoneInfo(zone)).utcoffset()) for day in range(first, last, DAY)]
    return [day for (day, old), (_, new) in pairwise(offsets) if old != new] or [first]


@settings(max_examples=40)
@given(fields=_fields(), zone=st.sampled_from(ZONES), pick=st.integers(0, 200), begin=st.integers(-DAY, DAY + DAY))
@example(Fields({30}, {2}, None, None, None, "30 2 * * *"), "Europe/Berlin", 0, 0)
@example(Fields({0}, None, None, None, None, "0 * * * *"), "Australia/Lord_Howe", 3, 0)
@example(Fields({0}, {12}, None, None, None, "0 12 * * *"), "Pacific/Apia", 4, -DAY)
def test_a_cron_job_runs_when_a_look_at_the_clock_says_so(fields: Fields, zone: str, pick: int, begin: int) -> None:
    changes = _changes(zone)
    after = float(changes[pick % len(changes)] + begin)
    until = after + 2 * DAY
    expected = list(islice(runs(fields, ZoneInfo(zone), after=after, until=until), MOST))
    timing = Cron(expression=fields.text, zone=zone)
    found: list[float] = []
    moment = next_time(timing, after=after)
    while moment is not None and moment <= until and len(found) < MOST:
        found.append(moment)
        moment = next_time(timing, after=moment)
    assert found == expected


def test_a_leap_day_comes_every_fourth_year_and_not_in_2100() -> None:
    timing, moment = Cron(expression="0 0 29 2 *", zone="UTC"), datetime(2090, 1, 1, tzinfo=UTC).timestamp()
    years: list[int] = []
    for _ in range(4):
        moment = next_time(timing, after=moment) or 0.0
        years.append(datetime.fromtimestamp(moment, tz=UTC).year)
    assert years == [2092, 2096, 2104, 2108]


@given(interval=st.integers(60, 10 * DAY), anchor=st.integers(0, 10**9), after=st.integers(0, 4 * 10**9))
def test_a_period_is_counted_from_its_anchor_however_late_one_looks(interval: int, anchor: int, after: int) -> None:
    moment = next_time(Every(seconds=interval, anchor=float(anchor)), after=float(after))
    assert moment is not None
    assert (moment - anchor) % interval == 0
    assert 0 < moment - after <= interval


def test_a_single_moment_comes_once() -> None:
    assert next_time(At(moment=100.0), after=99.5) == 100.0
    assert next_time(At(moment=100.0), after=100.0) is None


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("0 9 * * 1-5", "0 9 * * 1,2,3,4,5"),
        ("0 9 * * MON-FRI", "0 9 * * 1,2,3,4,5"),
        ("0 9 * * fri-sun", "0 9 * * 0,5,6"),
        ("0 9 * * 7", "0 9 * * 0"),
        ("*/20 8-18/5 1,15 jan-mar *", "0,20,40 8,13,18 1,15 1,2,3 *"),
        ("  5   4 * * sun ", "5 4 * * 0"),
        ("*/1 */1 * * *", "* * * * *"),
        ("@daily", "0 0 * * *"),
        ("0 0 29 2 *", "0 0 29 2 *"),
        ("0 0 13 * fri", "0 0 13 * 5"),
    ],
)
def test_an_expression_is_read_as_lists_of_numbers(written: str, read: str) -> None:
    assert parse_cron(written).text == read


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("", "0 fields"),
        ("0 9 * *", "4 fields"),
        ("0 0 9 * * 1", "6 fields"),  # croniter: seconds last
        ("0 0 9 * * 1 2030", "7 fields"),
        ("60 * * * *", "no minute"),
        ("* 24 * * *", "no hour"),
        ("* * 0 * *", "no day of the month"),
        ("* * * 13 *", "no month"),
        ("* * * * 8", "no day of the week"),
        ("* * * jam *", "no month"),
        ("* * mon * *", "no day of the month"),
        ("* * * * 5-1", "backwards"),  # croniter: wraps around
        ("50-10 * * * *", "backwards"),
        ("5/10 * * * *", "5-59/10"),
        ("*/0 * * * *", "step"),
        ("*/60 * * * *", "step"),
        ("*/-5 * * * *", "not understood"),
        ("R * * * *", "not understood"),  # croniter: random
        ("H * * * *", "not understood"),
        ("0 0 L * *", "not understood"),
        ("0 0 * * 5L", "not understood"),
        ("0 0 * * fri#2", "not understood"),
        ("0 0 ? * *", "not understood"),
        ("0 0 15W * *", "not understood"),
        ("@reboot", "1 fields"),
        ("1,,2 * * * *", "not understood"),
        ("٣ * * * *", "not understood"),
        ("0 0 31 2 *", "never run"),
        ("0 0 31 4,6 *", "never run"),
        ("0 0 */2 * 1", "list the days"),  # croniter: or; vixie: and
        ("0 0 1 * */2", "list the days"),
    ],
)
def test_what_programs_read_differently_is_refused_with_a_reason(written: str, why: str) -> None:
    with pytest.raises(InvalidRequest, match=why):
        parse_cron(written)


def test_an_unknown_zone_is_refused_by_name() -> None:
    with pytest.raises(InvalidRequest, match="Europe/Berlino"):
        next_time(Cron(expression="0 9 * * *", zone="Europe/Berlino"), after=0.0)


def test_a_zone_outside_of_the_database_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="no time zone"):
        next_time(Cron(expression="0 9 * * *", zone="../../etc/passwd"), after=0.0)


def test_a_job_of_next_week_is_seen_at_any_second_of_this_one() -> None:
    start = datetime(2026, 11, 23, 8, 59, 59, 500_000, tzinfo=UTC)
    timing = Cron(expression="0 9 * * 1", zone="UTC")
    first = next_time(timing, after=start.timestamp())
    assert first is not None
    assert first == datetime(2026, 11, 23, 9, tzinfo=UTC).timestamp()
    assert next_time(timing, after=first) == first + timedelta(days=7).total_seconds()
