"""Turns, what becomes of the conversation when they are undone, and summaries that take the place of its beginning."""

import re
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.cli.sessions.outline import outline
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.events import (
    CompactionChanged,
    Event,
    MessageStarted,
    Notice,
    StateChanged,
    TextDelta,
    ThoughtDelta,
    ToolCallChanged,
    TurnRewound,
    UsageChanged,
)
from claw_acp.core.messages import Message, TextPart, Usage
from claw_acp.core.value import replace
from claw_acp.session.export import to_markdown
from claw_acp.session.history import SUMMARY, History
from claw_acp.session.journal import Journal
from claw_acp.session.record import SessionRecord
from claw_acp.session.session import Session
from claw_acp.session.turns import TurnSpan, without_undone

RECORD = SessionRecord(id="s", cwd="/", mode="ask", model="m", created_at=0.0, updated_at=0.0)


def numbered(*events: Event) -> list[Event]:
    return [replace(event, seq=seq) for seq, event in enumerate(events, 1)]


def fold(events: Sequence[Event], *, asking: bool = False) -> History:
    """The history of these events, asked for its messages after each, or at the end alone."""
    history = History()
    for event in events:
        history.apply(event)
        if asking:
            history.messages()
    return history


def turn(number: int, *, ends: bool = True) -> tuple[Event, ...]:
    """A prompt, a tool call and an answer: eight events, seven without the end."""
    end = (StateChanged(item=f"t{number}", state="idle", stop="end_turn"),) if ends else ()
    return (
        StateChanged(item=f"t{number}", state="running"),
        MessageStarted(item=f"u{number}", role="user", parts=(TextPart(text=f"prompt {number}"),)),
        MessageStarted(item=f"a{number}", role="assistant"),
        ToolCallChanged(item=f"c{number}", message=f"a{number}", name="read", status="pending", arguments="{}"),
        ToolCallChanged(item=f"c{number}", status="completed", output=(TextPart(text=f"file {number}"),)),
        MessageStarted(item=f"b{number}", role="assistant"),
        TextDelta(item=f"b{number}", text=f"answer {number}"),
        *end,
    )


def texts(history: History) -> list[str]:
    return [message.text for message in history.messages() if message.text]


def said(*numbers: int) -> list[str]:
    return [text for number in numbers for text in (f"prompt {number}", f"file {number}", f"answer {number}")]


# ------------------------------------------------------------------ turns


def test_a_turn_goes_from_running_to_idle_and_one_cut_short_to_where_the_next_begins() -> None:
    history = fold(numbered(*turn(1), *turn(2, ends=False), *turn(3, ends=False)))
    assert history.turns.spans == (
        TurnSpan(id="t1", first=1, last=8),
        TurnSpan(id="t2", first=9, last=15),
        TurnSpan(id="t3", first=16, last=None),
    )


def test_the_conversation_can_be_cut_at_a_turn() -> None:
    history = fold(numbered(*turn(1), *turn(2), *turn(3)))
    for number, span in enumerate(history.turns.spans, 1):
        before, after = history.split(span)
        assert [*before, *after] == history.messages()
        assert before == fold(numbered(*(event for each in range(1, number) for event in turn(each)))).messages()


@pytest.mark.parametrize(
    ("rewinds", "left"),
    [
        pytest.param([TurnRewound(item="t3")], said(1, 2), id="the last"),
        pytest.param([TurnRewound(item="t2")], said(1), id="one, and all after it"),
        pytest.param([TurnRewound(item="t3"), TurnRewound(item="t2")], said(1), id="one after the other"),
        pytest.param([TurnRewound(item="t2"), TurnRewound(item="t2", undone=False)], said(1, 2, 3), id="taken back"),
        pytest.param(
            [TurnRewound(item="t3"), TurnRewound(item="t2"), TurnRewound(item="t2", undone=False)],
            said(1, 2),
            id="one of two taken back",
        ),
        pytest.param([TurnRewound(item="t9"), TurnRewound(item="t8", undone=False)], said(1, 2, 3), id="unknown"),
    ],
)
@pytest.mark.parametrize("asking", [False, True])
def test_undone_turns_are_in_no_context_and_no_replay(
    rewinds: Sequence[Event], left: list[str], *, asking: bool
) -> None:
    events = numbered(*turn(1), *turn(2), *turn(3), *rewinds, *turn(4))
    history = fold(events, asking=asking)
    assert texts(history) == [*left, *said(4)]
    assert texts(fold(without_undone(events))) == texts(history)
    assert re.findall(r"prompt \d", to_markdown(RECORD, events)) == [
        text for text in texts(history) if "prompt" in text
    ]
    assert [line for line in outline(events) if "user" in line] == [f"user: {text}" for text in texts(history)[::3]]
    assert len(history.turns.spans) == len(texts(history)) // 3


