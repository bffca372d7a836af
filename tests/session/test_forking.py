"""Copies of sessions, archived sessions, and lists that hold them or not."""

from pathlib import Path

import pytest

from claw_acp.core.errors import SessionNotFound
from claw_acp.core.events import (
    Event,
    MessageStarted,
    PlanChanged,
    PlanEntry,
    StateChanged,
    TextDelta,
    ToolCallChanged,
)
from claw_acp.core.messages import TextPart
from claw_acp.core.value import replace
from claw_acp.session.entries import NEVER_RAN
from claw_acp.session.history import History
from claw_acp.session.journal import Journal
from claw_acp.session.pages import Archived
from claw_acp.session.record import SessionRecord
from claw_acp.session.turns import TurnLog


def record(session: str, *, cwd: str = "/w", updated_at: float = 1.0) -> SessionRecord:
    return SessionRecord(id=session, cwd=cwd, mode="ask", model="p/m", created_at=1.0, updated_at=updated_at)


TALK: tuple[Event, ...] = (
    MessageStarted(item="u1", role="user", parts=(TextPart(text="read"),)),
    MessageStarted(item="m1", role="assistant"),
    TextDelta(item="m1", text="well "),
    TextDelta(item="m1", text="now"),
    ToolCallChanged(item="c1", message="m1", name="read_file", status="pending", arguments="{}"),
    PlanChanged(item="s", entries=(PlanEntry(content="one"),)),
)


async def keep(journal: Journal, session: str, *events: Event) -> None:
    for seq, event in enumerate(events, 1):
        await journal.append(session, replace(event, session=session, seq=seq), wait=False)


async def test_a_copy_has_all_that_was_said_even_what_is_not_committed_yet(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        await keep(journal, "s", *TALK)
        await journal.fork(replace(record("copy"), parent="s"), source="s")
        copied, original = await journal.read("copy"), await journal.read("s")
        assert (await journal.get("copy")).parent == "s"
    assert [event.seq for event in copied] == list(range(1, len(copied) + 1))
    assert [replace(event, session="s", seq=0) for event in copied[:-1]] == [
        replace(event, seq=0) for event in original[:-1]
    ]
    assert (copied[-1].item, original[-1].item) == ("copy", "s")  # the plan


async def test_a_copy_of_a_running_turn_is_a_conversation_that_models_accept(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        await keep(journal, "s", StateChanged(item="t", state="running"), *TALK)
        await journal.fork(record("copy"), source="s")
        history = History()
        for event in await journal.read("copy"):
            history.apply(event)
    assert [message.role for message in history.messages()] == ["user", "assistant", "tool"]
    assert history.messages()[-1].parts == (TextPart(text=NEVER_RAN),)


async def test_a_copy_and_its_source_go_their_own_ways(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        await keep(journal, "s", *TALK)
        await journal.fork(record("copy"), source="s")
        count = len(await journal.read("copy"))
        await journal.append("copy", MessageStarted(session="copy", item="u2", seq=count + 1, role="user"), wait=True)
        await journal.delete("s")
        assert len(await journal.read("copy")) == count + 1
        assert await journal.read("s") == []


async def test_a_copy_can_end_with_an_earlier_turn(tmp_path: Path) -> None:
    first = (StateChanged(item="t1", state="running"), *TALK, StateChanged(item="t1", state="idle", stop="end_turn"))
    later = (StateChanged(item="t2", state="running"), MessageStarted(item="u2", role="user"))
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        await keep(journal, "s", *first, *later)
        turns = TurnLog()
        for event in await journal.read("s"):
            if isinstance(event, StateChanged):
                turns.apply(event)
        await journal.fork(record("copy"), source="s", until=turns.spans[0].last or 0)
        await journal.fork(record("empty"), source="s", until=0)
        copied, original = await journal.read("copy"), await journal.read("s")
        assert await journal.read("empty") == []
    assert [event.seq for event in copied] == list(range(1, len(copied) + 1))
    assert [type(event) for event in copied] == [type(event) for event in original[: -len(later)]]


async def test_only_a_session_that_is_there_can_be_copied_and_nothing_is_left_of_the_attempt(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        for unknown in ("gone", "\ud800"):
            with pytest.raises(SessionNotFound, match="was not found"):
                await journal.fork(record("copy"), source=unknown)
        with pytest.raises(SessionNotFound):
            await journal.get("copy")


async def test_a_list_leaves_archived_sessions_out_unless_it_is_asked_for_them(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        for number in range(4):
            await journal.create(record(f"s{number}", updated_at=float(number)))
        await journal.archive("s1", archived=True)
        await journal.archive("s2", archived=True)
        filters: tuple[Archived, ...] = ("exclude", "include", "only")
        listed = {chosen: [each.id for each in (await journal.list(archived=chosen)).records] for chosen in filters}
        first = await journal.list(archived="only", limit=1)
        rest = await journal.list(archived="only", limit=1, cursor=first.next_cursor)
    assert listed == {"exclude": ["s3", "s0"], "include": ["s3", "s2", "s1", "s0"], "only": ["s2", "s1"]}
    assert ([each.id for each in rest.records], rest.next_cursor) == (["s1"], None)
