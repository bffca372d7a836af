"""Exact replacement of text: all edits or none, and line ends stay what they are in the file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from claw_acp.core.errors import ToolError
from claw_acp.tools.line_changes import LineRange, spoken
from claw_acp.tools.near_misses import why_missing
from claw_acp.tools.text_shape import TextShape, with_newline

MAX_NAMED_PLACES = 10
_BOM = "\ufeff"

# One line feed of an edit stands for a line end of the file, whichever kind; the second half of a CRLF is none.
_LINE_END = r"(?:\r\n|(?<!\r)\n)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """Put `new` where `old` is: at its one place, or at `everywhere` it occurs."""

    old: str
    new: str
    everywhere: bool = False


def replaced(text: str, replacements: Sequence[Replacement], *, shown: str) -> str:
    """The text after all replacements, each applied to what the one before left. `shown` names the file in errors.

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
    pattern = _pattern(item.old)
    first = pattern.search(body)
    if first is None:
        raise ToolError(blame + why_missing(body, old=with_newline(item.old, "\n"), new=with_newline(item.new, "\n")))
    if item.everywhere:
        return pattern.sub(lambda match: _dressed(item.new, match, body), body)
    places = _places(pattern, body)
    if len(places) > 1:
        raise ToolError(blame + _ambiguous(places))
    return body[: first.start()] + _dressed(item.new, first, body) + body[first.end() :]


def _pattern(old: str) -> re.Pattern[str]:
    lines = with_newline(old.removeprefix(_BOM), "\n").split("\n")
    return re.compile(_LINE_END.join(re.escape(line) for line in lines))


def _dressed(new: str, match: re.Match[str], body: str) -> str:
    """The new text with the line ends of the place it goes to: those it replaces, else those of the file."""
    if "\r\n" not in body:
        return new
    around = match.group() if "\n" in match.group() else body
    return with_newline(new, TextShape.of(around).newline)


def _places(pattern: re.Pattern[str], body: str) -> list[int]:
    """Line numbers of the matches, overlapping ones too: any of them could have been meant."""
    lines: list[int] = []
    line, counted = 1, 0
    match = pattern.search(body)
    while match is not None and len(lines) <= MAX_NAMED_PLACES:
        line += body.count("\n", counted, match.start())
        counted = match.start()
        lines.append(line)
        match = pattern.search(body, match.start() + 1)
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
