"""One pass over a JSON value that should fit a model: its position, and the faults found so far.

Written by hand because the protocol asks a reader to forgive in ways that validation libraries do not combine (a
malformed part counts as absent, bad elements are left out, every other fault is reported with its path), and because a
library for it would be imported and build its validators between an editor and its first session.
"""

import json
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from claw_acp.core.value import Value

LONGEST = 40  # characters of a foreign name or value that are repeated back

INVALID: Final = object()
"""Returned by a reader that reported a fault."""
OMITTED: Final = object()
"""Returned for an array element that is left out."""


class Fault(Value):
    """The path to a value, as keys and indexes, and a sentence without its subject: "must be a string"."""

    path: tuple[str | int, ...]
    text: str


class Reading:
    """The state of one pass. `exact`: leniency is off, and the paths of unknown keys are collected."""

    __slots__ = ("exact", "faults", "path", "unknown")

    def __init__(self, *, exact: bool = False) -> None:
        self.exact = exact
        self.path: list[str | int] = []
        self.faults: list[Fault] = []
        self.unknown: list[tuple[str | int, ...]] = []

    def fault(self, text: str, *below: str | int) -> object:
        """Report a fault here, or at a key below; returns `INVALID`."""
        self.faults.append(Fault(path=(*self.path, *below), text=text))
        return INVALID


Reader: TypeAlias = Callable[[Any, Reading], Any]
"""Returns the value for a piece of JSON, or `INVALID` after it reported a fault."""
Build: TypeAlias = Callable[[Any], Reader]
"""Returns the reader for an annotation."""


def failed(read: Reader, value: object, reading: Reading) -> tuple[bool, Any]:
    """Read, then discard all faults; returns whether there were any, and the value if not."""
    before, known = len(reading.faults), len(reading.unknown)
    result = read(value, reading)
    found = len(reading.faults) > before
    if found:
        del reading.faults[before:], reading.unknown[known:]
    return found, result


def printable(name: str) -> str:
    """A foreign name, shortened and on one line."""
    short = name if len(name) <= LONGEST else name[:LONGEST] + "…"
    return short if short.isprintable() else json.dumps(short)[1:-1]


def quoted(value: object) -> str:
    """A foreign value, if it is short enough to be helpful."""
    if isinstance(value, str):
        short = value if len(value) <= LONGEST else value[:LONGEST] + "…"
        return json.dumps(short, ensure_ascii=not value.isprintable())
    if value is None or isinstance(value, bool | float):
        return json.dumps(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**LONGEST else "a huge number"
    return "an array" if isinstance(value, list | tuple) else "an object"
