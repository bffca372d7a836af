"""The reason a text to replace was not found, with the lines that were probably meant."""

import re
from difflib import SequenceMatcher
from heapq import nlargest

from claw_acp.tools.files.line_window import lines_of, numbered

MAX_COMPARED = 10_000  # lines of the file that are compared with the wanted one
MAX_CANDIDATES = 5  # lines that are compared exactly
MAX_COLUMNS = 200  # characters of a line that are compared; the exact comparison is quadratic
MAX_SHOWN = 12  # lines
MIN_SIMILARITY = 0.6

_PREFIX = re.compile(r" *\d+→")


def why_missing(body: str, *, old: str, new: str) -> str:
    """A sentence or two, and the closest lines of `body`, if any. `old` and `new` have bare line feeds."""
    wanted = old.strip("\n").split("\n")
    if all(_PREFIX.match(line) for line in wanted):
        return (
            "old_text is not in the file because it holds the line numbers that read_file adds; "
            "leave out everything up to and including the arrow."
        )
    lines = lines_of(body)
    if (found := _ignoring_space(lines, wanted)) is not None:
        return (
            "old_text is not in the file exactly, but it is there with other spaces or tabs. "
            f"Copy them as they are (shown with escapes):\n{_quoted(lines, found, len(wanted))}"
        )
    if new.strip() and new in body.replace("\r\n", "\n"):
        return "old_text is not in the file, but new_text already is: the change seems to be made."
    if (found := _closest(lines, wanted)) is not None:
        shown = "\n".join(numbered(index + 1, lines[index]) for index in _rows(lines, found, len(wanted)))
        return f"old_text is not in the file. The closest lines are:\n{shown}"
    return "old_text is not in the file, nor anything like it. Call read_file to see what is there."


def _rows(lines: list[str], start: int, count: int) -> range:
    return range(start, min(len(lines), start + min(count, MAX_SHOWN)))


def _quoted(lines: list[str], start: int, count: int) -> str:
    return "\n".join(numbered(index + 1, repr(lines[index])) for index in _rows(lines, start, count))


def _ignoring_space(lines: list[str], wanted: list[str]) -> int | None:
    """The index of the first line where `wanted` matches with all white space treated as equal."""
    needle = [" ".join(line.split()) for line in wanted]
    if not any(needle):
        return None
    hay = [" ".join(line.split()) for line in lines]
    if len(needle) == 1:
        return next((index for index, line in enumerate(hay) if needle[0] in line), None)
    last = len(hay) - len(needle)
    return next((i for i in range(last + 1) if hay[i] == needle[0] and hay[i : i + len(needle)] == needle), None)


def _closest(lines: list[str], wanted: list[str]) -> int | None:
    """The index of the line most like the first significant line of `wanted`, moved back to where `wanted` begins."""
    offset = next((index for index, line in enumerate(wanted) if line.strip()), None)
    if offset is None:
        return None
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted[offset].strip()[:MAX_COLUMNS])
    scored: list[tuple[float, int]] = []
    for index, line in enumerate(lines[:MAX_COMPARED]):
        matcher.set_seq1(line.strip()[:MAX_COLUMNS])
        # the two cheap upper bounds spare nearly every line the real comparison
        if matcher.real_quick_ratio() >= MIN_SIMILARITY and matcher.quick_ratio() >= MIN_SIMILARITY:
            scored.append((matcher.quick_ratio(), index))
    best = [(_ratio(matcher, lines[index]), -index) for _, index in nlargest(MAX_CANDIDATES, scored)]
    score, negative = max(best, default=(0.0, 0))
    return max(0, -negative - offset) if score >= MIN_SIMILARITY else None


def _ratio(matcher: SequenceMatcher[str], line: str) -> float:
    matcher.set_seq1(line.strip()[:MAX_COLUMNS])
    return matcher.ratio()
