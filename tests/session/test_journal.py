"""The journal: what is kept, when, and what its readers see."""

import math
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claw_acp.core.clock import SystemClock
from claw_acp.core.errors import InvalidRequest, SessionNotFound, StoreError
from claw_acp.core.events import Event, MessageStarted, StateChanged, TextDelta, ThoughtDelta, ToolCallChanged
from claw_acp.session.journal import Journal
from claw_acp.session.record import SessionRecord
from claw_acp.session.setup import Instructions
from claw_acp.session.writer import QUEUE_SIZE
from claw_acp.store.database import Database, Statement


class FixedClock(SystemClock):
    def now(self) -> float:
        return 500.0


def record(session: str, *, cwd: str = "/w", updated_at: float = 1.0) -> SessionRecord:
    return SessionRecord(id=session, cwd=cwd, mode="ask", model="p/m", created_at=1.0, updated_at=updated_at)


def text(seq: int, piece: str, *, item: str = "m1") -> TextDelta:
    return TextDelta(session="s", item=item, seq=seq, text=piece)


def prompt(seq: int) -> MessageStarted:
    return MessageStarted(session="s", item=f"u{seq}", seq=seq, role="user")


async def append_all(journal: Journal, events: Sequence[Event], *, wait: bool = False) -> None:
    for event in events:
        await journal.append("s", event, wait=wait)


async def rows(path: Path) -> list[int]:
    """Positions on disk, as another process sees them."""
    async with Database.opened(path) as database:
        return [row[0] for row in await database.read("SELECT seq FROM event ORDER BY seq")]


# ------------------------------------------------------------------ sessions


async def test_a_session_is_kept_with_all_that_is_known_of_it(tmp_path: Path) -> None:
    whole = SessionRecord(
        id="ses_1",
        cwd="/w/ä",
        additional_directories=("/x", "/y"),
        title="T",
        mode="ask",
        model="p/m",
        created_at=1.5,
        updated_at=2.5,
        archived=True,
        title_given=True,
        options={"thought": "high", "quick": False},
        instructions=Instructions(mode="override", text="Be \ud800 brief."),
        parent="ses_0",
    )
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(whole)
    async with Journal.opened(tmp_path / "claw.db") as journal:
        assert await journal.get("ses_1") == whole
        with pytest.raises(StoreError, match="refused"):
            await journal.create(whole)


@pytest.mark.parametrize("unknown", ["ses_2", "", "\ud800", "\0", "'; DROP TABLE session"])
async def test_an_unknown_session_is_not_found(tmp_path: Path, unknown: str) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("ses_1"))
        with pytest.raises(SessionNotFound):
            await journal.get(unknown)
        with pytest.raises(SessionNotFound):
            await journal.update(unknown, title="x")
        await journal.delete(unknown)
        assert await journal.read(unknown) == []


