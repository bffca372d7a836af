"""The ledger: what requests cost, added up by day, session and model, whatever happens to those who spent it."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from claw_acp.core.clock import local_day
from claw_acp.core.errors import SessionNotFound
from claw_acp.core.events import MessageStarted, UsageChanged
from claw_acp.core.messages import Usage
from claw_acp.core.spending import Spending
from claw_acp.session.journal import Journal
from claw_acp.session.record import SessionRecord
from tests.support.fixed_clock import FixedClock

SMALL = Usage(input_tokens=10, output_tokens=2, cached_read_tokens=4, cached_write_tokens=1, thought_tokens=1)
CHILD = Path(__file__).parent / "spending_child.py"


def at(moment: str) -> float:
    return datetime.fromisoformat(moment).astimezone(UTC).timestamp()


def record(session: str) -> SessionRecord:
    return SessionRecord(id=session, cwd="/w", mode="ask", model="p/m", created_at=1.0, updated_at=1.0)


def child_that_spends(path: Path, session: str, how: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, str(CHILD), str(path), session, how]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


async def test_requests_add_up_by_day_session_and_model(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db", clock=FixedClock()) as journal:
        ledger = journal.ledger
        for session, model, cost in (("a", "p/m", 5), ("a", "p/m", 6), ("a", "p/n", None), ("b", "p/m", 100)):
            ledger.add(session, model=model, usage=SMALL, cost=cost)
        everything = await ledger.spent()
        assert (everything.requests, everything.cost, everything.unpriced) == (4, 111, 1)
        assert everything.usage == SMALL + SMALL + SMALL + SMALL
        assert (await ledger.spent(session_id="a")).cost == 11
        assert await ledger.spent(session_id="nobody") == Spending()
        models = await ledger.shares("model", session_id="a")
        assert [(share.key, share.spending.cost, share.spending.unpriced) for share in models] == [
            ("p/m", 11, 0),
            ("p/n", 0, 1),
        ]
        assert [share.key for share in await ledger.shares("session")] == ["b", "a"]


@pytest.mark.parametrize(
    ("zone", "moment", "day"),
    [
        ("Europe/Berlin", "2026-11-22T22:59:59Z", "2026-11-22"),
        ("Europe/Berlin", "2026-11-22T23:00:00Z", "2026-11-23"),
        ("Europe/Berlin", "2026-06-30T22:00:00Z", "2026-07-01"),  # summer time: another month begins
        ("Pacific/Kiritimati", "2026-12-31T10:00:00Z", "2027-01-01"),
        ("America/Los_Angeles", "2026-03-01T07:59:59Z", "2026-02-28"),
        ("UTC", "2026-11-22T23:59:59Z", "2026-11-22"),
    ],
)
def test_a_day_is_that_of_the_clock_on_the_wall(zone: str, moment: str, day: str) -> None:
    assert local_day(at(moment), zone=ZoneInfo(zone)) == day


async def test_days_and_months_begin_at_local_midnight(tmp_path: Path) -> None:
    clock = FixedClock(now=at("2026-11-30T22:59:00Z"))
    async with Journal.opened(tmp_path / "claw.db", clock=clock, zone=ZoneInfo("Europe/Berlin")) as journal:
        ledger = journal.ledger
        ledger.add("a", model="p/m", usage=SMALL, cost=1)
        assert (ledger.day, (await ledger.spent(period=ledger.day)).cost) == ("2026-11-30", 1)
        clock.seconds += 60
        assert (ledger.day, (await ledger.spent(period=ledger.day)).cost) == ("2026-12-01", 0)
        ledger.add("a", model="p/m", usage=SMALL, cost=20)
        assert (await ledger.spent(period="2026-11")).cost == 1
        assert (await ledger.spent(period="2026-12")).cost == 20
        assert [(share.key, share.spending.cost) for share in await ledger.shares("day")] == [
            ("2026-11-30", 1),
            ("2026-12-01", 20),
        ]


async def test_a_deleted_session_keeps_its_cost_also_when_it_goes_while_it_spends(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db", clock=FixedClock()) as journal:
        await journal.create(record("a"))
        journal.ledger.add("a", model="p/m", usage=SMALL, cost=1)
        await journal.delete("a")
        journal.ledger.add("a", model="p/m", usage=SMALL, cost=2)
        with pytest.raises(SessionNotFound):
            await journal.append("a", MessageStarted(item="u", seq=9, role="user"), wait=True)
        assert (await journal.ledger.spent(session_id="a")).cost == 3


async def test_several_processes_add_up(tmp_path: Path) -> None:
    path = tmp_path / "claw.db"
    children = [child_that_spends(path, name, "50") for name in ("a", "b", "c")]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
    for child in children:
        child.communicate(b"go\n")
        assert child.returncode == 0
    async with Journal.opened(path) as journal:
        spent = await journal.ledger.spent()
    assert (spent.requests, spent.cost, spent.usage.input_tokens) == (150, 150, 1500)


async def test_what_was_spent_before_a_crash_is_kept_with_the_next_commit_of_the_turn(tmp_path: Path) -> None:
    """A request ends, its tool call is committed, the process is killed: the request is in the ledger."""
    path = tmp_path / "claw.db"
    child = child_that_spends(path, "a", "crash")
    child.communicate(b"go\n")
    assert child.returncode == -9
    async with Journal.opened(path) as journal:
        assert (await journal.ledger.spent(session_id="a")).cost == 1


async def test_a_copy_of_a_session_has_its_conversation_and_not_its_cost(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db", clock=FixedClock()) as journal:
        await journal.create(record("a"))
        said = UsageChanged(item="m", seq=1, used=1, size=2, request=SMALL, model="p/m", cost=0.5, total=0.75)
        await journal.append("a", said, wait=False)
        journal.ledger.add("a", model="p/m", usage=SMALL, cost=1)
        await journal.fork(record("copy"), source="a")
        (copied,) = await journal.read("copy")
        assert isinstance(copied, UsageChanged)
        assert (copied.request, copied.cost, copied.total) == (SMALL, 0.5, None)
        assert (await journal.ledger.spent(session_id="copy")).requests == 0
