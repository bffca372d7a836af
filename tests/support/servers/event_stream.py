"""Messages of `application/vnd.amazon.eventstream`, encoded."""

import struct
from collections.abc import Mapping
from zlib import crc32


def encoded(payload: bytes, headers: Mapping[str, str] | bytes) -> bytes:
    """A message; its headers are strings, or already encoded."""
    head = headers if isinstance(headers, bytes) else b"".join(_header(*item) for item in headers.items())
    prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    message = prelude + struct.pack(">I", crc32(prelude)) + head + payload
    return message + struct.pack(">I", crc32(message))


def _header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return bytes([len(key)]) + key + b"\x07" + struct.pack(">H", len(text)) + text
