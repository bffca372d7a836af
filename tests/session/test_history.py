"""Folding events into a conversation that every vendor accepts."""

import tracemalloc
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.core.events import (
    CompactionChanged,
    Event,
    MessageStarted,
    Notice,
    PlanChanged,
    SessionChanged,
    StateChanged,
    TextDelta,
    ThoughtDelta,
    ToolCallChanged,
    UsageChanged,
)
from claw_acp.core.messages import ImagePart, Message, Reasoning, TextPart, ToolCall, Usage
from claw_acp.core.value import replace
from claw_acp.session.entries import INTERRUPTED, NEVER_RAN, NO_OUTPUT
from claw_acp.session.history import History

READ = ToolCall(id="c1", name="read", arguments='{"path":"x"}')


def fold(*events: Event) -> History:
    history = History()
    for event in events:
        history.apply(event)
    return history


def user(text: str, *, item: str = "u1", local_only: bool = False) -> MessageStarted:
    return MessageStarted(item=item, role="user", parts=(TextPart(text=text),), local_only=local_only)


def assistant(item: str = "a1") -> MessageStarted:
    return MessageStarted(item=item, role="assistant")


def call(item: str = "c1", *, message: str = "a1", name: str = "read") -> ToolCallChanged:
    return ToolCallChanged(item=item, message=message, name=name, status="pending", arguments='{"path":"x"}')


def done(text: str, *, item: str = "c1", failed: bool = False) -> ToolCallChanged:
    status = "failed" if failed else "completed"
    return ToolCallChanged(item=item, status=status, output=(TextPart(text=text),))


def usage() -> UsageChanged:
    return UsageChanged(used=10, size=100, request=Usage(input_tokens=10))


def test_a_turn_with_a_tool_call_becomes_prompt_call_result_and_answer() -> None:
    history = fold(
        user("look"),
        StateChanged(state="running"),
        assistant("a1"),
        TextDelta(item="a1", text="I "),
        TextDelta(item="a1", text="look"),
        call(),
        ToolCallChanged(item="c1", status="in_progress"),
        done("content"),
        assistant("a2"),
        TextDelta(item="a2", text="Done."),
        StateChanged(state="idle", stop="end_turn"),
    )
    assert history.messages() == [
        Message.user("look"),
        Message.assistant("I look", tool_calls=(READ,)),
        Message.tool(READ, "content"),
        Message.assistant("Done."),
    ]


def test_several_calls_of_one_message_are_answered_in_their_order() -> None:
    history = fold(user("go"), assistant(), call("c1"), call("c2"), done("two", item="c2"), done("one", item="c1"))
    two = ToolCall(id="c2", name="read", arguments='{"path":"x"}')
    assert history.messages()[1:] == [
        Message.assistant(tool_calls=(READ, two)),
        Message.tool(READ, "one"),
        Message.tool(two, "two"),
    ]


def test_a_failed_call_is_marked() -> None:
    assert fold(assistant(), call(), done("no such file", failed=True)).messages()[1] == Message.tool(
        READ, "no such file", failed=True
    )


def test_a_call_that_never_finished_gets_a_result_that_says_so() -> None:
    history = fold(user("go"), assistant(), call())
    assert history.messages()[2] == Message.tool(READ, NEVER_RAN, failed=True)
    history.apply(ToolCallChanged(item="c1", status="in_progress"))
    assert history.messages()[2] == Message.tool(READ, INTERRUPTED, failed=True)
    assert history.unfinished_calls == ("c1",)
    history.apply(done("after all"))
    assert history.messages()[2] == Message.tool(READ, "after all")
    assert history.unfinished_calls == ()


def test_a_prompt_that_came_during_a_call_stands_after_the_results() -> None:
    history = fold(user("go"), assistant(), call(), user("and hurry", item="u2"), done("content"))
    assert [message.role for message in history.messages()] == ["user", "assistant", "tool", "user"]


def test_a_call_without_output_has_a_result_with_words() -> None:
    history = fold(assistant(), call(), ToolCallChanged(item="c1", status="completed", output=()))
    assert history.messages()[1] == Message.tool(READ, NO_OUTPUT)


def test_a_result_nobody_asked_for_is_left_out() -> None:
    assert fold(user("go"), done("lost", item="c9")).messages() == [Message.user("go")]


