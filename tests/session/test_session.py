"""A live session and what is said of it."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.events import SessionChanged
from claw_acp.core.value import replace
from claw_acp.session.journal import Journal
from claw_acp.session.record import SessionRecord
from claw_acp.session.session import Session
from claw_acp.session.setup import Instructions
from tests.support.seen import Seen


class Bench:
    def __init__(self, session: Session, journal: Journal) -> None:
        self.session = session
        self.journal = journal
        self.seen = Seen()
        session.subscribers.append(self.seen)

    async def kept(self) -> SessionRecord:
        return await self.journal.get("s")


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncGenerator[Bench]:
    record = SessionRecord(id="s", cwd="/", mode="ask", model="m", created_at=0.0, updated_at=0.0)
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record)
        yield Bench(Session(record, journal=journal, clock=SYSTEM_CLOCK, roots=[tmp_path]), journal)


async def test_a_title_of_ours_gives_way_to_a_persons_and_never_the_other_way_round(bench: Bench) -> None:
    await bench.session.change(title="ours")
    await bench.session.rename("theirs")
    await bench.session.change(title="ours again", mode="plan")
    assert bench.session.record == await bench.kept()
    assert (bench.session.record.title, bench.session.record.mode) == ("theirs", "plan")
    said = [event.title for event in bench.seen.events if isinstance(event, SessionChanged)]
    assert said == ["ours", "theirs", None]


async def test_naming_and_instructing_a_session_is_no_use_of_it(bench: Bench) -> None:
    await bench.session.rename("theirs")
    await bench.session.instruct(Instructions(mode="append", text="x"))
    assert (await bench.kept()).updated_at == 0.0


async def test_options_are_told_as_they_change_here_or_elsewhere(bench: Bench) -> None:
    await bench.session.change(options={"thought": "high", "quick": True})
    await bench.session.change(options={"thought": "low"})
    await bench.journal.update("s", options={"quick": False})
    await bench.session.catch_up()
    assert bench.session.record.options == {"thought": "low", "quick": False}
    told = [event.options for event in bench.seen.events if isinstance(event, SessionChanged)]
    assert told == [{"thought": "high", "quick": True}, {"thought": "low"}, {"quick": False}]


async def test_a_title_given_in_another_process_is_told_here_with_the_next_turn(bench: Bench) -> None:
    await bench.journal.rename("s", "theirs")
    await bench.session.catch_up()
    assert bench.seen.events == [SessionChanged(session="s", title="theirs")]
    assert bench.session.record == replace(await bench.kept())
