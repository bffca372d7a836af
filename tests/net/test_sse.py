from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.core.errors import MalformedReply
from claw_acp.net.sse import ServerSentEvent, SseDecoder


def decoded(*chunks: bytes) -> list[tuple[str, str]]:
    decoder = SseDecoder()
    return [(event.event, event.data) for chunk in chunks for event in decoder.feed(chunk)]


@pytest.mark.parametrize(
    ("body", "events"),
    [
        pytest.param(b"data: a\n\n", [("message", "a")], id="line feeds"),
        pytest.param(b"data: a\r\n\r\n", [("message", "a")], id="carriage return and line feed"),
        pytest.param(b"data: a\r\r", [("message", "a")], id="carriage returns"),
        pytest.param(b"data: a\r\n\ndata: b\n\r", [("message", "a"), ("message", "b")], id="mixed line ends"),
        pytest.param(b"data:a\n\n", [("message", "a")], id="no space after the colon"),
        pytest.param(b"data:  a\n\n", [("message", " a")], id="only one space is dropped"),
        pytest.param(b"data: a\ndata: b\n\n", [("message", "a\nb")], id="several data lines"),
        pytest.param(b"data\n\n", [("message", "")], id="a field without a colon"),
        pytest.param(b"data: \ndata: \n\n", [("message", "\n")], id="empty lines of data"),
        pytest.param(b"event: ping\ndata: {}\n\n", [("ping", "{}")], id="named"),
        pytest.param(b"data: {}\nevent: ping\n\n", [("ping", "{}")], id="name after data"),
        pytest.param(b"event: ping\n\ndata: a\n\n", [("message", "a")], id="a name without data is forgotten"),
        pytest.param(b": keep-alive\n\ndata: a\n\n", [("message", "a")], id="comments"),
        pytest.param(b":\n: x\ndata: a\n: y\n\n", [("message", "a")], id="comments within an event"),
        pytest.param(b"id: 1\nretry: 9\nfoo: b\ndata: a\n\n", [("message", "a")], id="other fields"),
        pytest.param(b"\n\n\n\ndata: a\n\n\n\n", [("message", "a")], id="extra blank lines"),
        pytest.param(b"\xef\xbb\xbfdata: a\n\n", [("message", "a")], id="byte order mark"),
        pytest.param(
            b"\xef\xbb\xbfdata: a\n\ndata: \xef\xbb\xbfb\n\n",
            [("message", "a"), ("message", "\ufeffb")],
            id="only one mark",
        ),
        pytest.param("data: żółć 🦀\n\n".encode(), [("message", "żółć 🦀")], id="beyond ASCII"),
        pytest.param(b"data: \xff\n\n", [("message", "\ufffd")], id="not UTF-8"),
        pytest.param(b"data: a\n\ndata: lost", [("message", "a")], id="an unfinished event is dropped"),
        pytest.param(b"data: a\n", [], id="no blank line yet"),
        pytest.param(b"", [], id="nothing"),
    ],
)
def test_a_body_becomes_the_events_the_standard_says_however_it_is_cut(
    body: bytes, events: list[tuple[str, str]]
) -> None:
    assert decoded(body) == events
    assert decoded(*(body[i : i + 1] for i in range(len(body)))) == events
    for cut in range(1, len(body)):
        assert decoded(body[:cut], body[cut:]) == events, cut


LINES = st.sampled_from(
    ["data: x", "data:y", "data", "event: e", "event", ": c", "id: 3", "", "", "data: 🦀é", "\ufeff"]
)
ENDS = st.sampled_from(["\n", "\r", "\r\n"])


@given(
    lines=st.lists(st.tuples(LINES, ENDS), max_size=30),
    cuts=st.lists(st.integers(0, 400), max_size=12),
    bom=st.booleans(),
)
def test_no_split_of_a_body_changes_its_events(lines: list[tuple[str, str]], cuts: list[int], *, bom: bool) -> None:
    text = "".join(line + end for line, end in lines)
    body = (b"\xef\xbb\xbf" if bom else b"") + text.encode()
    edges = [0, *sorted(cut for cut in cuts if cut <= len(body)), len(body)]
    pieces = [body[start:end] for start, end in pairwise(edges)]
    assert decoded(*pieces) == decoded(body) == by_the_standard(body)


def by_the_standard(body: bytes) -> list[tuple[str, str]]:
    """The algorithm of the standard, line by line: slow, obvious, and an oracle."""
    text = body.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    events: list[tuple[str, str]] = []
    name, data = "", ""
    for line in text.split("\n")[:-1]:
        if line == "":
            if data:
                events.append((name or "message", data.removesuffix("\n")))
            name, data = "", ""
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data += value + "\n"
    return events


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_no_bytes_whatever_break_the_decoder(chunks: list[bytes]) -> None:
    assert decoded(*chunks) == decoded(b"".join(chunks))


def test_events_come_out_of_the_read_that_completed_them() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\n\ndata: b\n\nda") == [
        ServerSentEvent("message", "a"),
        ServerSentEvent("message", "b"),
    ]
    assert decoder.feed(b"ta: c\r\n\r") == [ServerSentEvent("message", "c")]
    assert decoder.feed(b"\ndata: d\n\n") == [ServerSentEvent("message", "d")]


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_an_event_without_an_end_is_given_up_at_the_limit(size: int) -> None:
    decoder = SseDecoder(provider="openai", limit=1000)
    for _ in range(1000 // size):
        decoder.feed(b"x" * size)
    with pytest.raises(MalformedReply, match=r"openai sent one event longer than 1000 bytes") as caught:
        decoder.feed(b"x" * size)
    assert caught.value.provider == "openai"


def test_an_event_too_long_but_complete_is_given_up_too() -> None:
    with pytest.raises(MalformedReply):
        SseDecoder(limit=1000).feed(b"data: " + b"x" * 1000 + b"\n\n")


def test_many_events_in_one_read_may_be_longer_together_than_the_limit() -> None:
    assert len(SseDecoder(limit=100).feed(b"data: word\n\n" * 1000)) == 1000
