"""Events as JSON and back."""

import json
import logging
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.core.events import (
    CommandContent,
    CompactionChanged,
    DiffContent,
    Event,
    FilesChanged,
    FilesRestored,
    Location,
    MessageStarted,
    Notice,
    PartContent,
    PathChange,
    PathState,
    PlanChanged,
    PlanEntry,
    SessionChanged,
    StateChanged,
    TerminalChanged,
    TerminalContent,
    TextDelta,
    ThoughtDelta,
    ToolCallChanged,
    TurnRewound,
    UsageChanged,
)
from claw_acp.core.messages import AudioPart, ImagePart, LinkPart, ResourcePart, TextPart, Usage
from claw_acp.core.value import replace
from claw_acp.session.codec import decode, encode

# Two surrogates that pair up would come back as the one character they mean.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(["\ud800", "a\udfffb", "\0"])
optional_texts = st.none() | texts
counts = st.integers(min_value=-(2**53), max_value=2**53)
amounts = st.floats(min_value=0, max_value=1_000_000)
json_values = st.recursive(
    st.none() | st.booleans() | counts | texts | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
parts = st.lists(
    st.one_of(
        st.builds(TextPart, text=texts),
        st.builds(ImagePart, data=texts, mime_type=texts, uri=optional_texts),
        st.builds(AudioPart, data=texts, mime_type=texts),
        st.builds(ResourcePart, uri=texts, mime_type=optional_texts, text=optional_texts, blob=optional_texts),
        st.builds(LinkPart, uri=texts, name=texts, title=optional_texts, size=st.none() | counts),
    ),
    max_size=3,
).map(tuple)
locations = st.lists(st.builds(Location, path=texts, line=st.none() | counts), max_size=2).map(tuple)
commands = st.builds(
    CommandContent,
    terminal_id=texts,
    line=texts,
    cwd=texts,
    text=texts,
    raw=st.none() | st.binary(max_size=20),
    printed=counts,
    running=st.booleans(),
    code=st.none() | counts,
    signal=optional_texts,
)
contents = st.lists(
    st.one_of(
        parts.filter(bool).map(lambda each: PartContent(part=each[0])),
        st.builds(DiffContent, path=texts, old_text=optional_texts, new_text=texts),
        st.builds(TerminalContent, terminal_id=texts),
        commands,
    ),
    max_size=2,
).map(tuple)
statuses = st.sampled_from(["pending", "in_progress", "completed", "cancelled"])
steps = st.sampled_from(["pending", "in_progress", "completed"])
path_states = st.builds(
    PathState,
    kind=st.sampled_from(["absent", "file", "link"]),
    mode=counts,
    size=counts,
    digest=texts,
    kept=st.booleans(),
    unsaved=texts,
)
path_changes = st.lists(
    st.builds(PathChange, path=texts, before=path_states, after=st.none() | path_states), max_size=3
).map(tuple)
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        MessageStarted,
        role=st.sampled_from(["user", "assistant"]),
        parts=parts,
        model_parts=st.none() | parts,
        facts=texts,
        local_only=st.booleans(),
    ),
    st.builds(TextDelta, text=texts),
    st.builds(ThoughtDelta, text=texts, signature=optional_texts, redacted=optional_texts),
    st.builds(
        ToolCallChanged,
        message=optional_texts,
        name=optional_texts,
        title=optional_texts,
        kind=st.none() | st.sampled_from(["read", "other"]),
        status=st.none() | statuses,
        arguments=optional_texts,
        locations=st.none() | locations,
        content=st.none() | contents,
        raw_input=json_values,
        raw_output=json_values,
        output=st.none() | parts,
    ),
    st.builds(TerminalChanged, command=commands),
    st.builds(
        PlanChanged,
        entries=st.lists(
            st.builds(PlanEntry, content=texts, priority=st.sampled_from(["high", "low"]), status=steps), max_size=3
        ).map(tuple),
    ),
    st.builds(
        UsageChanged,
        used=counts,
        size=counts,
        request=st.builds(Usage, input_tokens=counts, thought_tokens=counts),
        model=st.just("p/m"),
        cost=st.none() | amounts,
        total=st.none() | amounts,
    ),
    st.builds(Notice, severity=st.sampled_from(["info", "error"]), title=texts, description=optional_texts),
    st.builds(
        StateChanged,
        state=st.sampled_from(["running", "idle"]),
        stop=st.none() | st.sampled_from(["end_turn", "cancelled"]),
        error=optional_texts,
    ),
    st.builds(
        CompactionChanged,
        status=st.sampled_from(["in_progress", "completed"]),
        summary=optional_texts,
        delta=optional_texts,
        kept_from=optional_texts,
    ),
    st.builds(TurnRewound, undone=st.booleans()),
    st.builds(FilesChanged, changes=path_changes, command=texts, survey=texts),
    st.builds(
        FilesRestored,
        status=st.sampled_from(["in_progress", "completed"]),
        turn=texts,
        redoes=texts,
        conversation=st.booleans(),
        changes=path_changes,
    ),
    st.builds(
        SessionChanged,
        title=optional_texts,
        mode=optional_texts,
        model=optional_texts,
        options=st.none() | st.dictionaries(texts, texts | st.booleans()),
    ),
)


