"""Frames with headers: whatever pieces they come in, and what ends a stream that holds none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.rpc.header_framing import LARGEST_FRAME, MOST_JUNK, BrokenFraming, HeaderSplitter


def framed(body: bytes, *, header: bytes = b"Content-Length: %d\r\n\r\n") -> bytes:
    return header % len(body) + body


@given(bodies=st.lists(st.binary(max_size=40), max_size=5), data=st.data())
def test_frames_come_whole_from_any_pieces(bodies: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(framed(body) for body in bodies)
    splitter, found, rest = HeaderSplitter(), list[bytes](), stream
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        found += splitter.feed(rest[:size])
        rest = rest[size:]
    assert found == bodies


@pytest.mark.parametrize(
    "header",
    [
        b"content-length:%d\n\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length: %d\r\nContent-Type: x\r\n\r\n",
        b"npm warn something\n\nContent-Length: %d\r\n\r\n",
    ],
)
def test_other_headers_and_a_stray_line_do_no_harm(header: bytes) -> None:
    splitter = HeaderSplitter()
    assert splitter.feed(framed(b"{}", header=header) + framed(b"[]")) == [b"{}", b"[]"]


@pytest.mark.parametrize(
    "stream",
    [b"x" * (MOST_JUNK + 1), b"x\n" * MOST_JUNK, b"Content-Length: %d\r\n\r\n" % (LARGEST_FRAME + 1)],
    ids=["one line", "many lines", "a large frame"],
)
def test_a_stream_that_holds_no_frames_is_given_up(stream: bytes) -> None:
    with pytest.raises(BrokenFraming):
        HeaderSplitter().feed(stream)
