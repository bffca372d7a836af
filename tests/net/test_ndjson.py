from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.core.errors import MalformedReply
from claw_acp.net.ndjson import LineDecoder


def test_lines_end_in_a_line_feed_and_blank_ones_are_dropped() -> None:
    decoder = LineDecoder()
    assert decoder.feed(b'{"a":1}\r\n\n{"b":2}\n{"c"') == ['{"a":1}', '{"b":2}']
    assert decoder.feed(b":3}") == []
    assert decoder.rest() == ['{"c":3}']
    assert decoder.rest() == []


@pytest.mark.parametrize("reads", [[b"x" * 11], [b"x" * 11 + b"\n"], [b"x" * 6, b"x" * 6], [b"a\n" + b"x" * 11]])
def test_a_line_longer_than_the_limit_is_given_up(reads: list[bytes]) -> None:
    decoder = LineDecoder(provider="acme", limit=10)
    with pytest.raises(MalformedReply, match="acme sent one line longer than 10 bytes"):
        _ = [decoder.feed(read) for read in reads]


def test_bytes_that_are_not_utf8_are_replaced() -> None:
    assert LineDecoder().feed(b"\xff\n") == ["\ufffd"]


LINES = st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=12), max_size=6)


@given(lines=LINES, cuts=st.lists(st.integers(min_value=0, max_value=200), max_size=6))
def test_any_lines_survive_any_cuts(lines: list[str], cuts: list[int]) -> None:
    body = "\n".join(lines).encode()
    edges = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    decoder = LineDecoder()
    found = [line for start, end in pairwise(edges) for line in decoder.feed(body[start:end])]
    assert [*found, *decoder.rest()] == lines
