"""A line of the audit log: canonical JSON, with its number and the SHA-256 of the line before it."""

import hashlib
import json
import re
from collections.abc import Mapping
from math import isfinite
from typing import Final, cast

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import Value

NO_LINE: Final = "0" * 64
"""The `prev` of the first line of all."""

_LONGEST_TEXT: Final = 2_000  # characters of one text; commands and reasons are shorter but for odd ones
_NOT_FINITE: Final = re.compile(r"\b(?:NaN|Infinity)\b")  # perhaps in a text: then it is only written in another way
_MOST_NESTED: Final = 200  # brackets of one field: a line must be readable whatever calls the reader
_LONGEST_VALUE: Final = 4_000  # characters of the JSON of one field


class Head(Value):
    """The last whole line.

    Attributes:
        seq: Its number; 0: there is no line.
        digest: Its SHA-256.
    """

    seq: int = 0
    digest: str = NO_LINE


def encoded(facts: Mapping[str, JsonValue]) -> bytes:
    """The canonical form: ASCII, sorted keys, no blanks, no end of line. Equal facts are equal bytes."""
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def digest_of(line: bytes) -> str:
    """The SHA-256 of a line without its end."""
    return hashlib.sha256(line).hexdigest()


def parsed(line: bytes) -> JsonObject | None:
    """The facts of a line; None if it is not one that `encoded` would write."""
    try:
        facts = json.loads(line)
        if not isinstance(facts, dict):
            return None
        known = cast("JsonObject", facts)
        return known if encoded(known) == line and isinstance(known.get("seq"), int) else None
    except (ValueError, RecursionError):
        return None


def bounded(value: JsonValue) -> JsonValue:
    """The value, or if it is long its beginning, its length and its SHA-256. What JSON lacks becomes text."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else _cut(value)
    if value is None or isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return value
    try:
        text = json.dumps(value)
    except RecursionError:
        return "(nested too deeply)"
    plain = len(text) <= _LONGEST_VALUE and text.count("[") + text.count("{") <= _MOST_NESTED
    return value if plain and _NOT_FINITE.search(text) is None else _cut(text)


def _cut(text: str) -> JsonObject:
    whole = text.encode("utf-8", "surrogatepass")
    return {"beginning": text[:_LONGEST_TEXT], "characters": len(text), "sha256": hashlib.sha256(whole).hexdigest()}
