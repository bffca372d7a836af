"""What must be answered to a line, said again without the code under test."""

import json
import math
from typing import Any, NamedTuple, cast

Json = dict[str, Any]

DEEPEST = 400  # levels that every reader can read; past `BOTTOMLESS` none can, and between them it depends
BOTTOMLESS = 20_000


class Key(NamedTuple):
    """An id as JSON tells them apart."""

    kind: str
    text: str

    @classmethod
    def of(cls, value: object) -> "Key":
        if isinstance(value, str):  # half a surrogate pair cannot be sent back
            value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return cls(type(value).__name__, repr(value))


NOBODY = Key.of(None)


class Expected(NamedTuple):
    """One answer, and the method that was called if there was one."""

    key: Key
    method: str | None = None


def expected(line: bytes, *, plain_ids: bool) -> Expected | None:
    """The answer to a line without its line feed; None when there must be none.

    Args:
        line: What is sent.
        plain_ids: Whether ids must be strings or integers, as in protocol 2.
    """
    if not line.removesuffix(b"\r").strip():
        return None
    value = parsed(line)
    if not isinstance(value, dict):
        return Expected(NOBODY)
    message = cast("Json", value)
    if "method" not in message and ("result" in message or "error" in message):
        return None
    request_id = message.get("id")
    if not _is_id(request_id):
        return Expected(NOBODY)
    if plain_ids and isinstance(request_id, float):
        return Expected(NOBODY) if "id" in message else None
    method = message.get("method")
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
        return Expected(Key.of(request_id))
    if "id" not in message:
        return None
    return Expected(Key.of(request_id), None if plain_ids and request_id is None else method)


def parsed(line: bytes) -> object:
    """The JSON of a line; `NOTHING` when it is none."""
    try:
        return json.loads(line.decode("utf-8", "replace").lstrip("\ufeff"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return NOTHING


NOTHING = object()


def depth(line: bytes) -> int:
    """At least how deep a line is nested, strings not looked at."""
    if line.count(b"[") + line.count(b"{") < DEEPEST:
        return 0
    level = deepest = 0
    for byte in line:
        if byte in b"[{":
            level += 1
            deepest = max(deepest, level)
        elif byte in b"]}":
            level -= 1
    return deepest


def is_certain(line: bytes) -> bool:
    """Whether all readers agree on this line."""
    return not DEEPEST < depth(line) < BOTTOMLESS


def _is_id(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or (isinstance(value, str | int) and not isinstance(value, bool))


def _refuse(name: str) -> float:
    raise ValueError(name)
