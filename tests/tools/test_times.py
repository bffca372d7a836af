"""Times in zones, and what lies between two of them."""

from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.core.errors import ToolError
from claw_acp.tools.data.times import Time
from tests.support.tool_bench import Bench


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            {"at": "2026-03-29T00:59:59Z", "zone": "Europe/Berlin"},
            "2026-03-29 01:59:59 Sunday, Europe/Berlin (UTC+01:00), week 13 of 2026, 1774745999 s since 1970",
        ),
        (
            {"at": "2026-03-29T01:00:00Z", "zone": "Europe/Berlin"},
            "2026-03-29 03:00:00 Sunday, Europe/Berlin (UTC+02:00), week 13 of 2026, 1774746000 s since 1970",
        ),
        ({"at": "1774746000", "zone": "+05:30"}, "2026-03-29 06:30:00 Sunday, +05:30 (UTC+05:30)"),
        ({"at": "2021-01-01T00:00", "zone": "UTC"}, "2021-01-01 00:00:00 Friday, UTC (UTC+00:00), week 53 of 2020"),
    ],
)
async def test_a_time_is_told_in_a_zone(bench: Bench, arguments: dict[str, str], told: str) -> None:
    assert (await bench.text(Time(), **arguments)).startswith(told)


@pytest.mark.parametrize(
    ("at", "until", "difference"),
    [
        ("2026-03-28T12:00", "2026-03-29T12:00", "23 hours (82,800 s)"),  # summer time begins
        ("2024-02-28T00:00Z", "2024-03-01T01:02:03Z", "2 days 1 hour 2 minutes 3 seconds (176,523 s)"),
        ("2024-03-01T00:00Z", "2024-02-29T00:00Z", "-1 day (-86,400 s)"),
        ("2024-03-01", "2024-03-01", "0 seconds (0 s)"),
    ],
)
async def test_the_difference_of_two_times_is_told(bench: Bench, at: str, until: str, difference: str) -> None:
    text = await bench.text(Time(), at=at, until=until, zone="Europe/Berlin")
    assert text.splitlines()[-1] == f"difference: {difference}"


async def test_now_is_told_without_arguments(bench: Bench) -> None:
    assert " s since 1970" in await bench.text(Time())


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"zone": "Europe/Berln"}, "near names: Europe/Berlin"),
        ({"zone": "../../etc/passwd"}, "no time zone"),
        ({"zone": "Europe"}, "no time zone"),
        ({"zone": "+99:00"}, "no time zone"),
        ({"at": "yesterday"}, "no time"),
        ({"at": "0001-01-01T00:00Z", "zone": "-12:00"}, "years 1 to 9999"),
        ({"at": "999999999999"}, "no time|years 1 to 9999"),
    ],
)
async def test_what_is_no_time_is_refused(bench: Bench, arguments: dict[str, str], reason: str) -> None:
    with pytest.raises(ToolError, match=reason):
        await bench.call(Time(), **arguments)


@given(text=st.text(max_size=30), zone=st.text(max_size=20))
def test_no_text_breaks_it(text: str, zone: str) -> None:
    for arguments in ({"at": text}, {"zone": zone}, {"at": text, "zone": zone}):
        call = Time().prepare(arguments, Bench.on(Path("/")).context())
        with suppress(ToolError):
            anyio.run(call.run)
