"""A bounded, numbered part of a text."""

from claw_acp.core.value import Value

MAX_LINES = 2_000
MAX_BYTES = 100_000
MAX_LINE_LENGTH = 2_000  # characters


class LineWindow(Value):
    """Lines `first` to `last` (from 1, inclusive) of `total`, numbered for reading."""

    text: str
    first: int
    last: int
    total: int

    @property
    def remaining(self) -> int:
        """Lines after the window."""
        return self.total - self.last


def lines_of(text: str) -> list[str]:
    """The lines of a text without their ends, as in editors: only a line feed ends a line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def numbered(number: int, line: str) -> str:
    """`   12→text`; a very long line is cut, with a mark."""
    if len(line) > MAX_LINE_LENGTH:
        line = f"{line[:MAX_LINE_LENGTH]}… [{len(line) - MAX_LINE_LENGTH:,} more characters in this line]"
    return f"{number:>5}→{line}"


def window(text: str, *, first: int = 1, limit: int | None = None) -> LineWindow:
    """The part from line `first`, at most `limit` lines, never more than 2,000 lines or 100 KB."""
    lines = lines_of(text)
    rows: list[str] = []
    room = MAX_BYTES
    for number, line in enumerate(lines[first - 1 : first - 1 + min(limit or MAX_LINES, MAX_LINES)], start=first):
        row = numbered(number, line)
        room -= len(row.encode("utf-8", "surrogatepass")) + 1
        if room < 0 and rows:
            break
        rows.append(row)
    return LineWindow(text="\n".join(rows), first=first, last=first - 1 + len(rows), total=len(lines))