async def test_an_update_changes_what_is_given_and_the_time_never_goes_back(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db", clock=FixedClock()) as journal:
        await journal.create(record("s"))
        await journal.update("s", title="a\ud800b", updated_at=9.0)
        await journal.update("s", mode="plan", updated_at=3.0)
        found = await journal.get("s")
        assert (found.title, found.mode, found.model, found.updated_at) == ("a?b", "plan", "p/m", 9.0)
        await journal.update("s", model="p/n")
        found = await journal.get("s")
    assert (found.title, found.mode, found.model, found.updated_at) == ("a?b", "plan", "p/n", 500.0)


async def test_a_title_given_by_a_person_is_changed_only_by_another_such_title(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        await journal.update("s", title="automatic")
        await journal.rename("s", "given")
        await journal.update("s", title="automatic again")
        assert (await journal.get("s")).title == "given"
        await journal.rename("s", "given \ud800 anew")
        await journal.update("s", mode="plan")
        assert (await journal.get("s")).title == "given ? anew"


async def test_options_are_added_to_those_that_are_kept_whoever_writes(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as one, Journal.opened(tmp_path / "claw.db") as other:
        await one.create(record("s"))
        await one.update("s", options={"thought": "high", "quick": True})
        await other.update("s", options={"thought": "low"})
        assert (await one.get("s")).options == {"thought": "low", "quick": True}


async def test_archiving_is_no_use_of_a_session_and_needs_one(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        for archived in (True, True, False):
            await journal.archive("s", archived=archived)
            found = await journal.get("s")
            assert (found.archived, found.updated_at) == (archived, 1.0)
        with pytest.raises(SessionNotFound):
            await journal.archive("\ud800", archived=True)
        with pytest.raises(SessionNotFound):
            await journal.archive("gone", archived=False)


async def test_a_directory_that_is_not_unicode_is_refused(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        with pytest.raises(InvalidRequest, match="not valid Unicode"):
            await journal.create(record("s", cwd="/\udcff"))
        assert (await journal.list(cwd="/\udcff")).records == ()


async def test_a_deleted_session_is_gone_with_its_events(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        await append_all(journal, [prompt(1), text(2, "x")])
        await journal.delete("s")
        await journal.delete("s")
        assert await journal.read("s") == []
        assert (await journal.list()).records == ()
        with pytest.raises(SessionNotFound, match="was deleted"):
            await journal.append("s", prompt(3), wait=True)
    assert await rows(tmp_path / "claw.db") == []


# ------------------------------------------------------------------ events


async def test_an_append_that_is_waited_for_is_on_disk_with_all_before_it(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        await journal.append("s", text(1, "a"), wait=False)
        await journal.append("s", prompt(2), wait=True)
        assert await rows(tmp_path / "claw.db") == [1, 2]


async def test_the_end_of_the_block_commits_what_is_left(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        await append_all(journal, [text(1, "a"), text(2, "b", item="m2")])
    assert await rows(tmp_path / "claw.db") == [1, 2]


async def test_streamed_text_is_committed_without_anyone_asking(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        await journal.append("s", text(1, "a"), wait=False)
        with anyio.fail_after(10):
            while await rows(tmp_path / "claw.db") != [1]:
                await anyio.lowlevel.checkpoint()


async def test_adjacent_pieces_of_one_item_become_one_row_with_the_last_position(tmp_path: Path) -> None:
    a_to_d = [text(1, "a"), text(2, "b"), text(3, "c"), text(4, "d", item="m2")]
    events = [*a_to_d, prompt(5), text(6, "e"), text(7, "f"), prompt(8), text(9, "g")]
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        await append_all(journal, events)
        assert await journal.read("s") == [
            text(3, "abc"),
            text(4, "d", item="m2"),
            prompt(5),
            text(7, "ef"),
            prompt(8),
            text(9, "g"),
        ]
        assert await journal.read("s", after=7) == [prompt(8), text(9, "g")]


async def test_thoughts_and_text_are_not_mixed_and_a_closed_block_stands_alone(tmp_path: Path) -> None:
    def thought(seq: int, piece: str, *, signature: str | None = None, redacted: str | None = None) -> ThoughtDelta:
        return ThoughtDelta(session="s", item="m1", seq=seq, text=piece, signature=signature, redacted=redacted)

    events = [
        thought(1, "a"),
        thought(2, "b"),
        thought(3, "", signature="s1"),
        thought(4, "c"),
        thought(5, "", redacted="r"),
        thought(6, "d"),
        text(7, "x"),
    ]
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        await append_all(journal, events)
        assert await journal.read("s") == [thought(2, "ab"), *events[2:]]


async def test_pieces_of_sessions_that_stream_at_once_stay_apart(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        for session in ("s", "t"):
            await journal.create(record(session))
        for seq in range(1, 4):
            for session in ("s", "t"):
                await journal.append(session, text(seq, f"{session}{seq}"), wait=False)
        assert [event.text for event in await journal.read("s") if isinstance(event, TextDelta)] == ["s1s2s3"]
        assert [event.text for event in await journal.read("t") if isinstance(event, TextDelta)] == ["t1t2t3"]


async def test_a_cancelled_append_is_still_kept(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        for seq in range(1, 21):
            async with anyio.create_task_group() as tasks:

                async def append(seq: int = seq) -> None:
                    await journal.append("s", prompt(seq), wait=True)

                tasks.start_soon(append)
                for _ in range(seq % 4 + 1):
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
        assert [event.seq for event in await journal.read("s")] == list(range(1, 21))


async def test_a_cancelled_block_keeps_what_was_appended(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks, Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        await append_all(journal, [text(1, "a"), prompt(2)])
        tasks.cancel_scope.cancel()
        await anyio.lowlevel.checkpoint()
    assert await rows(tmp_path / "claw.db") == [1, 2]


async def test_an_error_of_the_block_leaves_as_it_came(tmp_path: Path) -> None:
    with pytest.raises(SessionNotFound):
        async with Journal.opened(tmp_path / "claw.db") as journal:
            await journal.get("ses_9")


async def test_more_than_the_queue_holds_is_taken_in_order(tmp_path: Path) -> None:
    count = QUEUE_SIZE * 2 + 10
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        await append_all(journal, [prompt(seq) for seq in range(1, count + 1)])
        assert [event.seq for event in await journal.read("s")] == list(range(1, count + 1))


async def test_an_event_that_is_not_json_is_refused_and_the_others_are_kept(tmp_path: Path) -> None:
    circular: list[object] = []
    circular.append(circular)
    broken = ToolCallChanged(item="c", seq=2, raw_output=circular)  # pyright: ignore[reportArgumentType] - the point
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        await journal.append("s", prompt(1), wait=False)
        with pytest.raises(StoreError, match="cannot be kept"):
            await journal.append("s", broken, wait=False)
        await journal.append("s", prompt(3), wait=True)
    assert await rows(tmp_path / "claw.db") == [1, 3]


async def test_lone_surrogates_survive(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        await append_all(journal, [text(1, "a\ud800"), text(2, "b\0")])
        assert await journal.read("s") == [text(2, "a\ud800b\0")]


# ------------------------------------------------------------------ trouble


async def test_a_full_disk_reaches_who_waits_and_the_journal_goes_on(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        pages = (await journal.database.read("PRAGMA page_count"))[0][0]
        await journal.database.read(f"PRAGMA max_page_count = {pages}")
        await journal.append("s", text(1, "x" * 100_000), wait=False)
        with pytest.raises(StoreError, match="full"):
            await journal.append("s", prompt(2), wait=True)
        with pytest.raises(StoreError, match="full"):
            await journal.flush()
        assert await journal.read("s") == []  # reading goes on
        await journal.database.read("PRAGMA max_page_count = 1000000")
        await journal.append("s", prompt(3), wait=True)
        assert [event.seq for event in await journal.read("s")] == [1, 3]  # nobody was told that 1 failed: it is kept


async def test_rows_refused_in_one_session_do_not_touch_another(tmp_path: Path) -> None:
    errors: list[Exception] = []

    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        await journal.append("s", prompt(1), wait=True)

        async def append(session: str, event: Event) -> None:
            try:
                await journal.append(session, event, wait=True)
            except StoreError as error:
                errors.append(error)

        async with anyio.create_task_group() as tasks:
            await journal.create(record("t"))
            tasks.start_soon(append, "s", prompt(1))
            tasks.start_soon(append, "t", prompt(1))
        assert [event.seq for event in await journal.read("t")] == [1]
        assert len(errors) == 1


async def test_nothing_can_be_appended_to_a_closed_journal(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
    with pytest.raises(StoreError, match="closed"):
        await journal.append("s", prompt(1), wait=True)


async def test_an_event_of_a_later_version_does_not_stop_a_reader(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        await journal.create(record("s"))
        await append_all(journal, [prompt(1)], wait=True)
        await journal.database.transact([Statement("INSERT INTO event VALUES ('s', 2, 'telepathy', 'x', '{}')")])
        await append_all(journal, [StateChanged(session="s", seq=3, state="idle")], wait=True)
        assert [event.seq for event in await journal.read("s")] == [1, 3]


# ------------------------------------------------------------------ listing


async def pages(journal: Journal, *, cwd: str | None = None, limit: int = 2) -> list[str]:
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = await journal.list(cwd=cwd, cursor=cursor, limit=limit)
        assert len(page.records) <= limit
        found += [each.id for each in page.records]
        cursor = page.next_cursor
        if cursor is None:
            return found


async def test_a_listing_is_newest_first_in_one_directory_or_all(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        for number, cwd in enumerate(("/a", "/b", "/a", "/a/", "/ab", "/")):
            await journal.create(record(f"s{number}", cwd=cwd, updated_at=float(number % 4)))
        assert await pages(journal) == ["s3", "s2", "s5", "s1", "s4", "s0"]
        assert await pages(journal, cwd="/a") == await pages(journal, cwd="/a/") == ["s3", "s2", "s0"]
        assert await pages(journal, cwd="/") == ["s5"]
        assert await pages(journal, cwd="/none") == []


async def test_a_cursor_that_is_not_ours_or_of_another_filter_is_refused(tmp_path: Path) -> None:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        for number in range(3):
            await journal.create(record(f"s{number}", cwd="/a"))
        cursor = (await journal.list(cwd="/a/", limit=1)).next_cursor
        assert cursor is not None
        assert len((await journal.list(cwd="/a", cursor=cursor)).records) == 2
        with pytest.raises(InvalidRequest, match="other filters"):
            await journal.list(cwd="/a", archived="include", cursor=cursor)
        for other in (None, "/b"):
            with pytest.raises(InvalidRequest, match="other filters"):
                await journal.list(cwd=other, cursor=cursor)
        for garbage in ("", "x", "%%%", "ä", "\ud800", "bnVsbA==", "WzEsMl0=", cursor[:-4], "W251bGwsIE5hTiwgInMiXQ=="):
            with pytest.raises(InvalidRequest, match="not a cursor"):
                await journal.list(cwd="/a", cursor=garbage)
        with pytest.raises(InvalidRequest, match="at least one"):
            await journal.list(limit=0)
        assert math.isfinite((await journal.get("s0")).updated_at)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    times=st.lists(st.integers(0, 3), min_size=1, max_size=12),
    limit=st.integers(1, 5),
    changes=st.lists(st.tuples(st.integers(0, 15), st.sampled_from(["touch", "delete"])), max_size=6),
)
def test_pages_show_each_untouched_session_once_and_none_twice(
    tmp_path_factory: pytest.TempPathFactory, times: list[int], limit: int, changes: list[tuple[int, str]]
) -> None:
    async def run() -> None:
        async with Journal.opened(tmp_path_factory.mktemp("pages") / "claw.db") as journal:
            for number, time in enumerate(times):
                await journal.create(record(f"s{number:02}", updated_at=float(time)))
            touched = {f"s{number:02}" for number, _ in changes}
            pending = list(changes)
            found: list[str] = []
            cursor: str | None = None
            while True:
                page = await journal.list(cursor=cursor, limit=limit)
                found += [each.id for each in page.records]
                cursor = page.next_cursor
                if cursor is None:
                    break
                if pending:
                    number, change = pending.pop()
                    name = f"s{number:02}"
                    if change == "delete":
                        await journal.delete(name)
                    elif number < len(times):
                        try:
                            await journal.update(name, updated_at=100.0)
                        except SessionNotFound:
                            assert (number, "delete") in changes
            assert len(found) == len(set(found))
            ordered = sorted(((time, f"s{number:02}") for number, time in enumerate(times)), reverse=True)
            untouched = [name for _, name in ordered if name not in touched]
            assert [name for name in found if name not in touched] == untouched

    anyio.run(run)
