"""The event-stream decoder: AWS's vectors, every cut, and everything that can be wrong with a message.

The vectors are those of https://github.com/awslabs/aws-c-event-stream (also in the SDKs, as TestVectors).
"""

import struct
from itertools import pairwise
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.core.errors import MalformedReply
from claw_acp.net.event_stream import EventMessage, EventStreamDecoder
from tests.support.servers.event_stream import encoded

FOO = b"{'foo':'bar'}"
JSON_TYPE = bytes.fromhex(
    "0000003d0000002007fd83960c636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e7b27666f6f273a27626172277d"
    "8d9c08b1"
)
PLAIN = bytes.fromhex("0000001d00000000fd528c5a7b27666f6f273a27626172277dc3653936")
NUMBER = bytes.fromhex("0000002d0000001041c424b80a6576656e742d74797065040000a00c7b27666f6f273a27626172277d36f480a0")
EMPTY = bytes.fromhex("000000100000000005c248eb7d98c8ff")

GOOD = [
    (EMPTY, EventMessage({}, b"")),
    (PLAIN, EventMessage({}, FOO)),
    (JSON_TYPE, EventMessage({"content-type": "application/json"}, FOO)),
    (NUMBER, EventMessage({}, FOO)),
]


def changed(message: bytes, at: int, value: int) -> bytes:
    return message[:at] + bytes([value]) + message[at + 1 :]


BAD = {
    "headers": changed(JSON_TYPE, 20, 0x2B),
    "length of the headers": changed(JSON_TYPE, 6, 1),
    "length": changed(PLAIN, 0, 1),
    "payload": changed(PLAIN, 20, 0x2B),
    "last byte": changed(PLAIN, len(PLAIN) - 1, 0),
}


@pytest.mark.parametrize(("message", "decoded"), GOOD)
def test_a_published_message_is_decoded_and_encoded_again(message: bytes, decoded: EventMessage) -> None:
    assert EventStreamDecoder().feed(message) == [decoded]
    if message is not NUMBER:
        assert encoded(decoded.payload, decoded.headers) == message


@pytest.mark.parametrize("message", BAD.values(), ids=BAD.keys())
def test_a_damaged_message_is_refused(message: bytes) -> None:
    with pytest.raises(MalformedReply, match=r"acme sent a (damaged message|message whose beginning is damaged)"):
        EventStreamDecoder(provider="acme").feed(message + EMPTY)


def test_messages_are_the_same_wherever_their_bytes_are_cut() -> None:
    body = b"".join(message for message, _ in GOOD)
    whole = [decoded for _, decoded in GOOD]
    for cut in range(len(body) + 1):
        decoder = EventStreamDecoder()
        assert [*decoder.feed(body[:cut]), *decoder.feed(body[cut:])] == whole, cut
        assert not decoder.halfway
    decoder = EventStreamDecoder()
    assert [message for byte in body for message in decoder.feed(bytes([byte]))] == whole


def test_what_a_read_completes_comes_out_of_that_read() -> None:
    decoder = EventStreamDecoder()
    assert decoder.feed(PLAIN + EMPTY[:5]) == [EventMessage({}, FOO)]
    assert decoder.halfway
    assert decoder.feed(EMPTY[5:]) == [EventMessage({}, b"")]


def prelude(total: int, headers: int) -> bytes:
    lengths = struct.pack(">II", total, headers)
    return lengths + struct.pack(">I", crc32(lengths))


@pytest.mark.parametrize(
    ("total", "headers", "words"),
    [
        (0xFFFFFFFF, 0, "a message longer than 16777216 bytes"),
        (100, 85, "impossible lengths"),
        (16 * 1024 * 1024, 128 * 1024 + 1, "impossible lengths"),
        (12, 0, "impossible lengths"),
        (0, 0, "impossible lengths"),
    ],
)
def test_an_impossible_length_is_refused_before_anything_is_kept(total: int, headers: int, words: str) -> None:
    with pytest.raises(MalformedReply, match=words):
        EventStreamDecoder().feed(prelude(total, headers))


@pytest.mark.parametrize(
    "headers",
    [
        b"\x05ab",
        b"\x01a",
        b"\x01a\x0a",
        b"\x01a\x07\x00\x05ab",
        b"\x01a\x07\x00",
        b"\x01a\x04\x00",
        b"\x01\xff\x07\x00\x00",
        b"\x01a\x07\x00\x01\xff",
    ],
)
def test_headers_that_make_no_sense_are_refused(headers: bytes) -> None:
    with pytest.raises(MalformedReply, match="headers cannot be read"):
        EventStreamDecoder().feed(encoded(b"", headers))


def test_headers_of_every_type_are_read_over_to_the_next_string() -> None:
    sizes = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
    fixed = b"".join(b"\x01x" + bytes([kind]) + bytes(size) for kind, size in sizes.items())
    raw = fixed + b"\x01x\x06\x00\x03\xff\xff\xff" + b"\x01s\x07\x00\x02ok"
    assert EventStreamDecoder().feed(encoded(b"", raw)) == [EventMessage({"s": "ok"}, b"")]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(
    messages=st.lists(
        st.tuples(st.binary(max_size=200), st.dictionaries(TEXTS.filter(bool), TEXTS, max_size=3)), max_size=5
    ),
    cuts=st.lists(st.integers(min_value=0, max_value=1500), max_size=6),
)
def test_any_messages_survive_any_cuts(messages: list[tuple[bytes, dict[str, str]]], cuts: list[int]) -> None:
    body = b"".join(encoded(payload, headers) for payload, headers in messages)
    edges = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    decoder = EventStreamDecoder()
    reads = [body[start:end] for start, end in pairwise(edges)]
    found = [message for read in reads for message in decoder.feed(read)]
    assert found == [EventMessage(headers, payload) for payload, headers in messages]


@given(st.binary(max_size=300))
def test_noise_is_refused_or_waited_for_and_nothing_else(noise: bytes) -> None:
    decoder = EventStreamDecoder()
    try:
        decoder.feed(noise)
    except MalformedReply:
        return
    assert decoder.halfway or not noise or len(noise) >= 16
