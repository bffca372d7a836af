"""Stores that older versions wrote are brought to today's shape, with everything in them."""

import sqlite3
from pathlib import Path

import pytest

from claw_acp.core.errors import StoreError
from claw_acp.core.events import MessageStarted, TextDelta, UsageChanged
from claw_acp.core.messages import Usage
from claw_acp.core.spending import Spending
from claw_acp.schedule.definition import parse_job
from claw_acp.schedule.job_store import JobStore
from claw_acp.session.journal import Journal
from claw_acp.session.record import SessionRecord
from claw_acp.session.setup import Instructions
from claw_acp.store.database import Database, Statement
from claw_acp.store.migrations import VERSION
from claw_acp.store.opening import open_file
from tests.support.fixed_clock import FixedClock

FIRST = "ses_01k5first"
OLD_INSERT = (
    "INSERT INTO session (id, cwd, additional_directories, title, mode, model, created_at, updated_at) "
    "VALUES ('late', '/', '[]', NULL, 'ask', 'm', 1.0, 1.0)"
)


@pytest.fixture
def old_store(tmp_path: Path) -> Path:
    path = tmp_path / "claw.db"
    with sqlite3.connect(path) as connection:
        connection.executescript((Path(__file__).parent / "version_1.sql").read_text())
    connection.close()
    return path


async def test_sessions_of_version_1_are_as_they_were_and_not_archived(old_store: Path) -> None:
    async with Journal.opened(old_store) as journal:
        record = await journal.get(FIRST)
        events = await journal.read(FIRST)
        listed = await journal.list()
        health = await journal.database.check_health()
    assert record == SessionRecord(
        id=FIRST,
        cwd="/home/ada/engine",
        additional_directories=("/home/ada/notes",),
        title="Explain the mill",
        mode="edit",
        model="offline/assistant",
        created_at=1760000000.0,
        updated_at=1760000000.0,
    )
    assert [type(event) for event in events if isinstance(event, MessageStarted | TextDelta)] == [
        MessageStarted,
        MessageStarted,
        TextDelta,
    ]
    assert [each.id for each in listed.records] == ["ses_01k5second", FIRST]
    assert (health.version, health.problems) == (VERSION, ())


async def test_what_came_with_version_2_can_be_kept_in_an_old_session(old_store: Path) -> None:
    async with Journal.opened(old_store) as journal:
        await journal.archive(FIRST, archived=True)
        await journal.rename(FIRST, "Mine")
        brief = Instructions(mode="append", text="Be brief.")
        await journal.update(FIRST, options={"thought": "high"}, instructions=brief)
    async with Journal.opened(old_store) as journal:
        record = await journal.get(FIRST)
    assert (record.archived, record.title, record.title_given) == (True, "Mine", True)
    assert record.options == {"thought": "high"}
    assert record.instructions == Instructions(mode="append", text="Be brief.")


async def test_a_process_of_version_1_that_still_runs_can_go_on_writing(old_store: Path) -> None:
    async with Database.opened(old_store) as database:
        await database.transact([Statement(OLD_INSERT)])
    async with Journal.opened(old_store) as journal:
        record = await journal.get("late")
    assert (record.archived, record.options, record.parent) == (False, {}, None)


# ------------------------------------------------------------------ version 2

TALKED = "ses_01k6first"


@pytest.fixture
def store_of_version_2(tmp_path: Path) -> Path:
    path = tmp_path / "claw.db"
    with sqlite3.connect(path) as connection:
        connection.executescript((Path(__file__).parent / "version_2.sql").read_text())
    connection.close()
    return path


async def test_sessions_of_version_2_are_as_they_were_and_have_cost_nothing_yet(store_of_version_2: Path) -> None:
    async with Journal.opened(store_of_version_2) as journal:
        record = await journal.get(TALKED)
        usage = [event for event in await journal.read(TALKED) if isinstance(event, UsageChanged)]
        spent = await journal.ledger.spent()
        health = await journal.database.check_health()
    assert (record.title, record.title_given, record.options) == ("Count the wheels", True, {"thought": "high"})
    assert [(event.used, event.model, event.cost, event.total) for event in usage] == [(120, "", None, None)]
    assert spent == Spending()
    assert (health.version, health.problems) == (VERSION, ())


async def test_what_came_with_version_3_can_be_kept_for_an_old_session(store_of_version_2: Path) -> None:
    async with Journal.opened(store_of_version_2) as journal:
        journal.ledger.add(TALKED, model="anthropic/m", usage=Usage(input_tokens=5), cost=7)
    async with Journal.opened(store_of_version_2) as journal:
        assert (await journal.ledger.spent(session_id=TALKED)).cost == 7


def test_a_store_of_a_newer_version_is_refused_and_left_as_it_is(store_of_version_2: Path) -> None:
    with sqlite3.connect(store_of_version_2) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    before = store_of_version_2.read_bytes()
    with pytest.raises(StoreError, match="newer claw-acp"):
        open_file(store_of_version_2)
    assert store_of_version_2.read_bytes() == before


# ------------------------------------------------------------------ version 3


async def test_a_store_of_version_3_keeps_what_was_spent_and_can_hold_jobs(tmp_path: Path) -> None:
    path = tmp_path / "claw.db"
    with sqlite3.connect(path) as connection:
        connection.executescript((Path(__file__).parent / "version_3.sql").read_text())
    connection.close()
    async with Journal.opened(path) as journal:
        assert (await journal.ledger.spent(session_id=TALKED)).cost == 7000
        jobs = JobStore(journal.database, clock=FixedClock())
        tea = parse_job("tea", {"at": "+20m", "cwd": "/", "prompt": "tea"}, now=FixedClock().now())
        await jobs.add(tea, source="user")
        health = await journal.database.check_health()
    assert (health.version, health.problems) == (VERSION, ())
