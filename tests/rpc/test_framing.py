import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.rpc.framing import Frame, LineSplitter, Oversized


def _split(data: bytes, *, cuts: list[int] | None = None, limit: int = 1000) -> list[Frame]:
    splitter = LineSplitter(limit=limit)
    frames: list[Frame] = []
    places = sorted({min(cut, len(data)) for cut in cuts or []})
    for start, end in zip([0, *places], [*places, len(data)], strict=True):
        frames += splitter.feed(data[start:end])
    return frames + splitter.finish()


def test_crlf_blank_lines_and_a_last_line_without_end_are_frames_as_meant() -> None:
    assert _split(b'{"a":1}\r\n\n  \n{"b":2}\n\r\n{"c":3}') == [b'{"a":1}', b'{"b":2}', b'{"c":3}']


def test_only_lf_ends_a_frame() -> None:
    line = '"a\u2028b\u2029c\x85d\re\x0bf\x0cg"'.encode()
    assert _split(line + b"\n") == [line]


def test_an_oversized_frame_is_dropped_with_its_id_and_the_next_is_read() -> None:
    big = b'{"jsonrpc":"2.0","id":"x1","method":"m","params":"' + b"y" * 2000 + b'"}'
    assert _split(big + b"\n{}\n") == [Oversized(len(big), b'"x1"'), b"{}"]


def test_an_oversized_frame_without_a_leading_id_has_none() -> None:
    assert _split(b'{"params":{"id":7},' + b" " * 2000 + b"}\n") == [Oversized(2020, None)]


def test_an_oversized_answer_is_known_as_one() -> None:
    big = b'{"jsonrpc":"2.0","id":5,"result":"' + b"y" * 2000 + b'"}'
    assert _split(big) == [Oversized(len(big), b"5", is_response=True)]


@pytest.mark.parametrize("written", [b"007", b'"a\tb"', b'"\xff"', b'"\\u12"'])
def test_an_id_that_is_no_json_is_not_read(written: bytes) -> None:
    big = b'{"id":' + written + b',"method":"' + b"y" * 2000 + b'"}'
    assert _split(big) == [Oversized(len(big), None)]


@given(
    st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line), max_size=8), st.lists(st.integers(0, 300))
)
def test_the_pieces_a_stream_comes_in_do_not_matter(lines: list[bytes], cuts: list[int]) -> None:
    data = b"\n".join(lines)
    assert _split(data, cuts=cuts) == _split(data)
    assert _split(data) == [line.removesuffix(b"\r") for line in lines if line.removesuffix(b"\r").strip()]


@given(st.binary(max_size=400), st.lists(st.integers(0, 400)), st.integers(1, 50))
def test_any_bytes_and_any_limit_keep_the_splitter_alive(data: bytes, cuts: list[int], limit: int) -> None:
    frames = _split(data, cuts=cuts, limit=limit)
    assert all(isinstance(frame, Oversized) or len(frame) <= limit for frame in frames)
