"""Exact replacement of text: all edits or none, with the file's line ends."""

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from claw_acp.core.errors import ToolError
from claw_acp.core.value import Value
from claw_acp.tools.files.line_changes import LineRange, spoken
from claw_acp.tools.files.near_misses import why_missing
from claw_acp.tools.files.text_shape import TextShape, with_newline

MAX_NAMED_PLACES = 10
_BOM = "\ufeff"

# One line feed of an edit stands for a line end of the file, whichever kind; the second half of a CRLF is none.
_LINE_END = r"(?:\r\n|(?<!\r)\n)"

_Span: TypeAlias = tuple[int, int]
_Find: TypeAlias = Callable[[int], _Span | None]
"""Returns the first occurrence at or after a position."""


class Replacement(Value):
    """Replace `old` by `new`: at its one place, or `everywhere`."""

    old: str
    new: str
    everywhere: bool = False


def replaced(text: str, replacements: Sequence[Replacement], *, shown: str) -> str:
    """The text after all replacements, each applied to the result of the one before. `shown` names the file in errors.

    Raises:
        ToolError: One of them does nothing, is not found, or is found more than once; none is applied then.
    """
    body = text.removeprefix(_BOM)
    for number, item in enumerate(replacements, start=1):
        which = f"Edit {number} of {len(replacements)}: " if len(replacements) > 1 else ""
        if not item.old.removeprefix(_BOM):
            raise ToolError(
                f"{which}old_text is empty. To insert, replace a neighbouring line by itself and the new text."
            )
        if item.old == item.new:
            raise ToolError(f"{which}old_text and new_text are the same, so nothing would change.")
        body = _one(body, item, blame=f"Nothing was changed in {shown}. {which}")
    return _BOM + body if text.startswith(_BOM) else body


def _one(body: str, item: Replacement, *, blame: str) -> str:
    find = _finder(body, with_newline(item.old.removeprefix(_BOM), "\n"))
    first = find(0)
    if first is None:
        raise ToolError(blame + why_missing(body, old=with_newline(item.old, "\n"), new=with_newline(item.new, "\n")))
    shape = TextShape.of(body) if "\r\n" in body else None
    if item.everywhere:
        return _everywhere(body, item.new, find, shape)
    places = _places(body, find)
    if len(places) > 1:
        raise ToolError(blame + _ambiguous(places))
    start, end = first
    return body[:start] + _dressed(item.new, body[start:end], shape) + body[end:]


def _finder(body: str, old: str) -> _Find:
    """A search for `old` (with bare line feeds), whose line feeds match the line ends of `body`."""
    carriage, feeds = body.count("\r\n"), body.count("\n")
    if 0 < carriage < feeds and "\n" in old:
        return _mixed_finder(body, old)
    needle = old if not carriage else with_newline(old, "\r\n")

    def find(position: int) -> _Span | None:
        start = body.find(needle, position)
        return None if start < 0 else (start, start + len(needle))

    return find


def _mixed_finder(body: str, old: str) -> _Find:
    # only for the rare file with both line ends: Python compiles a long expression slowly
    pattern = re.compile(_LINE_END.join(re.escape(line) for line in old.split("\n")))

    def find(position: int) -> _Span | None:
        match = pattern.search(body, position)
        return None if match is None else match.span()

    return find


def _everywhere(body: str, new: str, find: _Find, shape: TextShape | None) -> str:
    pieces: list[str] = []
    position = 0
    while (span := find(position)) is not None:
        start, end = span
        pieces += [body[position:start], _dressed(new, body[start:end], shape)]
        position = end
    return "".join([*pieces, body[position:]])


def _dressed(new: str, replaced_text: str, shape: TextShape | None) -> str:
    """The new text with the line ends of its place: those it replaces, else those of the file.

    `shape` is that of the file, None when it has only plain line feeds and the new text stays unchanged.
    """
    if shape is None:
        return new
    place = TextShape.of(replaced_text) if "\n" in replaced_text else shape
    return with_newline(new, place.newline)


def _places(body: str, find: _Find) -> list[int]:
    """Line numbers of the matches, including overlapping ones: any of them could be meant."""
    lines: list[int] = []
    line, counted = 1, 0
    span = find(0)
    while span is not None and len(lines) <= MAX_NAMED_PLACES:
        line += body.count("\n", counted, span[0])
        counted = span[0]
        lines.append(line)
        span = find(span[0] + 1)
    return lines


def _ambiguous(places: Sequence[int]) -> str:
    named = places[:MAX_NAMED_PLACES]
    times = f"{len(places)} times" if len(places) <= MAX_NAMED_PLACES else f"more than {MAX_NAMED_PLACES} times"
    unique = dict.fromkeys(named)
    where = spoken([LineRange(first=line, last=line) for line in unique])
    return (
        f"old_text occurs {times} (at {where}). "
        "Add lines before or after it until it is unique, or set `all` to true to replace every one."
    )