def test_a_call_that_was_never_named_is_left_out() -> None:
    assert fold(user("go"), assistant(), ToolCallChanged(item="c1", message="a1"), done("x")).messages() == [
        Message.user("go")
    ]


def test_the_same_call_id_in_two_messages_is_made_unique() -> None:
    history = fold(assistant("a1"), call(), done("one"), assistant("a2"), call(message="a2"), done("two"))
    ids = [(each.id for each in message.tool_calls) for message in history.messages() if message.tool_calls]
    results = [(message.tool_call_id, message.text) for message in history.messages() if message.role == "tool"]
    assert [list(each) for each in ids] == [["c1"], ["c1-2"]]
    assert results == [("c1", "one"), ("c1-2", "two")]


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_assistant_message_that_says_nothing_is_left_out(text: str) -> None:
    history = fold(
        user("go"),
        assistant(),
        ThoughtDelta(item="a1", text="hm", signature="s"),
        TextDelta(item="a1", text=text),
        Notice(severity="error", title="the model failed"),
        StateChanged(state="idle", error="the model failed"),
        user("again", item="u2"),
    )
    assert history.messages() == [Message.user("go"), Message.user("again")]


def test_an_aside_is_kept_from_models() -> None:
    history = fold(
        user("/cost", local_only=True),
        MessageStarted(item="a0", role="assistant", local_only=True),
        TextDelta(item="a0", text="3 cents"),
        user("hello", item="u2"),
    )
    assert history.messages() == [Message.user("hello")]


def test_each_signature_closes_a_block_of_thinking() -> None:
    history = fold(
        assistant(),
        ThoughtDelta(item="a1", text="one "),
        ThoughtDelta(item="a1", text="more"),
        ThoughtDelta(item="a1", text="", signature="s1"),
        ThoughtDelta(item="a1", text="", redacted="secret"),
        TextDelta(item="a1", text="Hi"),
    )
    blocks = (Reasoning(text="one more", signature="s1"), Reasoning(text="", redacted="secret"))
    assert history.messages() == [Message.assistant("Hi", reasoning=blocks)]


OPEN_THOUGHT = (user("go"), assistant(), ThoughtDelta(item="a1", text="half a"), TextDelta(item="a1", text="Hi"))


@pytest.mark.parametrize("end", [usage(), StateChanged(state="idle", stop="end_turn"), call()])
def test_thinking_without_signature_counts_once_the_message_came_to_its_end(end: Event) -> None:
    assert fold(*OPEN_THOUGHT, end).messages()[1].reasoning == (Reasoning(text="half a"),)


@pytest.mark.parametrize("end", [StateChanged(state="idle", stop="cancelled"), StateChanged(state="idle", error="x")])
def test_an_open_thought_of_an_interrupted_message_is_dropped_and_its_text_stays(end: Event) -> None:
    assert fold(*OPEN_THOUGHT, end, user("next", item="u2")).messages()[1] == Message.assistant("Hi")
    assert fold(*OPEN_THOUGHT).messages()[1] == Message.assistant("Hi")


def test_a_prompt_of_an_image_alone_counts() -> None:
    image = ImagePart(data="aGk=", mime_type="image/png")
    history = fold(MessageStarted(item="u1", role="user", parts=(TextPart(text=""), image)))
    assert history.messages() == [Message.user(image)]


def test_the_list_of_messages_belongs_to_the_caller() -> None:
    history = fold(user("go"))
    history.messages().clear()
    assert history.messages() == [Message.user("go")]


# ------------------------------------------------------------------ any events at all

messages = st.sampled_from(["m1", "m2", "m3", "c1"])
calls = st.sampled_from(["c1", "c1-2", "c2", "m1"])
texts = st.sampled_from(["", " ", "word", "\ud800"])
parts = st.lists(texts.map(lambda text: TextPart(text=text)), max_size=2).map(tuple)
optional = st.none()
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        MessageStarted,
        item=messages,
        role=st.sampled_from(["user", "assistant"]),
        parts=parts,
        local_only=st.booleans(),
    ),
    st.builds(TextDelta, item=messages, text=texts),
    st.builds(ThoughtDelta, item=messages, text=texts, signature=optional | texts, redacted=optional | texts),
    st.builds(
        ToolCallChanged,
        item=calls,
        message=optional | messages,
        name=optional | st.sampled_from(["", "read"]),
        status=optional | st.sampled_from(["pending", "in_progress", "completed", "failed"]),
        arguments=optional | st.just("{}"),
        output=optional | parts,
    ),
    st.builds(StateChanged, state=st.just("idle"), stop=optional | st.sampled_from(["end_turn", "cancelled"])),
    st.just(usage()),
    st.just(Notice(severity="error", title="oops")),
    st.just(PlanChanged(entries=())),
    st.just(SessionChanged(title="x")),
)


