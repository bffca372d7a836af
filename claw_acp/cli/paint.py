"""Colour and columns for people; plain text for everything that is not a terminal."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Literal, TextIO

Colour = Literal["green", "yellow", "red", "dim", "bold"]

_CODES: Mapping[Colour, str] = {"green": "32", "yellow": "33", "red": "31", "dim": "2", "bold": "1"}


class Paint:
    """Paints text when a person is watching who has not asked for plain text (`NO_COLOR`)."""

    def __init__(self, stream: TextIO | None = None, *, environ: Mapping[str, str] = os.environ) -> None:
        plain = environ.get("NO_COLOR") or environ.get("TERM") == "dumb"
        watched: bool = getattr(stream or sys.stdout, "isatty", bool)()  # sys.stdout is None when it was closed
        self._on = watched and not plain

    def __call__(self, text: str, colour: Colour) -> str:
        """`text` in `colour`."""
        return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if self._on else text


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of equal length as lines, each column as wide as its longest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
