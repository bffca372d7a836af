"""Jobs as tables: on the command line, in the store, and in the file that people write."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.contracts.schedule import At, Cron, Delivery, Every, Job
from claw_acp.core.errors import InvalidRequest
from claw_acp.schedule.cron_expression import parse_cron
from claw_acp.schedule.definition import FIELDS, WrongField, job_fields, parse_job
from claw_acp.schedule.job_store import JobStore
from claw_acp.schedule.jobs_file import take_over
from claw_acp.schedule.next_time import next_time
from claw_acp.store.database import Database
from tests.schedule.support import ManualClock

NOW = 1_790_000_000.0
USUAL = {"every": "2h", "cwd": "/p", "prompt": "look"}


@pytest.mark.parametrize(
    "fields",
    [
        USUAL,
        {"cron": "0 9 * * 1-5", "time_zone": "Europe/Berlin", "cwd": "/p", "prompt": "x", "tools": ["grep"]},
        {"at": "2026-12-01T09:00:00+01:00", "cwd": "/p", "prompt": "x", "mode": "edit", "budget": 0.5, "model": "a/b"},
        {"every": "90m", "cwd": "/p", "heartbeat": True, "deliver": "webhook:https://example.org/h", "jitter": "5m"},
        {"every": "1d", "cwd": "/p", "prompt": "x", "session": "ses_1", "missed": "run_all", "retries": 0,
         "rerun_interrupted": True, "timeout": "10m", "deliver": "command:mail -s 'a: b' me"},
    ],
)  # fmt: skip
def test_a_job_is_the_same_after_it_was_written_and_read(fields: dict[str, object]) -> None:
    job = parse_job("j", fields, now=NOW)
    assert parse_job("j", job_fields(job), now=NOW + 1000) == job


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"evry": "2h"}, 'evry: unknown; did you mean "every"?'),
        ({"cron": "0 9 * * *"}, "exactly one"),
        ({"every": "30s"}, "1m is the shortest"),
        ({"every": "soon"}, "no duration"),
        ({"every": "99999d"}, "too long"),
        ({"every": 7}, "must be text"),
        ({"cwd": "p"}, "absolute"),
        ({"prompt": " "}, "there is none"),
        ({"heartbeat": True}, "HEARTBEAT.md"),
        ({"mode": "yolo"}, "must be one of plan, ask, edit, auto"),
        ({"session": "ses_1", "mode": "edit"}, "belongs to a session"),
        ({"tools": "grep"}, "list of names"),
        ({"budget": 0}, "more than 0"),
        ({"budget": float("nan")}, "a number"),
        ({"timeout": "0s"}, "at least 1s"),
        ({"retries": 6}, "from 0 to 5"),
        ({"retries": True}, "a number"),
        ({"jitter": "2h"}, "shorter than the period"),
        ({"missed": "later"}, "run_once, skip, run_all"),
        ({"deliver": "mail:me"}, "no delivery"),
        ({"deliver": "command:"}, "no delivery"),
        ({"deliver": "webhook:ftp://x"}, "no address"),
        ({"deliver": "webhook:https:///secret"}, "no address"),
        ({"deliver": "webhook:https://x:99999/secret"}, "no address"),
        ({"deliver": "webhook:https://[::1/secret"}, "no address"),
        ({"deliver": "webhook:https://x/a b"}, "no address"),
        ({"deliver": "webhook:https://me:secret@x/"}, "user name"),
        ({"time_zone": "Mars"}, "no time zone"),
        ({"prompt": "a\0b"}, "must be text"),
        ({"deliver": "command:\udcff"}, "must be text"),
    ],
)
def test_a_wrong_field_is_refused_by_name(change: dict[str, object], why: str) -> None:
    with pytest.raises(WrongField, match=why) as refused:
        parse_job("j", {**USUAL, **change}, now=NOW)
    assert "secret" not in refused.value.message


@pytest.mark.parametrize("name", ["", "a b", "-x", "a" * 65, "../x", "ü"])
def test_a_name_is_made_of_plain_letters(name: str) -> None:
    with pytest.raises(WrongField, match="name"):
        parse_job(name, USUAL, now=NOW)


@pytest.mark.parametrize(
    ("written", "zone", "moment"),
    [
        ("2026-12-01 09:00", "Europe/Berlin", 1_796_112_000.0),
        ("2026-12-01T09:00+01:00", "America/New_York", 1_796_112_000.0),
        ("2026-03-29 02:30", "Europe/Berlin", 1_774_746_000.0),  # left out: 03:00 comes first
        ("2026-10-25 02:30", "Europe/Berlin", 1_792_888_200.0),  # comes twice: the first
        ("+20m", "", NOW + 1200),
    ],
)
def test_a_moment_is_read_in_its_zone(written: str, zone: str, moment: float) -> None:
    fields = {"at": written, "cwd": "/", "prompt": "x", **({"time_zone": zone} if zone else {})}
    assert parse_job("j", fields, now=NOW).timing == At(moment=moment)


@pytest.mark.parametrize(
    "written", ["tomorrow", "2026-12-01", "2026-02-30 09:00", "+", "0001-01-01 00:00", "9999-12-31T23:59+00:00"]
)
def test_what_is_no_moment_is_refused(written: str) -> None:
    with pytest.raises(InvalidRequest):
        parse_job("j", {"at": written, "cwd": "/", "prompt": "x", "time_zone": "Asia/Tokyo"}, now=NOW)


# ------------------------------------------------------------------ the file


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


NIGHTLY = '[jobs.nightly]\ncron = "0 2 * * *"\ncwd = "/p"\nprompt = "test"\n'
WATCH = '[jobs.watch]\nevery = "30m"\ncwd = "/p"\nprompt = "look"\n'


async def test_the_file_of_jobs_is_taken_over_and_what_is_wrong_is_told_with_its_line(tmp_path: Path) -> None:
    file, clock = tmp_path / "schedules.toml", ManualClock(now=NOW)
    async with Database.opened(tmp_path / "claw.db") as database:
        jobs = JobStore(database, clock=clock)

        async def read(text: str) -> list[str]:
            _write(file, text)
            return [problem.text().removeprefix(f"{file}:") for problem in await take_over(file, jobs, clock=clock)]

        async def known() -> list[Job]:
            return [stored.job for stored in await jobs.all()]

        assert await read(NIGHTLY + WATCH) == []
        first = await known()
        assert [job.timing for job in first] == [Cron(expression="0 2 * * *"), Every(seconds=1800, anchor=NOW)]
        clock.seconds += 500
        assert await read(NIGHTLY.replace("test", "test all") + WATCH) == []  # a period keeps its beginning
        assert await known() == [parse_job("nightly", {**job_fields(first[0]), "prompt": "test all"}, now=0), first[1]]
        before = await known()
        assert await read(NIGHTLY + WATCH.replace('"30m"', '"half an hour"')) == [
            "6: jobs.watch.every: 'half an hour' is no duration; write 30m, 2h, 1h30m or 7d"
        ]
        assert await known() == [first[0], before[1]]
        assert await read(NIGHTLY + WATCH.replace("every", "evry")) == [
            '6: jobs.watch.evry: unknown; did you mean "every"?'
        ]
        assert (await read(NIGHTLY + "[jobs.watch\n"))[0].startswith("5:")
        assert await known() == [first[0], before[1]]
        assert await read("jobs = 3\n") == ["1: jobs: must be a table for each job, as in [jobs.nightly]"]
        assert await read("[job.x]\n" + NIGHTLY) == ["1: job: unknown; jobs are written as [jobs.NAME]"]
        assert [job.name for job in await known()] == ["nightly"]
        assert await read(NIGHTLY + WATCH.replace("every", "at").replace("30m", "+30m")) == [
            "6: jobs.watch.at: must be a date and time; a file cannot count from now on"
        ]
        file.unlink()
        assert (await take_over(file, jobs, clock=clock), await known()) == ([], [])


async def test_a_job_of_the_file_does_not_replace_one_that_was_added(tmp_path: Path) -> None:
    file, clock = tmp_path / "schedules.toml", ManualClock(now=NOW)
    async with Database.opened(tmp_path / "claw.db") as database:
        jobs = JobStore(database, clock=clock)
        mine = parse_job("nightly", USUAL, now=NOW)
        await jobs.add(mine, source="user")
        _write(file, NIGHTLY)
        problems = await take_over(file, jobs, clock=clock)
        assert ["cron remove nightly" in problem.message for problem in problems] == [True]
        assert [stored.job for stored in await jobs.all()] == [mine]


def test_a_delivery_is_nowhere_unless_it_is_written() -> None:
    assert parse_job("j", USUAL, now=NOW).delivery == Delivery()


words = st.text(alphabet="0123456789*/-,LWR#?@monjan \t٣", max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20), st.lists, max_leaves=3
)


@given(text=words)
def test_an_expression_is_either_refused_or_has_a_next_time(text: str) -> None:
    try:
        parse_cron(text)
    except InvalidRequest:
        return
    moment = next_time(Cron(expression=text, zone="Europe/Berlin"), after=NOW)
    assert moment is not None
    assert moment > NOW


@given(fields=st.dictionaries(st.sampled_from([*FIELDS, "anchor", "x"]), values, max_size=6))
def test_whatever_is_written_in_a_table_it_is_a_job_or_a_wrong_field(fields: dict[str, object]) -> None:
    with suppress(WrongField):
        job = parse_job("j", {**USUAL, **fields}, now=NOW)
        assert parse_job("j", json.loads(json.dumps(job_fields(job))), now=NOW + 9) == job
