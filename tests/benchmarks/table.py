"""The table on a terminal, in Markdown, and as JSON."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from tests.benchmarks.figures import Figure, Row, shown
from tests.benchmarks.system import Machine

HEADER = ("what", "goal", "median", "p95 or min - max", "samples")
NUMERIC = slice(1, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A row with its figures, or why there are none."""

    row: Row
    runs: int
    figures: Sequence[Figure]
    failure: str = ""


def cells(measured: Measured) -> Iterator[tuple[str, ...]]:
    """The lines of a row."""
    if measured.failure:
        yield (f"{measured.row.name}: not measured ({measured.failure})", "", "", "", "")
    for figure in measured.figures:
        goal = "" if figure.goal is None else f"<= {shown_goal(figure.goal)}"
        mark = " !" if figure.reached is False else ""
        median = f"{shown(figure.median)} {figure.unit}{mark}"
        yield (figure.what, goal, median, figure.spread(), str(len(figure.samples)))


def shown_goal(goal: float) -> str:
    """A goal as it was set."""
    return f"{goal:g}"


def plain(rows: Sequence[Measured]) -> str:
    """Aligned columns. `!` marks a median beyond its goal."""
    lines = [HEADER, *(line for row in rows for line in cells(row))]
    widths = [max(len(line[column]) for line in lines if column or line[1] or line[2]) for column in range(len(HEADER))]
    return "\n".join(_aligned(line, widths) for line in lines)


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    what, *numbers = line
    return "  ".join((what.ljust(widths[0]), *(n.rjust(w) for n, w in zip(numbers, widths[1:], strict=True)))).rstrip()


def markdown(rows: Sequence[Measured]) -> str:
    """A Markdown table."""
    lines = [HEADER, ("---", *("---:" for _ in HEADER[NUMERIC])), *(line for row in rows for line in cells(row))]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def as_json(machine: Machine, rows: Sequence[Measured]) -> str:
    """Everything, every sample included."""
    content = {
        "machine": asdict(machine),
        "rows": [
            {
                "name": measured.row.name,
                "about": measured.row.about,
                "runs": measured.runs,
                "failure": measured.failure or None,
                "figures": [asdict(figure) | {"median": figure.median} for figure in measured.figures],
            }
            for measured in rows
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
