"""The contracts of what sessions are kept in: all that keep them behave so."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import NamedTuple

import pytest

from claw_acp.core.errors import InvalidRequest, SessionBusy, SessionNotFound, StoreError
from claw_acp.core.events import MessageStarted, StateChanged, TextDelta, UsageChanged
from claw_acp.core.messages import TextPart, Usage
from claw_acp.core.value import replace
from claw_acp.session.journal import Journal
from claw_acp.session.lock import SessionLock
from claw_acp.session.record import SessionRecord
from claw_acp.session.session import Session
from claw_acp.session.stores import JournalStore, SessionLocks
from tests.support.fixed_clock import FixedClock
from tests.support.memory_stores import MemoryJournal, MemoryLocks

RECORD = SessionRecord(id="s", cwd="/w", mode="ask", model="p/m", created_at=1.0, updated_at=1.0)
TOKENS = Usage(input_tokens=5, output_tokens=2)


class Stores(NamedTuple):
    journal: JournalStore
    locks: SessionLocks
    clock: FixedClock


@pytest.fixture(params=["embedded", "in memory"])
async def stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Stores]:
    clock = FixedClock(now=500.0)
    if request.param == "in memory":
        yield Stores(MemoryJournal(clock), MemoryLocks(), clock)
        return
    async with Journal.opened(tmp_path / "claw.db", clock=clock) as journal:
        yield Stores(journal, SessionLock(tmp_path / "locks"), clock)


async def test_facts_are_changed_one_by_one(stores: Stores) -> None:
    journal = stores.journal
    await journal.create(RECORD)
    await journal.update("s", title="first", options={"a": "1"}, updated_at=9.0)
    await journal.update("s", mode="plan", options={"b": True}, updated_at=3.0)
    await journal.rename("s", "given")
    await journal.update("s", title="not this", updated_at=4.0)
    await journal.archive("s", archived=True)
    expected = replace(
        RECORD, title="given", title_given=True, mode="plan", options={"a": "1", "b": True}, updated_at=9.0,
        archived=True,
    )  # fmt: skip
    assert await journal.get("s") == expected
    journal.touch("s")
    assert (await journal.get("s")).updated_at == 500.0


async def test_what_is_not_there_is_not_found(stores: Stores) -> None:
    journal, event = stores.journal, MessageStarted(session="x", item="m", seq=1, role="user")
    for attempt in (
        journal.get("x"),
        journal.update("x", mode="plan"),
        journal.rename("x", "t"),
        journal.archive("x", archived=True),
        journal.fork(RECORD, source="x"),
        journal.append("x", event, wait=True),
    ):
        with pytest.raises(SessionNotFound):
            await attempt
    assert await journal.read("x") == []
    await journal.delete("x")
    await journal.create(RECORD)
    with pytest.raises(StoreError):
        await journal.create(RECORD)
    with pytest.raises(InvalidRequest):
        await journal.create(replace(RECORD, id="t", cwd="/\udcff"))


async def test_events_are_read_in_order_and_a_copy_ends_where_it_is_to(stores: Stores) -> None:
    journal = stores.journal
    await journal.create(RECORD)
    events = [
        MessageStarted(session="s", item="m", seq=1, role="user", parts=(TextPart(text="hi"),)),
        UsageChanged(session="s", item="m", seq=2, used=7, size=9, request=TOKENS, total=1.0),
        StateChanged(session="s", item="t", seq=3, state="idle", stop="end_turn"),
    ]
    for event in events:
        await journal.append("s", event, wait=event.seq == 3)
    await journal.flush()
    assert await journal.read("s") == events
    assert await journal.read("s", after=2) == events[2:]
    await journal.fork(replace(RECORD, id="copy", parent="s"), source="s", until=2)
    copied = await journal.read("copy")
    assert copied == [replace(events[0], session="copy"), replace(events[1], session="copy", total=None)]
    await journal.delete("s")
    assert (await journal.read("s"), await journal.read("copy")) == ([], copied)


async def test_lists_are_paged_by_the_last_change(stores: Stores) -> None:
    journal = stores.journal
    for number in range(5):
        place = "/w" if number % 2 else "/v/"
        await journal.create(replace(RECORD, id=f"s{number}", cwd=place, updated_at=float(number)))
    await journal.archive("s3", archived=True)
    first = await journal.list(limit=2)
    second = await journal.list(limit=2, cursor=first.next_cursor)
    assert [record.id for record in (*first.records, *second.records)] == ["s4", "s2", "s1", "s0"]
    assert [record.id for record in (await journal.list(cwd="/v")).records] == ["s4", "s2", "s0"]
    assert [record.id for record in (await journal.list(archived="only", begun=True)).records] == ["s3"]
    assert (await journal.list(begun=True)).records == ()
    with pytest.raises(InvalidRequest):
        await journal.list(cwd="/v", cursor=first.next_cursor)


async def test_what_requests_cost_is_added_up_and_outlives_sessions(stores: Stores) -> None:
    journal, ledger = stores.journal, stores.journal.ledger
    await journal.create(RECORD)
    for session, model, cost in (("s", "p/m", 3), ("s", "p/n", 40), ("other", "p/m", None)):
        ledger.add(session, model=model, usage=TOKENS, cost=cost)
    stores.clock.seconds += 86_400
    ledger.add("s", model="p/m", usage=TOKENS, cost=1)
    await journal.delete("s")
    assert ((await ledger.spent()).cost, (await ledger.spent()).unpriced) == (44, 1)
    assert (await ledger.spent(period=ledger.day)).requests == 1
    assert (await ledger.spent(session_id="s")).usage.input_tokens == 15
    assert [(share.key, share.spending.cost) for share in await ledger.shares("model")] == [("p/n", 40), ("p/m", 4)]
    assert [share.spending.requests for share in await ledger.shares("day", period=ledger.day[:7])] == [3, 1]


async def test_a_session_is_held_by_one(stores: Stores) -> None:
    async with stores.locks.locked("s"), stores.locks.locked("other"):
        with pytest.raises(SessionBusy):
            async with stores.locks.locked("s"):
                pass
    async with stores.locks.locked("s"):
        pass


async def test_two_sessions_of_one_store_see_the_same_conversation(stores: Stores) -> None:
    journal, locks, clock = stores
    await journal.create(RECORD)
    one, other = (
        Session(RECORD, journal=journal, clock=clock, roots=(), lock=lambda: locks.locked("s")) for _ in range(2)
    )

    async def speak(session: Session, text: str) -> None:
        await session.publish(MessageStarted(item=f"m{text}", role="assistant"))
        for letter in text:
            await session.publish(TextDelta(item=f"m{text}", text=letter))
        await session.publish(StateChanged(item=f"t{text}", state="idle", stop="end_turn"))

    for session, text in ((one, "ab"), (other, "cd"), (one, "ef")):
        await session.in_turn(session.queue_turn(), lambda: speak(session, text), lock=locks.locked("s"))  # noqa: B023 - run at once
    await other.catch_up()
    said = [message.text for message in other.history.messages()]
    assert said == [message.text for message in one.history.messages()] == ["ab", "cd", "ef"]
    seqs = [event.seq for event in await journal.read("s")]
    assert seqs == sorted(set(seqs))
