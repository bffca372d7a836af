"""The lines that a change touched, with their new text."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from claw_acp.core.value import Value
from claw_acp.tools.files.line_window import lines_of, numbered

MAX_COMPARED = 2_000  # lines between the common beginning and end; beyond, the whole middle counts as one change
MAX_RANGES = 8
MAX_EXCERPT = 40  # lines
CONTEXT = 2  # lines around a change


class LineRange(Value):
    """Lines `first` to `last` of the new text, from 1, inclusive; for lines only removed, the line before."""

    first: int
    last: int

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def changed_lines(old: str, new: str) -> tuple[LineRange, ...]:
    """The ranges of `new` that differ from `old`, in order; a changed end of the last line counts too."""
    before, after = _rows(old), _rows(new)
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old_middle, new_middle = before[start : len(before) - end], after[start : len(after) - end]
    if not old_middle and not new_middle:
        return ()
    if max(len(old_middle), len(new_middle)) > MAX_COMPARED:
        return (_range(start, start + len(new_middle), len(after)),)
    opcodes = SequenceMatcher(a=old_middle, b=new_middle, autojunk=False).get_opcodes()
    return tuple(_range(start + low, start + high, len(after)) for tag, _, _, low, high in opcodes if tag != "equal")


def spoken(ranges: Sequence[LineRange]) -> str:
    """`line 3`, `lines 3-5 and 10`, `lines 1, 4, ... and 7 more places`."""
    if len(ranges) == 1:
        return f"line {ranges[0]}" if ranges[0].first == ranges[0].last else f"lines {ranges[0]}"
    named = [str(item) for item in ranges[:MAX_RANGES]]
    if len(ranges) > MAX_RANGES:
        return f"lines {', '.join(named)} and {len(ranges) - MAX_RANGES} more places"
    return f"lines {', '.join(named[:-1])} and {named[-1]}"


def excerpt(text: str, ranges: Sequence[LineRange]) -> str:
    """The changed lines with two lines around them, numbered, at most 40; gaps are shown as `...`."""
    lines = lines_of(text)
    wanted: list[int] = []
    for item in ranges:
        low = max(item.first - CONTEXT, wanted[-1] + 1 if wanted else 1)
        wanted.extend(range(low, min(item.last + CONTEXT, len(lines)) + 1))
        if len(wanted) > MAX_EXCERPT:
            break
    rows: list[str] = []
    for index, number in enumerate(wanted[:MAX_EXCERPT]):
        if index and number != wanted[index - 1] + 1:
            rows.append("  ...")
        rows.append(numbered(number, lines[number - 1]))
    if len(wanted) > MAX_EXCERPT:
        rows.append("  ... (more changed lines follow)")
    return "\n".join(rows)


def _rows(text: str) -> list[str]:
    """Lines with their line ends, so that a changed end is a changed line."""
    rows = [f"{row}\n" for row in text.split("\n")]
    rows[-1] = rows[-1].removesuffix("\n")
    return rows if rows[-1] else rows[:-1]


def _range(low: int, high: int, total: int) -> LineRange:
    if low == high:  # lines were only removed
        line = max(1, min(low, total))
        return LineRange(first=line, last=line)
    return LineRange(first=low + 1, last=high)