def test_a_call_that_was_cut_short_in_an_undone_turn_is_not_unfinished_any_more() -> None:
    cut_short = turn(2)[:4]
    events = numbered(*turn(1), *cut_short, TurnRewound(item="t2"))
    assert fold(events[:-1]).unfinished_calls == ("c2",)
    assert fold(events).unfinished_calls == ()


def test_what_is_said_later_of_a_call_is_shown_again_where_the_call_is() -> None:
    end_of_program = ToolCallChanged(item="c1", content=())
    events = numbered(*turn(1), *turn(2), end_of_program, TurnRewound(item="t2"), replace(end_of_program, item="c2"))
    assert [event.item for event in without_undone(events) if isinstance(event, ToolCallChanged)] == ["c1"] * 3


def test_the_cost_of_an_undone_turn_stays() -> None:
    usage = UsageChanged(used=1, size=2, request=Usage(), total=3.0)
    events = numbered(*turn(1), usage, TurnRewound(item="t1"))
    assert [event for event in without_undone(events) if isinstance(event, UsageChanged)] == [events[-2]]
    assert fold(events).usage == events[-2]


# ------------------------------------------------------------------ compaction

DONE = CompactionChanged(item="k1", status="completed", summary="They read files.")
SUMMED_UP = SUMMARY.format("They read files.")


@pytest.mark.parametrize(
    ("compaction", "left"),
    [
        pytest.param([DONE], [SUMMED_UP], id="whole"),
        pytest.param([replace(DONE, kept_from="u2")], [SUMMED_UP, *said(2)], id="a turn is kept"),
        pytest.param([replace(DONE, kept_from="b2")], [SUMMED_UP, "answer 2"], id="a part of a turn is kept"),
        pytest.param([replace(DONE, kept_from="unknown")], [SUMMED_UP], id="kept from nowhere"),
        pytest.param(
            [
                CompactionChanged(item="k1", status="in_progress", kept_from="u2"),
                CompactionChanged(item="k1", status="in_progress", delta="They "),
                CompactionChanged(item="k1", status="in_progress", delta="read files."),
                CompactionChanged(item="k1", status="completed"),
            ],
            [SUMMED_UP, *said(2)],
            id="piece by piece",
        ),
        pytest.param([DONE, replace(DONE, item="k2", summary="All.")], [SUMMARY.format("All.")], id="twice"),
        pytest.param([replace(DONE, status="in_progress")], said(1, 2), id="not yet"),
        pytest.param([replace(DONE, status="failed")], said(1, 2), id="failed"),
        pytest.param([DONE, replace(DONE, item="k2", status="cancelled")], [SUMMED_UP], id="the second cancelled"),
        pytest.param([replace(DONE, summary=" ")], said(1, 2), id="without a word"),
    ],
)
@pytest.mark.parametrize("asking", [False, True])
def test_a_summary_stands_for_what_came_before_its_mark(
    compaction: Sequence[Event], left: list[str], *, asking: bool
) -> None:
    history = fold(numbered(*turn(1), *turn(2), *compaction, *turn(3)), asking=asking)
    assert texts(history) == [*left, *said(3)]
    assert history.messages()[0].role == "user"