def read(kind: str, body: str) -> Event | None:
    return decode(kind, body, session="ses_1", seq=7, item="it")


@settings(deadline=None, max_examples=400)
@given(EVENTS)
def test_every_event_comes_back_as_it_was(event: Event) -> None:
    kind, body = encode(event)
    body.encode()  # UTF-8 can hold it
    back = decode(kind, body, session=event.session, seq=event.seq, item=event.item)
    assert back == event


def test_session_position_and_item_are_given_by_the_row() -> None:
    assert read("text", '{"text":"hi"}') == TextDelta(session="ses_1", seq=7, item="it", text="hi")


def test_only_what_differs_from_the_defaults_is_written() -> None:
    event = ToolCallChanged(item="c", status="completed", locations=(), raw_output=0)
    assert encode(event) == ("tool_call", '{"status":"completed","locations":[],"raw_output":0}')


def test_what_is_for_people_or_for_models_alone_keeps_the_names_it_has_on_disk() -> None:
    event = MessageStarted(item="it", role="user", model_parts=(TextPart(text="x"),), local_only=True)
    row = ("message", '{"role":"user","told":[{"type":"text","text":"x"}],"aside":true}')
    assert encode(event) == row
    assert read(*row) == replace(event, session="ses_1", seq=7)


def test_a_new_file_and_an_empty_one_stay_different() -> None:
    content = tuple(DiffContent(path="x", old_text=old, new_text="") for old in (None, ""))
    kind, body = encode(ToolCallChanged(content=content))
    back = read(kind, body)
    assert isinstance(back, ToolCallChanged)
    assert back.content == content


def test_text_stays_readable_and_lone_surrogates_become_escapes() -> None:
    assert encode(TextDelta(text="grün 😀")) == ("text", '{"text":"grün 😀"}')
    assert encode(TextDelta(text="a\ud800b")) == ("text", '{"text":"a\\ud800b"}')


def test_not_a_number_survives() -> None:
    _, body = encode(ToolCallChanged(raw_output={"x": math.nan}))
    back = read("tool_call", body)
    assert isinstance(back, ToolCallChanged)
    assert repr(back.raw_output) == "{'x': nan}"


def test_unknown_fields_are_ignored_and_missing_ones_take_their_defaults() -> None:
    assert read("text", '{"colour":"red"}') == TextDelta(session="ses_1", seq=7, item="it", text="")
    assert read("usage", '{"used":3,"price":1}') == UsageChanged(
        session="ses_1", seq=7, item="it", used=3, size=0, request=Usage()
    )
    plan = read("plan", '{"entries":[{"content":"x","owner":"me"}]}')
    assert isinstance(plan, PlanChanged)
    assert plan.entries == (PlanEntry(content="x"),)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("telepathy", "{}"),
        ("text", "{"),
        ("text", "[]"),
        ("text", '{"text":5}'),
        ("message", "{}"),
        ("message", '{"role":"nobody"}'),
        ("message", '{"role":"user","parts":[{"type":"smell"}]}'),
        ("message", '{"role":"user","parts":[3]}'),
        ("tool_call", '{"status":["completed"]}'),
        ("tool_call", '{"raw_input":' + "[" * 100_000 + "]" * 100_000 + "}"),
        ("usage", '{"used":true}'),
        ("usage", '{"used":1,"total":1e999}'),
        ("usage", '{"used":1,"cost":"much"}'),
    ],
)
def test_what_cannot_be_understood_is_skipped_with_a_log_line(
    kind: str, body: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert read(kind, body) is None
    assert "skipped" in caplog.text


@settings(deadline=None)
@given(st.sampled_from(["message", "text", "tool_call", "plan", "usage", "state"]), json_values)
def test_no_body_stops_the_reader(kind: str, body: object) -> None:
    read(kind, json.dumps(body))


def test_a_raw_value_that_is_not_json_is_a_clear_error() -> None:
    circular: list[object] = []
    circular.append(circular)
    for value in (object(), circular, {"x": {1, 2}}):
        with pytest.raises(ValueError, match=r"Circular|cannot be written as JSON"):
            encode(ToolCallChanged(raw_output=value))  # pyright: ignore[reportArgumentType] - that is the point
