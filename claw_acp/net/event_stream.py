"""Sans-IO decoder for `application/vnd.amazon.eventstream`, the binary framing of AWS streams.

A message is: its length and that of its headers, each in four bytes; the CRC of these eight; headers; payload; the CRC
of everything before. Numbers are big-endian, the CRC is the one of gzip. Source of the format:
https://smithy.io/2.0/aws/amazon-eventstream.html
"""

import struct
from typing import Final, NamedTuple
from zlib import crc32

from claw_acp.core.errors import MalformedReply

MESSAGE_LIMIT = 16 * 1024 * 1024  # bytes of one message; the length is only believed when its CRC is right
HEADERS_LIMIT = 128 * 1024  # bytes of the headers of one message, as the format has it
HEADERS_KEPT = 32  # different headers of one stream that are kept; a model's stream has about eight
LONGEST_KEPT = 1024  # bytes of headers that are worth keeping

_PRELUDE: Final = struct.Struct(">III")
_CRC: Final = struct.Struct(">I")
_OVERHEAD: Final = _PRELUDE.size + _CRC.size

_FIXED: Final = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of a header's value by its type: true, false, byte, short, integer, long, timestamp, UUID."""

_BYTES, _STRING = 6, 7


class EventMessage(NamedTuple):
    """One message: its string headers and its payload."""

    headers: dict[str, str]
    payload: bytes


class EventStreamDecoder:
    """Decodes chunks of a body into messages. `feed` returns all messages that a chunk completes."""

    def __init__(self, *, provider: str = "", limit: int = MESSAGE_LIMIT) -> None:
        self._provider = provider
        self._limit = limit
        self._pending: list[bytes] = []  # pieces of the message under way: joined once, so long ones stay linear
        self._pending_size = 0
        self._wanted = _PRELUDE.size
        self._headers_seen: dict[bytes, dict[str, str]] = {}

    def feed(self, chunk: bytes) -> list[EventMessage]:
        """Decode a chunk; returns the messages that it completes.

        Raises:
            MalformedReply: A CRC is wrong, a length is impossible, a message is longer than the limit.
        """
        self._pending.append(chunk)
        self._pending_size += len(chunk)
        if self._pending_size < self._wanted:
            return []
        data = b"".join(self._pending)
        messages: list[EventMessage] = []
        start = 0
        while True:
            self._wanted = self._length(data, start)
            if len(data) - start < self._wanted or self._wanted == _PRELUDE.size:
                break
            messages.append(self._message(data[start : start + self._wanted]))
            start += self._wanted
        self._pending = [data[start:]]
        self._pending_size = len(data) - start
        return messages

    @property
    def halfway(self) -> bool:
        """True while a message has begun and not ended."""
        return self._pending_size > 0

    def _length(self, data: bytes, start: int) -> int:
        """Bytes of the message at `start`; those of a prelude while there is none."""
        if len(data) - start < _PRELUDE.size:
            return _PRELUDE.size
        total, headers, crc = _PRELUDE.unpack_from(data, start)
        if crc32(data[start : start + 8]) != crc:
            raise self._malformed("a message whose beginning is damaged")
        if total > self._limit:
            raise self._malformed(f"a message longer than {self._limit} bytes")
        if headers > min(HEADERS_LIMIT, total - _OVERHEAD):
            raise self._malformed("a message with impossible lengths")
        return total

    def _message(self, data: bytes) -> EventMessage:
        (crc,) = _CRC.unpack_from(data, len(data) - _CRC.size)
        if crc32(data[: -_CRC.size]) != crc:
            raise self._malformed("a damaged message")
        end = _PRELUDE.size + int.from_bytes(data[4:8], "big")
        return EventMessage(self._headers(data[_PRELUDE.size : end]), data[end : -_CRC.size])

    def _headers(self, data: bytes) -> dict[str, str]:
        """The headers in `data`. Those of nearly every message were there before, so they are read once."""
        headers = self._headers_seen.get(data)
        if headers is None:
            try:
                headers = _read_headers(data)
            except (IndexError, KeyError, UnicodeDecodeError) as error:
                raise self._malformed("a message whose headers cannot be read") from error
            if len(self._headers_seen) < HEADERS_KEPT and len(data) <= LONGEST_KEPT:
                self._headers_seen[data] = headers
        return headers

    def _malformed(self, what: str) -> MalformedReply:
        who = self._provider or "the server"
        return MalformedReply(
            f"{who} sent {what}; the answer was given up. Send the prompt again, and check base_url if it stays.",
            provider=self._provider,
        )


def _read_headers(data: bytes) -> dict[str, str]:
    """The string headers; headers of other types are skipped.

    Raises:
        IndexError: A header is longer than what is left.
        KeyError: A value is of a type the format does not have.
        UnicodeDecodeError: A name or string is not UTF-8.
    """
    found: dict[str, str] = {}
    at = 0
    while at < len(data):
        at, name = _taken(data, at + 1, data[at])
        kind = data[at]
        size = _FIXED.get(kind)
        if size is None:
            if kind not in {_BYTES, _STRING}:
                raise KeyError(kind)
            at, length = _taken(data, at + 1, 2)
            at, value = _taken(data, at, int.from_bytes(length, "big"))
        else:
            at, value = _taken(data, at + 1, size)
        if kind == _STRING:
            found[name.decode("utf-8")] = value.decode("utf-8")
    return found


def _taken(data: bytes, start: int, size: int) -> tuple[int, bytes]:
    """The offset after the next `size` bytes, and these bytes."""
    if start + size > len(data):
        raise IndexError(start + size)
    return start + size, data[start : start + size]
