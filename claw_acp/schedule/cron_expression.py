"""The grammar of cron expressions: five fields of numbers, names, lists, ranges and steps, and nothing else.

Dialects of cron differ beyond that, and libraries read the rest each in their own way; so an expression is read here,
and handed on as plain lists of numbers.

If both day fields are restricted, a day that fits either counts, as in every cron. A step from `*` in one of them
together with a restriction of the other is read in both ways by different programs, and is refused.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from claw_acp.core.errors import InvalidRequest
from claw_acp.core.value import Value

ALIASES: Final[Mapping[str, str]] = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LONGEST: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # days of the months
_ITEM: Final = re.compile(r"(?:(?P<all>\*)|(?P<first>[0-9]{1,2}|[a-z]{3})(?:-(?P<last>[0-9]{1,2}|[a-z]{3}))?)"
                          r"(?:/(?P<step>[0-9]{1,2}))?", re.ASCII)  # fmt: skip


class _Field(Value):
    """A field: its name, its bounds, and the names that stand for its numbers."""

    name: str
    low: int
    high: int
    names: Sequence[str] = ()


_FIELDS: Final = (
    _Field(name="minute", low=0, high=59),
    _Field(name="hour", low=0, high=23),
    _Field(name="day of the month", low=1, high=31),
    _Field(name="month", low=1, high=12, names=_MONTHS),
    _Field(name="day of the week", low=0, high=7, names=_DAYS),
)


class CronExpression(Value):
    """A valid expression.

    Attributes:
        text: The same as lists of numbers.
        follows_clock: Whether the hour is `*` or `*/n`. Such a job follows the clock: it has no run in an hour that is
            left out, and runs again in one that is repeated. A job with named hours runs exactly once in both.
    """

    text: str
    follows_clock: bool


def parse_cron(text: str) -> CronExpression:
    """Return the expression.

    Raises:
        InvalidRequest: It is not within the grammar, or no day ever fits it; the text says which part is wrong.
    """
    words = ALIASES.get(text.strip().lower(), text).lower().split()
    if len(words) != len(_FIELDS):
        raise InvalidRequest(
            f"{text!r} has {len(words)} fields; a cron expression has five: minute, hour, day of the month, month, "
            "day of the week"
        )
    values = [_numbers(word, field) for word, field in zip(words, _FIELDS, strict=True)]
    every = ["*" if word in {"*", "*/1"} else None for word in words]
    _check_days(words, every, values)
    listed = [star or ",".join(map(str, numbers)) for star, numbers in zip(every, values, strict=True)]
    return CronExpression(text=" ".join(listed), follows_clock=words[1].startswith("*"))


def _numbers(word: str, field: _Field) -> list[int]:
    found: set[int] = set()
    for item in word.split(","):
        found |= _range(item, field)
    if field.high == 7:  # Sunday has two numbers
        found = {number % 7 for number in found}
    return sorted(found)


def _range(item: str, field: _Field) -> set[int]:
    match = _ITEM.fullmatch(item)
    if match is None:
        names = f", names ({field.names[0]} ... {field.names[-1]})" if field.names else ""
        raise InvalidRequest(
            f"{item!r} is not understood as {field.name}; write numbers from {field.low} to {field.high}{names}, "
            "ranges (1-5), lists (1,3), or steps (*/10, 8-18/2)"
        )
    if match["all"]:
        first, last = field.low, min(field.high, 6) if field.high == 7 else field.high
    else:
        first = _number(match["first"], field)
        last = first if match["last"] is None else _number(match["last"], field, after=first)
        if match["step"] and match["last"] is None:
            raise InvalidRequest(f"{item!r} steps from a single number; write {first}-{field.high}/{match['step']}")
    step = int(match["step"] or 1)
    if not 1 <= step <= field.high:
        raise InvalidRequest(f"the step of {item!r} must be from 1 to {field.high} ({field.name})")
    if last < first:
        raise InvalidRequest(f"the range {item!r} runs backwards; write it as two, with a comma ({field.name})")
    return set(range(first, last + 1, step))


def _number(word: str, field: _Field, *, after: int = 0) -> int:
    """The number that a word stands for; Sunday at the end of a range, behind `after`, is 7."""
    if word in field.names:
        number = field.names.index(word) + field.low
        return 7 if field.high == 7 and number == 0 and after else number
    if not word.isdecimal() or not field.low <= int(word) <= field.high:
        raise InvalidRequest(f"{word!r} is no {field.name}; it must be from {field.low} to {field.high}")
    return int(word)


def _check_days(words: Sequence[str], every: Sequence[str | None], values: Sequence[Sequence[int]]) -> None:
    day, weekday = every[2], every[4]
    if day is None and weekday is None and (words[2].startswith("*") or words[4].startswith("*")):
        raise InvalidRequest(
            "a step of days (*/n) together with another restriction of the days means different things to different "
            "programs; list the days instead"
        )
    fits = any(date <= _LONGEST[month - 1] for month in values[3] for date in values[2])
    if not fits and weekday is not None:
        raise InvalidRequest(f"no month in {words[3]!r} has a day {words[2]}, so it would never run")
