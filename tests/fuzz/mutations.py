"""Ways to break a frame: in its structure, in its bytes."""

import copy
import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, cast

from tests.fuzz.oracle import BOTTOMLESS, DEEPEST, NOBODY, Expected, Json, Key

ODD: Sequence[Any] = (
    None, True, False, 0, -1, 1, 1.5, -0.0, 1e308, 2**31, 2**53 + 1, -(2**63), 2**64, 10**40, "", "0", " ", "\0",
    "\ud800", "\udfff x", "a\u2028b\u2029c\x85d\re", "ä€😀", "x" * 5000, "../../etc/passwd", "/", "~", "C:\\a",
    "file:///a",
    "end_turn", "session/prompt", [], {}, [[]], [None], {"": None}, {"_meta": None}, [{"type": "text"}], "\x1b[31m",
)  # fmt: skip
"""Values of every type, likely to be where they should not."""

RAW = (b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"0123", b"1.", b"+1", b"'a'", b"undefined", b"9" * 5000,
       b'"\\ud800"', b'"\\ud83d\\ude00"', b'"\\x41"', b'"\t"', b"tru", b"{", b"]", b"//",
       b"[" * BOTTOMLESS)  # fmt: skip
"""Texts in the place of a value, most of them no JSON."""

INSERTED = (b"\xef\xbb\xbf", b"\0", b"\r", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", "\u2028".encode(), b'"', b"\\", b",",
            b"{", b"}", b"[", b"]", b" " * 3000, b"\x1c", b"\x7f", b"\n")  # fmt: skip


def oversized(random: Random, message: Json, *, size: int) -> tuple[bytes, Expected | None]:
    """A line that is longer than the limit, and the answer to it: with its id where that comes early."""
    rest = b'"' + b"x" * size + b'"'
    if "id" not in message or "method" not in message:
        return b'{"jsonrpc":"2.0","method":"_x","params":' + rest + b"}", Expected(NOBODY)
    request_id = json.dumps(message["id"]).encode()
    if random.random() < 0.5:
        return b'{"jsonrpc":"2.0","id":' + request_id + b',"result":' + rest + b"}", None
    method = json.dumps(message["method"]).encode()
    data = b'{"jsonrpc":"2.0","id":' + request_id + b',"method":' + method + b',"params":' + rest + b"}"
    return data, Expected(Key.of(message["id"]))


SHORT = 200  # characters of what is repeated often


