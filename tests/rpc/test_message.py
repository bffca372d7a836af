import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.rpc.message import (
    INVALID_REQUEST,
    PARSE_ERROR,
    Malformed,
    Notification,
    Request,
    Response,
    decode,
    encode,
    error_line,
    result_line,
)


@pytest.mark.parametrize("line", [b"{", b"nope", b'{"a":}', b"\x00", b'{"id":NaN}', b"[" * 100_000, b"1" * 5000])
def test_a_line_that_is_not_json_is_a_parse_error(line: bytes) -> None:
    message = decode(line)
    assert isinstance(message, Malformed)
    assert (message.code, message.id) == (PARSE_ERROR, None)


@pytest.mark.parametrize("line", [b"[]", b'[{"jsonrpc":"2.0","id":1,"method":"x"}]', b"42", b'"x"', b"null", b"{}"])
def test_batches_scalars_and_empty_objects_are_invalid_requests_with_id_null(line: bytes) -> None:
    message = decode(line)
    assert isinstance(message, Malformed)
    assert (message.code, message.id) == (INVALID_REQUEST, None)


@pytest.mark.parametrize("request_id", ["0", "-1", '""', '"0"', "null", "1.5", str(2**53 + 1), "9" * 400, '"é"'])
def test_a_request_id_is_echoed_as_the_json_value_it_was(request_id: str) -> None:
    message = decode(f'{{"jsonrpc":"2.0","id":{request_id},"method":"m"}}'.encode())
    assert isinstance(message, Request)
    answer = result_line(message.id, None)
    assert json.loads(answer)["id"] == json.loads(request_id)
    assert type(json.loads(answer)["id"]) is type(json.loads(request_id))


@pytest.mark.parametrize("bad", ["{}", "[1]", "true", "1e999"])
def test_an_impossible_id_is_refused_without_echo(bad: str) -> None:
    message = decode(f'{{"jsonrpc":"2.0","id":{bad},"method":"m"}}'.encode())
    assert message == Malformed(INVALID_REQUEST, "Invalid request: `id` must be a string, a number or null", None)


def test_a_missing_version_is_refused_with_the_id() -> None:
    message = decode(b'{"id":7,"method":"m"}')
    assert isinstance(message, Malformed)
    assert (message.code, message.id) == (INVALID_REQUEST, 7)


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":7,"result":1}',
        b'{"jsonrpc":"1.0","id":7,"error":{"code":1,"message":"x"}}',
        b'{"jsonrpc":"2.0","id":7,"error":"boom"}',
        b'{"jsonrpc":"2.0","id":7,"error":null}',
        b'{"jsonrpc":"2.0","id":7,"error":[],"result":1}',
    ],
)
def test_a_broken_answer_is_an_answer_that_failed(line: bytes) -> None:
    message = decode(line)
    assert isinstance(message, Response)
    assert (message.id, message.result) == (7, None)
    assert message.error is not None
    assert str(message.error["message"]).startswith("Invalid response: ")


def test_an_answer_with_an_impossible_id_is_still_no_request() -> None:
    assert decode(b'{"jsonrpc":"2.0","id":{},"result":1}') == Response(None, 1, None)
    assert decode(b'{"jsonrpc":"2.0","id":3,"result":1,"error":null}') == Response(3, 1, None)


def test_messages_are_told_apart() -> None:
    assert decode(b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}') == Request(1, "m", {"a": 1})
    assert decode(b'{"jsonrpc":"2.0","method":"m"}') == Notification("m", None)
    assert decode(b'{"jsonrpc":"2.0","id":1,"result":null}') == Response(1, None, None)
    assert decode(b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}') == Response(
        1, None, {"code": 1, "message": "x"}
    )


def test_a_byte_order_mark_and_invalid_utf8_do_not_lose_the_message() -> None:
    assert decode(b'\xef\xbb\xbf{"jsonrpc":"2.0","method":"m"}') == Notification("m", None)
    assert decode(b'{"jsonrpc":"2.0","method":"m","params":{"t":"a\xff"}}') == Notification("m", {"t": "a\ufffd"})


def test_what_json_cannot_say_is_replaced_not_written() -> None:
    line = encode({"nan": math.nan, "deep": [{"inf": -math.inf}], "half": "a\ud800b", "fine": 1.5, "long": 10**4300})
    assert json.loads(line) == {"nan": None, "deep": [{"inf": None}], "half": "a\ufffdb", "fine": 1.5, "long": None}
    assert json.loads(encode({"longest": 10**4299, "nan": math.nan})) == {"longest": 10**4299, "nan": None}


def test_line_separators_inside_strings_are_escaped() -> None:
    line = encode({"t": "a\u2028b\u2029c\x85d\re\nf"})
    assert len(line.decode().splitlines()) == 1
    assert json.loads(line) == {"t": "a\u2028b\u2029c\x85d\re\nf"}


def test_error_data_is_left_out_when_there_is_none() -> None:
    assert json.loads(error_line(1, -1, "x")) == {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "x"}}


def _long(sign: int, digits: int) -> int:
    return sign * 10**digits


_NUMBERS: "st.SearchStrategy[int | float]" = (
    st.integers() | st.floats() | st.builds(_long, st.sampled_from([-1, 1]), st.integers(300, 5000))
)
_MEMBERS = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"])
_JSON = st.recursive(
    st.none() | st.booleans() | _NUMBERS | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.binary(max_size=200))
def test_no_bytes_raise(line: bytes) -> None:
    decode(line)


@given(
    st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]), _JSON | st.just("2.0"))
)
def test_no_members_raise_and_what_is_no_answer_has_an_id_that_can_be_echoed(value: dict[str, object]) -> None:
    message = decode(encode(value))  # type: ignore[arg-type]
    if not isinstance(message, Notification):
        result_line(message.id, None)


@given(_NUMBERS)
def test_any_number_that_can_be_read_is_an_id_or_refused(number: float) -> None:
    try:
        text = json.dumps(number)
    except ValueError:  # longer than Python writes
        return
    message = decode(b'{"jsonrpc":"2.0","method":"m","id":' + text.encode() + b"}")
    assert isinstance(message, Request | Malformed)


@given(st.dictionaries(st.text(), _JSON, max_size=4))
def test_every_object_leaves_as_one_line_of_valid_json(value: dict[str, object]) -> None:
    line = encode(value)  # type: ignore[arg-type]
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    json.loads(line.decode("utf-8"), parse_constant=pytest.fail)
