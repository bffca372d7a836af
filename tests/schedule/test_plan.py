"""What is run while time passes, the machine sleeps and the clock is set, against a clock looked at every minute."""

from typing import get_args
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.contracts.schedule import Cron, MissedPolicy
from claw_acp.schedule.next_time import next_time
from claw_acp.schedule.plan import CAUGHT_UP, GRACE, decide, delay_of, replanned
from tests.schedule.oracle import Fields, runs

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Havana", "Asia/Kathmandu", "UTC")
HOUR = 3600
CHANGES = {  # about two days before clocks are changed, forward and back
    "Europe/Berlin": (1_774_600_000, 1_792_700_000),
    "America/New_York": (1_772_850_000, 1_793_400_000),
    "Australia/Lord_Howe": (1_775_150_000, 1_790_900_000),
    "America/Havana": (1_772_850_000, 1_793_400_000),
    "Asia/Kathmandu": (1_772_850_000, 1_793_400_000),
    "UTC": (1_772_850_000, 1_793_400_000),
}


class _Play:
    """A job, the time, and what was run: the occurrences and the moments."""

    def __init__(self, fields: Fields, zone: str, *, start: float, missed: MissedPolicy = "run_all") -> None:
        self.timing, self.now = Cron(expression=fields.text, zone=zone), start
        self.missed: MissedPolicy = missed
        self.next_at = next_time(self.timing, after=start)
        self.last: float | None = None
        self.run: list[tuple[float, float]] = []

    def _fire(self) -> None:
        while self.next_at is not None and self.next_at <= self.now:
            due = decide(self.timing, self.missed, occurrence=self.next_at, delay=0, now=self.now)
            if due.dropped:
                self.next_at = due.run or due.next_at
                continue
            assert due.run is not None
            self.run.append((due.run, self.now))
            self.last, self.next_at = max(due.run, self.last or 0.0), due.next_at

    def wait(self, seconds: float) -> None:
        end = self.now + seconds
        while self.next_at is not None and self.next_at <= end:
            self.now = max(self.now, self.next_at)
            self._fire()
        self.now = end

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self._fire()

    def put_back(self, seconds: float) -> None:
        self.now -= seconds
        self.next_at = replanned(self.timing, next_at=self.next_at, last_for=self.last, now=self.now)


@st.composite
def _fields(draw: st.DrawFn) -> Fields:
    minute = draw(st.integers(0, 59))
    hours = draw(st.sampled_from([None, None, {2}, {1, 2, 3}, {0, 6, 12, 18}]))
    return Fields({minute}, hours, None, None, None, f"{minute} {','.join(map(str, hours)) if hours else '*'} * * *")


places = st.sampled_from([(zone, start) for zone in ZONES for start in CHANGES[zone]])
spans = st.lists(st.tuples(st.sampled_from(["wait", "sleep"]), st.integers(1, 20 * HOUR)), min_size=1, max_size=8)


@settings(max_examples=60)
@given(fields=_fields(), place=places, spans=spans)
def test_nothing_is_lost_and_nothing_comes_twice_however_the_machine_sleeps(
    fields: Fields, place: tuple[str, int], spans: list[tuple[str, int]]
) -> None:
    zone, start = place
    play = _Play(fields, zone, start=float(start))
    for what, seconds in spans:
        getattr(play, what)(seconds)
    assert [run for run, _ in play.run] == list(runs(fields, ZoneInfo(zone), after=start, until=play.now))


@settings(max_examples=40)
@given(fields=_fields(), place=places, missed=st.sampled_from(["run_once", "skip", "run_all"]), days=st.integers(1, 2))
def test_an_awake_machine_runs_each_time_at_its_moment_whatever_the_policy(
    fields: Fields, place: tuple[str, int], missed: MissedPolicy, days: int
) -> None:
    play = _Play(fields, place[0], start=float(place[1]), missed=missed)
    play.wait(days * 24 * HOUR)
    expected = list(runs(fields, ZoneInfo(place[0]), after=place[1], until=play.now))
    assert play.run == [(moment, moment) for moment in expected]


@settings(max_examples=40)
@given(
    fields=_fields().filter(lambda fields: not fields.follows_clock),
    place=places,
    steps=st.lists(st.tuples(st.integers(1, 9 * HOUR), st.integers(1, 3 * HOUR)), max_size=6),
)
def test_a_named_hour_is_not_run_again_when_the_clock_is_put_back(
    fields: Fields, place: tuple[str, int], steps: list[tuple[int, int]]
) -> None:
    zone, start = place
    play, latest = _Play(fields, zone, start=float(start)), float(start)
    for passed, back in steps:
        play.wait(passed)
        latest = max(latest, play.now)
        play.put_back(min(back, play.now - start))
    play.wait(10 * HOUR)
    done = [run for run, _ in play.run]
    assert len(set(done)) == len(done)
    assert done == list(runs(fields, ZoneInfo(zone), after=start, until=max(latest, play.now)))


@settings(max_examples=20)
@given(place=places, steps=st.lists(st.tuples(st.integers(1, 900), st.integers(1, 60)), min_size=1, max_size=6))
def test_a_clock_that_is_put_back_by_seconds_repeats_nothing(
    place: tuple[str, int], steps: list[tuple[int, int]]
) -> None:
    zone, start = place
    play = _Play(Fields(None, None, None, None, None, "* * * * *"), zone, start=float(start))
    for passed, back in steps:
        play.wait(passed + back)
        play.put_back(back)
    done = [run for run, _ in play.run]
    assert len(set(done)) == len(done)


@settings(max_examples=40)
@given(fields=_fields(), place=places, asleep=st.integers(1, 90 * HOUR))
def test_missed_times_give_one_run_or_none_or_the_last_few(fields: Fields, place: tuple[str, int], asleep: int) -> None:
    zone, start = place
    passed = list(runs(fields, ZoneInfo(zone), after=start, until=start + asleep))
    on_time = [moment for moment in passed if start + asleep - moment <= GRACE]
    found: dict[str, list[float]] = {}
    for missed in get_args(MissedPolicy):
        play = _Play(fields, zone, start=float(start), missed=missed)
        play.sleep(asleep)
        found[missed] = [run for run, _ in play.run]
        following = next(runs(fields, ZoneInfo(zone), after=start + asleep, until=start + asleep + 100 * HOUR))
        assert play.next_at == following
    assert found == {"run_once": passed[:1], "skip": on_time, "run_all": passed[-CAUGHT_UP:]}


def test_the_delay_of_an_occurrence_is_the_same_at_every_look_and_within_its_bound() -> None:
    delays = [delay_of("job_1", occurrence=moment * 60.0, jitter=600) for moment in range(200)]
    assert delays == [delay_of("job_1", occurrence=moment * 60.0, jitter=600) for moment in range(200)]
    assert 0 <= min(delays) < 60
    assert 540 < max(delays) < 600
    assert delay_of("job_1", occurrence=60.0, jitter=0) == 0