def assert_valid(conversation: Sequence[Message]) -> None:
    expected: list[str] = []
    seen: set[str] = set()
    for message in conversation:
        if expected:
            assert message.role == "tool", "every call is answered directly after its message"
            assert message.tool_call_id == expected.pop(0)
            assert message.text.strip()
            continue
        assert message.role in {"user", "assistant"}, "every result has its call"
        assert message.text.strip() or message.tool_calls, "nothing is empty"
        expected = [each.id for each in message.tool_calls]
        assert all(each.name for each in message.tool_calls)
        assert not seen & set(expected)
        assert len(set(expected)) == len(expected)
        seen |= set(expected)
    assert not expected


@settings(deadline=None)
@given(st.lists(st.tuples(events, st.booleans()), max_size=40))
def test_any_events_cut_anywhere_make_a_valid_history(steps: list[tuple[Event, bool]]) -> None:
    history = History()
    taken: list[Event] = []
    for event, ask in steps:
        history.apply(event)
        taken.append(event)
        if ask:  # asking in between must change nothing
            assert_valid(history.messages())
    assert_valid(history.messages())
    assert history.messages() == fold(*taken).messages()


def test_what_came_in_pieces_takes_no_more_room_than_its_text() -> None:
    turns, pieces = 50, ["some ", "text "] * 150
    tracemalloc.start()
    try:
        history = History()
        for number in range(turns):
            history.apply(MessageStarted(item=f"u{number}", role="user", parts=(TextPart(text="go"),)))
            for piece in pieces:
                history.apply(TextDelta(item=f"a{number}", text="".join(piece)))
            history.apply(StateChanged(item="t", state="idle", stop="cancelled"))
        history.messages()
        room = tracemalloc.get_traced_memory()[0] / turns
    finally:
        tracemalloc.stop()
    assert room < len("".join(pieces)) + 4000


def test_of_a_shortened_result_the_ends_stay_and_the_place_where_all_of_it_is_stored() -> None:
    where = (
        f"[The whole result has 90,000 characters. It is stored in /home/me/{'x' * 100}.txt (900 lines): read on there]"
    )
    shorten = CompactionChanged(item="k1", status="completed", shortened=("c1",))
    whole = [user("look"), assistant(), call(), done(f"begin {'line ' * 900}{where}"), usage()]
    result = fold(*whole, shorten).messages()[-1].text
    assert result.startswith("begin line")
    assert result.endswith(where)
    assert "characters were left out here" in result
    assert len(result) < 1_300
    assert len(fold(*whole).messages()[-1].text) > 4_000, "the event alone shortens it"
    small = [user("look"), assistant(), call(), done("short"), usage(), shorten]
    assert fold(*small).messages()[-1].text == "short"


def test_a_late_end_of_a_call_before_a_summary_does_not_bring_it_back() -> None:
    told = [user("look"), assistant(), call(), usage()]
    compaction = CompactionChanged(item="k1", status="completed", summary="They looked.", kept_from="u2")
    history = fold(*told, user("on", item="u2"), compaction)
    before = history.messages()
    history.apply(done("late"))
    assert history.messages() == before


def test_the_messages_that_the_last_usage_counts_end_with_the_answer_even_if_that_is_empty() -> None:
    counts = replace(usage(), item="a1")
    assert fold(user("look"), assistant(), TextDelta(item="a1", text="yes"), counts).counted == 2
    assert fold(user("look"), assistant(), counts).counted == 1, "an empty answer is no message"
    assert fold(user("look"), assistant(), call(), counts, done("text")).counted == 2, "its results came later"
    made = CompactionChanged(item="k1", seq=9, status="completed", shortened=("c1",))
    assert fold(user("look"), assistant(), call(), counts, done("text"), made).counted == 0
