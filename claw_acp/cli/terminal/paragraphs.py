"""Text that arrives in pieces, written as wrapped paragraphs."""

import re
from typing import TextIO

from claw_acp.cli.terminal.paint import Colour, Paint

INDENT = "  "
CODE_INDENT = "  │ "


class Paragraphs:
    """Writes Markdown as it streams: wraps at words, shows `code` bold and fenced blocks behind a rule.

    The last word of a piece is held back until it is complete.
    """

    def __init__(self, out: TextIO, *, paint: Paint, width: int, colour: Colour | None = None, lead: str = "") -> None:
        self._out = out
        self._paint = paint
        self._quotes = "`" if paint("x", "bold") == "x" else ""  # where nothing is bold, quotes must stay
        self._width = width
        self._colour: Colour | None = colour
        self._lead = lead
        self._held = ""
        self._space = ""
        self._column = 0
        self._fenced = False
        self._code = False
        self._swallow = False

    def feed(self, text: str) -> None:
        """Write the complete words of `text`."""
        *whole, self._held = re.findall(r"\s+|\S+", self._held + text) or [""]
        for piece in whole:
            self._put(piece)
        self._out.flush()

    def end(self) -> None:
        """Write the rest and end the line."""
        self._put(self._held.rstrip())
        self._held = ""
        if self._column:
            self._newline()
        self._out.flush()

    def _put(self, piece: str) -> None:
        if piece.isspace():
            self._put_space(piece)
        elif piece.startswith("```") and not self._column:
            self._fenced, self._swallow = not self._fenced, True
        elif piece and not self._swallow:
            self._put_word(piece)

    def _put_space(self, space: str) -> None:
        ends = space.count("\n")
        if ends:
            for _ in range(min(ends, 2) - self._swallow):
                self._newline()
            self._swallow = False
            space = space.rpartition("\n")[2]
        self._space = space

    def _put_word(self, word: str) -> None:
        if self._column and not self._fenced and self._column + len(self._space) + len(word) > self._width:
            self._newline()
            self._space = ""
        if not self._column:
            indent = CODE_INDENT if self._fenced else f"{INDENT}{self._lead}"
            self._lead = " " * len(self._lead)
            self._out.write(self._painted(indent) if self._fenced else indent)
            self._column = len(indent)
        self._out.write(self._space + self._styled(word))
        self._column += len(self._space) + len(word)
        self._space = ""

    def _styled(self, word: str) -> str:
        if self._fenced:
            return self._painted(word)
        parts: list[str] = []
        for number, part in enumerate(word.split("`")):
            if number:
                self._code = not self._code
                parts.append(self._quotes)
            if part:
                parts.append(self._paint(part, "bold") if self._code else self._painted(part))
        return "".join(parts)

    def _painted(self, text: str) -> str:
        if self._fenced:
            return self._paint(text, "dim")
        return self._paint(text, self._colour) if self._colour else text

    def _newline(self) -> None:
        self._out.write("\n")
        self._column = 0