class Mutator:
    """Breaks frames, always the same ones for the same random numbers."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._ids: list[Any] = [1, "a", None]
        self._structural: Sequence[Callable[[Json], None]] = (
            self._odd_value, self._odd_value, self._odd_value, self._drop, self._rename, self._add, self._odd_id,
            self._reused_id, self._other_method, self._nested, self._swapped, self._repeated, self._huge_text,
        )  # fmt: skip
        self._textual: Sequence[Callable[[bytes], bytes]] = (
            self._flip, self._flip, self._truncate, self._insert, self._insert, self._cut, self._double,
            self._raw_value, self._duplicate_key, self._spliced,
        )  # fmt: skip
        self._last = b"{}"

    def frame(self, message: Json) -> bytes:
        """A message, broken in one or more ways, as bytes without a line feed."""
        broken: Json = json.loads(json.dumps(message))
        if "id" in message and self._random.random() < 0.2:
            self._ids = [*self._ids[-30:], message["id"]]
        for _ in range(self._random.choice((0, 1, 1, 1, 2, 3))):
            self._random.choice(self._structural)(broken)
        data = self._encoded(broken)
        for _ in range(self._random.choice((0, 0, 1, 1, 2))):
            data = self._random.choice(self._textual)(data)
        self._last = data[:4000]
        return data

    def _encoded(self, message: Json) -> bytes:
        text = json.dumps(message, ensure_ascii=self._random.random() < 0.5)
        return text.encode("utf-8", "surrogatepass")

    # ------------------------------------------------------------------ structure

    def _places(self, message: Json) -> list[tuple[Any, Any]]:
        """Every container and key in it."""
        found: list[tuple[Any, Any]] = []
        waiting: list[Any] = [message]
        while waiting and len(found) < 200:
            holder = waiting.pop()
            keys: list[Any] = [*(cast("Json", holder) if isinstance(holder, dict) else range(len(holder)))]
            found += [(holder, key) for key in keys]
            waiting += [holder[key] for key in keys if isinstance(holder[key], dict | list)]
        return found

    def _place(self, message: Json) -> tuple[Any, Any]:
        return self._random.choice(self._places(message) or [({"x": 0}, "x")])

    def _odd(self) -> Any:
        return copy.deepcopy(self._random.choice(ODD))  # it may be broken further

    def _odd_value(self, message: Json) -> None:
        holder, key = self._place(message)
        holder[key] = self._odd()

    def _drop(self, message: Json) -> None:
        holder, key = self._place(message)
        del holder[key]

    def _rename(self, message: Json) -> None:
        holder, key = self._place(message)
        if isinstance(holder, dict):
            value: Any = cast("Json", holder).pop(key)
            holder[self._random.choice((f"{key}X", key.upper(), "", "\ud800", "__proto__", "_meta"))] = value

    def _add(self, message: Json) -> None:
        holder, _ = self._place(message)
        if isinstance(holder, dict):
            holder[self._random.choice(("extra", "_meta", "sessionId", "id", "type"))] = self._odd()
        else:
            holder.append(self._odd())

    def _odd_id(self, message: Json) -> None:
        message["id"] = self._odd()

    def _reused_id(self, message: Json) -> None:
        message["id"] = self._random.choice(self._ids)

    def _other_method(self, message: Json) -> None:
        message["method"] = self._random.choice(
            ("session/new", "session/prompt", "session/load", "session/cancel", "initialize", "$/cancel_request",
             "_x/y", "session/update", "fs/read_text_file", "", "foo/bar", "session/request_permission", "rpc.discover")
        )  # fmt: skip

    def _nested(self, message: Json) -> None:
        holder, key = self._place(message)
        value: Any = holder[key]
        for _ in range(self._random.choice((3, 50, DEEPEST // 2))):
            value = [value] if self._random.random() < 0.5 else {"a": value}
        holder[key] = value

    def _swapped(self, message: Json) -> None:
        (one, at), (other, there) = self._place(message), self._place(message)
        if not isinstance(one[at], dict | list) and not isinstance(other[there], dict | list):
            one[at], other[there] = other[there], one[at]

    def _repeated(self, message: Json) -> None:
        holder, key = self._place(message)
        short = len(json.dumps(holder[key])) < SHORT
        holder[key] = [holder[key]] * self._random.choice((0, 2, 300 if short else 2))

    def _huge_text(self, message: Json) -> None:
        holder, key = self._place(message)
        holder[key] = "é" * self._random.choice((70_000, 3000, 3000))

    # ------------------------------------------------------------------ bytes

    def _at(self, data: bytes) -> int:
        return self._random.randrange(len(data) + 1)

    def _flip(self, data: bytes) -> bytes:
        changed = bytearray(data)
        for _ in range(self._random.choice((1, 1, 2, 8))):
            if changed:
                changed[self._random.randrange(len(changed))] ^= 1 << self._random.randrange(8)
        return bytes(changed)

    def _truncate(self, data: bytes) -> bytes:
        return data[: self._at(data)]

    def _insert(self, data: bytes) -> bytes:
        at = self._at(data)
        return data[:at] + self._random.choice(INSERTED) + data[at:]

    def _cut(self, data: bytes) -> bytes:
        begin, end = sorted((self._at(data), self._at(data)))
        return data[:begin] + data[end:]

    def _double(self, data: bytes) -> bytes:
        begin, end = sorted((self._at(data), self._at(data)))
        return data[:end] + data[begin:]

    def _raw_value(self, data: bytes) -> bytes:
        colons = [at for at, byte in enumerate(data[:5000]) if byte == ord(":")]
        if not colons:
            return self._random.choice(RAW)
        at = self._random.choice(colons) + 1
        rest = data[at:].lstrip()
        ends = [place for place in (rest.find(b","), rest.find(b"}")) if place >= 0]
        return data[:at] + self._random.choice(RAW) + rest[min(ends, default=len(rest)) :]

    def _duplicate_key(self, data: bytes) -> bytes:
        at = data.find(b"{") + 1
        key = self._random.choice((b'"id":7,', b'"method":"_x",', b'"jsonrpc":"1.0",', b'"params":{},', b'"id":null,'))
        return data[:at] + key + data[at:] if at else data

    def _spliced(self, data: bytes) -> bytes:
        return data[: self._at(data)] + self._last[self._at(self._last) :]
