"""Colour and columns for people; plain text for anything but a terminal."""

import os
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Literal, TextIO

Colour = Literal["green", "yellow", "red", "dim", "bold"]

_CODES: Mapping[Colour, str] = {"green": "32", "yellow": "33", "red": "31", "dim": "2", "bold": "1"}


class Paint:
    """Colours text on a terminal, unless the person asked for plain text (`NO_COLOR`)."""

    def __init__(self, stream: TextIO | None = None, *, environ: Mapping[str, str] = os.environ) -> None:
        plain = environ.get("NO_COLOR") or environ.get("TERM") == "dumb"
        watched: bool = getattr(stream or sys.stdout, "isatty", bool)()  # sys.stdout is None when it was closed
        self._on = watched and not plain

    def __call__(self, text: str, colour: Colour) -> str:
        """`text` in `colour`."""
        return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if self._on else text


NARROWEST = 12
"""The least width of a column, in characters, in a table too wide for the terminal."""


def terminal_width() -> int | None:
    """The width of the terminal on stdout; None without one, where nothing has to fit."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def table(rows: Sequence[Sequence[str]], *, width: int | None) -> list[list[str]]:
    """Rows of equal length as the lines of each, in columns; if they do not fit, the widest cells are wrapped."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    room = sum(widths) if width is None else width - 2 * (len(widths) - 1)
    while sum(widths) > room and max(widths) > NARROWEST:
        widest = widths.index(max(widths))
        others = [width for number, width in enumerate(widths) if number != widest]
        widths[widest] = max(NARROWEST, max(others, default=0) - 1, room - sum(others))
    return [_lines(row, widths) for row in rows]


def _lines(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    cells = [
        textwrap.wrap(cell, width, break_on_hyphens=False) or [""] for cell, width in zip(row, widths, strict=True)
    ]
    height = max(map(len, cells))
    filled = [[*cell, *[""] * (height - len(cell))] for cell in cells]
    return [_line(parts, widths) for parts in zip(*filled, strict=True)]


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of equal length as lines, each column as wide as its longest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [_line(row, widths) for row in rows]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """One line of a table."""
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
