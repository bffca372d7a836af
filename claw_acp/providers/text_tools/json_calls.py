"""Calls whose arguments are JSON: objects with a name, or a name in a head of its own before the arguments.

All reading is linear: a section that cannot be read is scanned once more for its end, and never again.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import Value, replace
from claw_acp.providers.text_tools.found_call import (
    LONGEST_WRITTEN,
    FoundCall,
    Section,
    cut_off,
    unreadable,
    usable_name,
)

NAMES: Final = ("name", "tool_name", "tool")
ARGUMENTS: Final = ("arguments", "parameters", "args", "input")
LOOKED_AT: Final = 4096  # characters of an unreadable call in which its name is looked for

_NAME = re.compile(r'"(?:name|tool_name)"\s*:\s*"([^"\\]*)"')
_BETWEEN = re.compile(r"[\s,;]*")
_IN_STRING = re.compile(r'["\\]')
_BLANK = re.compile(r"\s*")


class HeadedForm(Value):
    """Arguments in JSON after a head that holds the name, and before a tail."""

    head: "re.Pattern[str]"
    tail: "re.Pattern[str]"


def read_objects(text: str, at: int, *, openers: tuple[str, ...], closers: tuple[str, ...]) -> Section:
    """The calls of objects and lists of them, one after the other, up to a closing marker.

    Without closing markers the section ends with the last of them.
    """
    found: list[FoundCall] = []
    position = at
    while (position := _end_of_gap(text, position)) < len(text):
        closing = next((closer for closer in closers if text.startswith(closer, position)), None)
        if closing is not None:
            return Section(end=position + len(closing), calls=tuple(found))
        if text[position] not in "{[":
            if not closers or text.startswith(openers, position):
                break
            return _unreadable(text, at, closers=closers, problem="text follows the JSON object")
        try:
            start = position
            value, position = decoded(text, start)
            found += [replace(call, written=_beginning(text, start, position)) for call in _calls(value)]
        except (ValueError, RecursionError) as error:
            return _unreadable(text, at, closers=closers, problem=_words(error))
    return Section(end=position, calls=tuple(found))


def read_headed(text: str, at: int, *, form: HeadedForm, closers: tuple[str, ...]) -> Section:
    """The calls of a section whose calls have heads."""
    found: list[FoundCall] = []
    position = end = at
    while True:
        position = _end_of_gap(text, position)
        head = form.head.match(text, position)
        if head is None:
            break
        name = head.groupdict().get("name")
        try:
            value, position = decoded(text, skip_blank(text, head.end()))
            found.append(replace(_with_arguments(name, value), written=_beginning(text, head.start(), position)))
        except (ValueError, RecursionError) as error:
            rest = _unreadable(text, head.end(), closers=closers, problem=_words(error), name=name)
            return Section(end=rest.end, calls=(*found, *rest.calls))
        tail, behind = form.tail.match(text, position), skip_blank(text, position)
        if tail is None and behind < len(text) and not text.startswith(closers or ("",), behind):
            rest = _unreadable(text, head.end(), closers=closers, problem="text follows the JSON object", name=name)
            return Section(end=rest.end, calls=(*found, *rest.calls))
        end = position = position if tail is None else tail.end()
    closing = next((closer for closer in closers if text.startswith(closer, position)), None)
    return Section(end=end if closing is None else position + len(closing), calls=tuple(found))


def decoded(text: str, at: int) -> tuple[JsonValue, int]:
    """The JSON value at a position, and its end. Line breaks in strings are a common slip.

    Raises:
        ValueError: There is none, or a member is there twice, so that one of the two would be ignored.
        RecursionError: It is nested too deeply.
    """
    return _DECODER.raw_decode(text, at)


def skip_blank(text: str, at: int) -> int:
    """The position after blanks."""
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def call_of(value: JsonValue) -> FoundCall:
    """The call that an object describes.

    Raises:
        ValueError: It describes none, or more than one way to read it.
    """
    if not isinstance(value, Mapping):
        raise ValueError("not an object")  # noqa: TRY004 - the text is wrong, not our types
    inner = value.get("function")
    if isinstance(inner, Mapping):
        value = inner
    keys = [key for key in ARGUMENTS if key in value]
    name = next((value[key] for key in NAMES if isinstance(value.get(key), str)), inner)
    if "description" in value:
        raise ValueError("it describes a tool")
    if len(keys) > 1:
        raise ValueError(f"both `{keys[0]}` and `{keys[1]}`")
    if not keys and len(value) > 1:
        raise ValueError("the arguments must be in `arguments`")
    call = _with_arguments(name if isinstance(name, str) else None, value[keys[0]] if keys else {})
    return call if keys else replace(call, lone=True)


def _calls(value: JsonValue) -> Iterator[FoundCall]:
    if isinstance(value, list):
        for item in value:
            yield call_of(item)
    elif isinstance(value, Mapping) and isinstance(several := value.get("tool_calls"), list):
        for item in several:
            yield call_of(item)
    else:
        yield call_of(value)


def _with_arguments(name: str | None, value: JsonValue) -> FoundCall:
    for _ in range(2):  # JSON in a string, as vendors have it, or once more by mistake
        if isinstance(value, str):
            try:
                value = _DECODER.decode(value) if value.strip() else {}
            except (ValueError, RecursionError):
                return unreadable(name, str(value), problem="")
    if value is None:
        value = {}
    if not isinstance(value, Mapping):
        return unreadable(name, json.dumps(value), problem="")
    return FoundCall(name=usable_name(name), arguments=value)


def _unreadable(text: str, at: int, *, closers: tuple[str, ...], problem: str, name: str | None = None) -> Section:
    """The section as one call that cannot be read. A closing marker within a JSON string does not end it."""
    start, end = _closing(text, at, closers=closers)
    if name is None:
        said = _NAME.search(text, at, min(start, at + LOOKED_AT))
        name = said and said[1]
    body = text[at:start]
    if start == len(text):
        return Section(end=end, calls=(cut_off(name, body),))
    told = f"This call is not valid JSON ({problem}), so nothing was done. Send it again."
    return Section(end=end, calls=(unreadable(name, body, problem=told),))


def _closing(text: str, at: int, *, closers: tuple[str, ...]) -> tuple[int, int]:
    """The beginning and end of the first closing marker outside of strings."""
    if closers:
        outside = re.compile("|".join(['"', *map(re.escape, closers)]))
        position, stop = at, outside.search(text, at)
        while stop is not None:
            if stop[0] != '"':
                return stop.start(), stop.end()
            position = _end_of_string(text, stop.end())
            stop = outside.search(text, position)
    return len(text), len(text)


def _end_of_string(text: str, at: int) -> int:
    while (stop := _IN_STRING.search(text, at)) is not None:
        if stop[0] == '"':
            return stop.end()
        at = stop.end() + 1
    return len(text)


def _end_of_gap(text: str, at: int) -> int:
    gap = _BETWEEN.match(text, at)
    return gap.end() if gap else at


def _beginning(text: str, start: int, end: int) -> str:
    return text[start : min(end, start + LONGEST_WRITTEN)]


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else "nested too deeply"


def _no_number(word: str) -> JsonValue:
    raise ValueError(f"{word} is no JSON")


def _single(members: list[tuple[str, JsonValue]]) -> JsonObject:
    value = dict(members)
    if len(value) != len(members):
        raise ValueError("a member is there twice")
    return value


_DECODER: Final = json.JSONDecoder(strict=False, parse_constant=_no_number, object_pairs_hook=_single)
