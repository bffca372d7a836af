"""Identifiers: a prefix for the kind of thing, then a lower-case ULID that sorts by creation time."""

from typing import Literal

from claw_acp.core.clock import SYSTEM_CLOCK, Clock

IdPrefix = Literal[
    "ses", "msg", "call", "turn", "inc", "task", "plan", "ntc", "eli", "con", "term", "cmp", "undo", "att", "job",
    "run", "prm", "mem",
]  # fmt: skip

_CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
_DIGITS = 26


def new_id(prefix: IdPrefix, *, clock: Clock = SYSTEM_CLOCK) -> str:
    """A new id such as `ses_01jd3x8v6h...`: 48 bits of milliseconds, 80 random bits (the ULID layout)."""
    milliseconds = int(clock.now() * 1000) & (2**48 - 1)
    return id_of(prefix, (milliseconds << 80) | int.from_bytes(clock.random_bytes(10), "big"))


def id_of(prefix: IdPrefix, number: int) -> str:
    """The id with this number of 128 bits."""
    digits = (_CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5))
    return f"{prefix}_{''.join(digits)}"


def made_at(identifier: str) -> float | None:
    """The time at which an id of `new_id` was made, in seconds since the epoch; None if it is no such id."""
    prefix, _, digits = identifier.partition("_")
    if len(digits) != _DIGITS or not prefix or any(digit not in _CROCKFORD for digit in digits):
        return None
    number = 0
    for digit in digits:
        number = number << 5 | _CROCKFORD.index(digit)
    return (number >> 80) / 1000


def may_be_id(text: str, prefix: IdPrefix) -> bool:
    """Return whether the text has the form of an id of `new_id`; it need not be one."""
    start, _, digits = text.partition("_")
    return start == prefix and len(digits) == _DIGITS and all(digit in _CROCKFORD for digit in digits)