def test_a_turn_undone_takes_the_summary_with_it_that_was_made_in_it() -> None:
    compacting = (*turn(2, ends=False), DONE, StateChanged(item="t2", state="idle", stop="end_turn"))
    events = numbered(*turn(1), *compacting, *turn(3))
    assert texts(fold(events)) == [SUMMED_UP, *said(3)]
    assert texts(fold(numbered(*events, TurnRewound(item="t3")))) == [SUMMED_UP]
    assert texts(fold(numbered(*events, TurnRewound(item="t2")))) == said(1)


def test_a_compacted_conversation_can_be_cut_too() -> None:
    history = fold(numbered(*turn(1), *turn(2), DONE, *turn(3)))
    assert history.split(history.turns.spans[0]) == ([Message.user(SUMMED_UP)], history.messages()[1:])
    assert history.split(history.turns.spans[-1])[1] == fold(numbered(*turn(3))).messages()


# ------------------------------------------------------------------ live and loaded

ids = st.sampled_from(["t1", "t2", "t3"])
words = st.sampled_from(["", "word "])
messages = st.sampled_from(["m1", "m2", "m3"])
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(StateChanged, item=ids, state=st.just("running")),
    st.builds(StateChanged, item=ids, state=st.just("idle"), stop=st.sampled_from([None, "end_turn", "cancelled"])),
    st.builds(TurnRewound, item=ids, undone=st.booleans()),
    st.builds(
        CompactionChanged,
        item=st.sampled_from(["k1", "k2"]),
        status=st.sampled_from(["in_progress", "completed", "failed"]),
        summary=st.none() | st.just("sum"),
        delta=st.none() | st.just("more"),
        kept_from=st.none() | messages,
    ),
    st.builds(
        MessageStarted,
        item=messages,
        role=st.sampled_from(["user", "assistant"]),
        parts=words.map(lambda word: (TextPart(text=word),)),
    ),
    st.builds(TextDelta, item=messages, text=words),
    st.builds(TextDelta, item=messages, text=words),
    st.builds(ThoughtDelta, item=messages, text=words, signature=st.none() | st.just("s")),
    st.builds(
        ToolCallChanged,
        item=st.sampled_from(["c1", "c2"]),
        message=st.none() | messages,
        name=st.just("read"),
        status=st.sampled_from(["pending", "completed"]),
    ),
    st.just(Notice(severity="error", title="oops")),
)


@settings(deadline=None, max_examples=60)
@given(events=st.lists(EVENTS, max_size=30), asked=st.sets(st.integers(0, 30)))
def test_a_session_that_is_loaded_is_as_it_was_live(
    tmp_path_factory: pytest.TempPathFactory, events: list[Event], asked: set[int]
) -> None:
    async def run() -> None:
        async with Journal.opened(tmp_path_factory.mktemp("turns") / "claw.db") as journal:
            await journal.create(RECORD)
            live, loaded = (Session(RECORD, journal=journal, clock=SYSTEM_CLOCK, roots=[Path("/")]) for _ in range(2))
            for number, event in enumerate(events):
                await live.publish(event, committed=False)
                if number in asked:
                    live.history.messages()
            kept = await loaded.read()
            assert loaded.history.messages() == live.history.messages() == fold(kept).messages()
            assert loaded.history.turns.spans == live.history.turns.spans
            assert loaded.history.unfinished_calls == live.history.unfinished_calls
            assert await loaded.conversation() == await live.conversation() == without_undone(kept)

    anyio.run(run)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["turn", "undo", "redo"]), max_size=12))
def test_undo_and_redo_leave_the_turns_that_a_stack_would(steps: list[str]) -> None:
    events: list[Event] = []
    done: list[int] = []
    undone: list[int] = []
    for number, step in enumerate(steps, 1):
        if step == "turn":
            events += turn(number)
            done.append(number)
            undone.clear()
        elif step == "undo" and done:
            undone.append(done.pop())
            events.append(TurnRewound(item=f"t{undone[-1]}"))
        elif step == "redo" and undone:
            done.append(undone.pop())
            events.append(TurnRewound(item=f"t{done[-1]}", undone=False))
    history = fold(numbered(*events))
    assert texts(history) == said(*done)
    assert [span.id for span in history.turns.spans] == [f"t{number}" for number in done]
