"""The line of each key in a TOML file: `tomllib` parses, but reports no positions.

The text is known to be valid TOML, so it is enough to split it into statements (a header or one `key = value`, which
may span several lines) and let `tomllib` parse each one. Every step takes time linear in the text.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TypeAlias, cast

from claw_acp.core.value import Value

KeyPath: TypeAlias = tuple[str, ...]

_LEXEME = (  # a text, compiled when there is a file
    r'(?s)"""(?:[^\\"]|\\.|"(?!""))*"{3,5}'  # a multi-line string may end in quotes of its own
    r"|'''(?:[^']|'(?!''))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[\]{}\n]"
)


class Positions(Value):
    """The line of every key of one file."""

    lines: Mapping[KeyPath, int]

    def line_of(self, path: KeyPath) -> int | None:
        """The line of `path`, or of the nearest table around it; None when neither is in the file."""
        for length in range(len(path), 0, -1):
            if (line := self.lines.get(path[:length])) is not None:
                return line
        return None


def entry(number: int) -> str:
    """The path part for a table of an array, counted from 0; no unquoted key has this form."""
    return f"[{number}]"


def find_positions(text: str) -> Positions:
    """Positions in `text`, which must be valid TOML with plain line feeds.

    Keys in an array of tables, as in `[[rules]]`, have two paths: the first table's keys without a number, and each
    table's keys with it (see `entry`).
    """
    lines: dict[KeyPath, int] = {}
    table: KeyPath = ()
    numbered: KeyPath | None = None
    entries = Counter[KeyPath]()
    for line, statement in _statements(text):
        content = _parse(statement)
        if statement.startswith("["):
            table = _only_path(content)[:_DEEPEST]
            lines.setdefault(table, line)
            numbered = None
            if statement.startswith("[["):
                numbered = (*table, entry(entries[table]))
                entries[table] += 1
                lines[numbered] = line
        else:
            for path in _paths(content):
                lines.setdefault(table + path, line)
                if numbered is not None:
                    lines.setdefault(numbered + path, line)
    return Positions(lines=lines)


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Each statement with the line it starts on."""
    depth = start = 0
    line = first_line = 1
    for token in re.finditer(_LEXEME, text + "\n"):
        word = token.group()
        if word in "[{":
            depth += 1
        elif word in "]}":
            depth -= 1
        elif word == "\n" and depth == 0:
            if statement := text[start : token.start()].strip():
                yield first_line, statement
            start, first_line = token.end(), line + 1
        line += word.count("\n")


def _parse(statement: str) -> dict[str, object]:
    loads: Callable[[str], dict[str, object]] = import_module("tomllib").loads
    try:
        return loads(statement)
    except (ValueError, RecursionError):  # a position is a courtesy: better none than a failure
        return {}


def _only_path(content: object) -> KeyPath:
    """The path in a table header."""
    path: list[str] = []
    while content:
        if isinstance(content, list):
            content = cast("list[object]", content)[0]
        elif isinstance(content, dict):
            key, content = next(iter(cast("dict[str, object]", content).items()))
            path.append(key)
        else:
            break
    return tuple(path)


def _paths(content: dict[str, object]) -> Iterator[KeyPath]:
    """Every path a statement sets, down to inline tables."""
    waiting: list[tuple[KeyPath, dict[str, object]]] = [((), content)]
    while waiting:
        prefix, table = waiting.pop()
        for key, value in table.items():
            path = (*prefix, key)
            yield path
            if isinstance(value, dict) and len(path) < _DEEPEST:
                waiting.append((path, cast("dict[str, object]", value)))


_DEEPEST = 8  # no key of ours lies deeper, and paths of a hostile file would grow quadratically
