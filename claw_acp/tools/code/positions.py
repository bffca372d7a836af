"""Positions in texts: language servers count in UTF-16 code units from 0, people and models in lines from 1."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from claw_acp.core.errors import ToolError
from claw_acp.core.json_value import JsonObject, JsonValue

_LINE_END: Final = re.compile(r"\r\n|\r|\n")  # those of the protocol; splitlines knows more
_MOST_NAMED: Final = 5  # lines that an error names
_LONGEST_LINE: Final = 200


def lines_of(text: str) -> list[str]:
    """The lines of a text, without their ends."""
    return _LINE_END.split(text)


def position_of(symbol: str, *, line: int, text: str, shown: str) -> JsonObject:
    """Where a name stands in a line, which counts from 1.

    Raises:
        ToolError: It does not stand there; the text tells where it does.
    """
    lines = lines_of(text)
    there = lines[line - 1] if line <= len(lines) else None
    column = None if there is None else _column(symbol, there)
    if there is None or column is None:
        others = [str(number) for number, each in enumerate(lines, start=1) if _column(symbol, each) is not None]
        more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
        elsewhere = f"it is in line {', '.join(others[:_MOST_NAMED])}{more}" if others else "it is nowhere in the file"
        is_there = f"reads `{there.strip()[:_LONGEST_LINE]}`" if there is not None else "is not there"
        raise ToolError(f"`{symbol}` is not in line {line} of {shown}, which {is_there}; {elsewhere}.")
    return {"line": line - 1, "character": _units(there[:column])}


def offset_of(position: JsonValue, starts: Sequence[int], text: str) -> int:
    """The place in a text of a position, of whose lines `starts` has the beginnings.

    Raises:
        ToolError: It is no position in this text.
    """
    line, units = point(position)
    if units < 0:
        raise ToolError("The language server names a column that is not there.")
    if line == len(starts) and units == 0:
        return len(text)
    if not 0 <= line < len(starts):
        raise ToolError("The language server names a line that is not there.")
    start = starts[line]
    end = starts[line + 1] if line + 1 < len(starts) else len(text)
    counted = 0
    for index in range(start, end):
        if counted >= units:
            return index
        counted += 2 if ord(text[index]) > 0xFFFF else 1
    if counted < units:
        raise ToolError("The language server names a column that is not there.")
    return end


def starts_of(text: str) -> list[int]:
    """Where each line of a text begins."""
    return [0, *(found.end() for found in _LINE_END.finditer(text))]


def point(position: JsonValue) -> tuple[int, int]:
    """The line and the character of a position; below 0 for what is none."""
    if not isinstance(position, Mapping):
        return -1, -1
    line, character = position.get("line"), position.get("character")
    return line if isinstance(line, int) else -1, character if isinstance(character, int) else -1


def _column(symbol: str, line: str) -> int | None:
    found = re.search(rf"(?<!\w){re.escape(symbol)}(?!\w)", line) or re.search(re.escape(symbol), line)
    return None if found is None else found.start()


def _units(text: str) -> int:
    return len(text) + sum(ord(character) > 0xFFFF for character in text)
