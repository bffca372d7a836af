"""The name of the server in a client's first message of TLS."""

import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.net.proxy.client_hello import LIMIT, BadHello, ClientHello, read_hello


def hello(name: str | None) -> bytes:
    """The first flight of OpenSSL."""
    context = ssl.create_default_context()
    context.check_hostname = False
    inward, outward = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(inward, outward, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outward.read()


REAL = hello("files.example.org")


def in_records(message: bytes, *, size: int) -> bytes:
    """A handshake message cut into records."""
    pieces = [message[at : at + size] for at in range(0, len(message), size)]
    return b"".join(b"\x16\x03\x01" + len(piece).to_bytes(2) + piece for piece in pieces)


def made(*extensions: tuple[int, bytes]) -> bytes:
    """A first message with these extensions."""
    block = b"".join(kind.to_bytes(2) + len(data).to_bytes(2) + data for kind, data in extensions)
    body = b"\x03\x03" + bytes(32) + b"\0" + b"\0\x02\x13\x01" + b"\x01\0" + len(block).to_bytes(2) + block
    return in_records(b"\x01" + len(body).to_bytes(3) + body, size=1 << 14)


def names(*hosts: bytes) -> tuple[int, bytes]:
    """The extension that names servers."""
    listed = b"".join(b"\0" + len(host).to_bytes(2) + host for host in hosts)
    return 0, len(listed).to_bytes(2) + listed


@given(size=st.integers(1, 700))
def test_the_name_is_read_however_the_message_is_cut_into_records(size: int) -> None:
    assert read_hello(in_records(REAL[5:], size=size)) == ClientHello(server_name="files.example.org", encrypted=False)


@given(end=st.integers(0, len(REAL) - 1))
def test_a_part_of_the_message_asks_for_more(end: int) -> None:
    assert read_hello(REAL[:end]) is None


def test_what_follows_the_message_is_not_looked_at() -> None:
    assert read_hello(REAL + b"anything") == read_hello(REAL)


@pytest.mark.parametrize(
    ("message", "name", "encrypted"),
    [
        (hello(None), "", False),
        (made(names(b"A.Example.")), "a.example", False),
        (made(), "", False),
        (made(names(b"a.example"), (0xFE0D, b"anything")), "a.example", True),
    ],
)
def test_a_missing_name_and_an_encrypted_one_are_told(message: bytes, name: str, *, encrypted: bool) -> None:
    assert read_hello(message) == ClientHello(server_name=name, encrypted=encrypted)


@pytest.mark.parametrize(
    "message",
    [
        made(names(b"a.example", b"b.example")),
        made(names(b"a.example"), names(b"b.example")),
        made((0, b"\0\x04\x01\0\x01a")),
        made((0, b"\0\xff\0\0\x01a")),
        made(names("ä.example".encode())),
        b"\x16\x02" + REAL[2:],
        b"\x16\x03\x01\0\0" + REAL,
        b"\x16\x03\x01\x50\0" + bytes(100),
        in_records(b"\x02" + REAL[6:], size=1 << 14),
        in_records(b"\x01\xff\xff\xff" + bytes(LIMIT), size=1 << 14),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(message: bytes) -> None:
    with pytest.raises(BadHello):
        read_hello(message)


@given(data=st.binary(max_size=300))
def test_no_bytes_make_it_fail_in_another_way(data: bytes) -> None:
    try:
        read_hello(b"\x16\x03\x01" + data)
    except BadHello:
        return
