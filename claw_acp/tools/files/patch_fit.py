"""Fitting the hunks of a patch into a text: exactly, or not at all."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from claw_acp.core.errors import ToolError
from claw_acp.core.value import Value
from claw_acp.tools.files.line_window import numbered
from claw_acp.tools.files.patch_parts import Hunk
from claw_acp.tools.files.text_shape import BOM, TextShape

_NAMED: Final = 5  # places that an error names
_QUOTED: Final = 12  # lines that an error shows
_COMPARED: Final = (10_000, 200)  # lines of the file and of the hunk between which the nearest place is looked for


class Fitted(Value):
    """A text with all hunks, and notes about hunks that were not where the patch said."""

    text: str
    notes: tuple[str, ...] = ()


def fitted(text: str, hunks: Sequence[Hunk], *, shown: str) -> Fitted:
    """The text with all hunks; line ends and the last line's end stay as they are. Hunks come in the file's order.

    Raises:
        ToolError: One does not fit, or fits in several places; the text names it, and says why.
    """
    shape = TextShape.of(text)
    crlf = shape.newline == "\r\n"
    rows = text.removeprefix(BOM).split("\n")
    ends = rows[-1] == ""
    if ends:
        rows.pop()
    lines = [row.removesuffix("\r") for row in rows]
    result: list[str] = []
    notes: list[str] = []
    done = 0
    for hunk in hunks:
        start = _place(lines, hunk, after=done, shown=shown)
        if hunk.expected is not None and start + 1 != hunk.expected and hunk.old:
            notes.append(f"hunk {hunk.number} was at line {start + 1}, not {hunk.expected}")
        result += rows[done:start]
        place = start
        for sign, line in hunk.lines:
            if sign == "+":
                result.append(f"{line}\r" if crlf and not line.endswith("\r") else line)
                continue
            if sign == " ":
                result.append(rows[place])
            place += 1
        done = place
        ends = ends if hunk.newline is None else hunk.newline
    result += rows[done:]
    joined = "\n".join(result)
    whole = joined.removesuffix("\r") if not ends else f"{joined}\n" if result else ""
    return Fitted(text=f"{BOM}{whole}" if shape.bom else whole, notes=tuple(notes))


def _place(lines: Sequence[str], hunk: Hunk, *, after: int, shown: str) -> int:
    """The index of the first line of a hunk."""
    start = _below(lines, hunk, after=after, shown=shown)
    old = hunk.old
    if not old:
        return _insertion(lines, hunk, after=start, anchored=bool(hunk.anchors))
    places = [place for place in _occurrences(lines, old, after=start) if _may_end(place + len(old), lines, hunk)]
    if hunk.expected is not None and hunk.expected - 1 in places:
        return hunk.expected - 1
    if not places:
        raise ToolError(f"{_name(hunk, shown)} does not fit. {_why(lines, hunk, after=start)} Nothing was written.")
    if len(places) > 1 and not hunk.anchors:
        named = ", ".join(str(place + 1) for place in places[:_NAMED])
        raise ToolError(
            f"{_name(hunk, shown)} fits in {len(places)} places (lines {named}). Add unchanged lines before or after "
            "it, or a line that stands above it behind @@, until it fits in one only. Nothing was written."
        )
    return places[0]


def _below(lines: Sequence[str], hunk: Hunk, *, after: int, shown: str) -> int:
    """The index below the anchors of a hunk."""
    start = after
    for anchor in hunk.anchors:
        found = next((i for i in range(start, len(lines)) if lines[i] == anchor), None)
        if found is None:
            found = next((i for i in range(start, len(lines)) if lines[i].strip() == anchor.strip()), None)
        if found is None:
            raise ToolError(
                f"{_name(hunk, shown)} does not fit: after line {start} there is no line {anchor[:200]!r}, which "
                "stands behind its @@. Nothing was written."
            )
        start = found + 1
    return start


def _insertion(lines: Sequence[str], hunk: Hunk, *, after: int, anchored: bool) -> int:
    """The place of a hunk that only adds lines: where it says, below its anchor, else at the end."""
    if hunk.expected is not None:
        return min(max(hunk.expected - 1, after), len(lines))
    return after if anchored and not hunk.ends_file else len(lines)


def _may_end(end: int, lines: Sequence[str], hunk: Hunk) -> bool:
    return end == len(lines) or not hunk.ends_file


def _occurrences(lines: Sequence[str], old: Sequence[str], *, after: int) -> Iterator[int]:
    size = len(old)
    wanted = list(old)
    return (i for i in range(after, len(lines) - size + 1) if lines[i] == wanted[0] and lines[i : i + size] == wanted)


def _name(hunk: Hunk, shown: str) -> str:
    return f"Hunk {hunk.number} for {shown} (line {hunk.at} of the patch)"


def _why(lines: Sequence[str], hunk: Hunk, *, after: int) -> str:
    """Sentences about the nearest place, and its lines as they are."""
    old = hunk.old
    plain = [" ".join(line.split()) for line in lines]
    wanted = [" ".join(line.split()) for line in old]
    if next(_occurrences(lines, old, after=0), None) is not None:
        where = "at the end of the file" if hunk.ends_file else f"after line {after}, where the hunk before it ends"
        return f"Its lines are in the file, but not {where}."
    spaced = list(_occurrences(plain, wanted, after=0))
    if spaced:
        quoted = "\n".join(
            f"{spaced[0] + 1 + i:>5}→{line!r}" for i, line in enumerate(lines[spaced[0] :][: len(old)][:_QUOTED])
        )
        return f"Its lines are there with other spaces or tabs. Copy them as they are (shown with escapes):\n{quoted}\n"
    best = _nearest(plain, wanted)
    if best is None:
        return "None of its unchanged or removed lines is in the file. Call read_file on it and write the hunk again."
    wrong = next(i for i, line in enumerate(wanted) if best + i >= len(plain) or plain[best + i] != line)
    quoted = "\n".join(numbered(best + 1 + i, line) for i, line in enumerate(lines[best : best + len(old)][:_QUOTED]))
    return f"The nearest place is line {best + 1}, where its line {old[wrong][:200]!r} is not. It is:\n{quoted}\n"


def _nearest(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """The index where most lines of a hunk are."""
    most, longest = _COMPARED
    match = SequenceMatcher(a=lines[:most], b=wanted[:longest], autojunk=False).find_longest_match()
    return max(0, match.a - match.b) if any(wanted[match.b : match.b + match.size]) else None
