"""The head of a Markdown file: `key: value` lines between two lines of `---`.

Not parsed as YAML: the heads of real prompt files (`argument-hint: [issue] [priority]`, `description: Fix: the bug`)
are no YAML, and a strict parser would refuse whole files for it.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

_FENCE: Final = "---"
_ENTRY: Final = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*))?")
_BLOCKS: Final = re.compile(r"[>|][+-]?\d?")


class Document(NamedTuple):
    """A file in two parts; the values of `head` are texts without quotes."""

    head: Mapping[str, str]
    body: str


class BadHead(ValueError):
    """The head cannot be read; the text says why, with the line."""


def split_document(text: str) -> Document:
    """Split a file. One that does not begin with `---` has no head.

    Raises:
        BadHead: The head does not end, or has a line that is no entry.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        return Document({}, text)
    end = next((number for number, line in enumerate(lines[1:], start=1) if line.rstrip() == _FENCE), None)
    if end is None:
        raise BadHead("the head that begins with --- in line 1 has no closing line of ---")
    return Document(_entries(lines[1:end]), "\n".join(lines[end + 1 :]))


def _entries(lines: list[str]) -> Mapping[str, str]:
    entries: dict[str, str] = {}
    key = None
    for number, line in enumerate(lines, start=2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line[0].isspace() or line.startswith("- "):  # goes on with the entry above: a folded text, or a list
            if key is None:
                raise BadHead(f"line {number} is indented without an entry above it")
            entries[key] = f"{entries[key]} {line.strip()}".strip()
            continue
        entry = _ENTRY.fullmatch(line.rstrip())
        if entry is None:
            raise BadHead(f"line {number} is not of the form `key: value`")
        key, value = entry[1], (entry[2] or "").strip()
        entries[key] = "" if _BLOCKS.fullmatch(value) else _unquoted(value)
    return entries


def _unquoted(value: str) -> str:
    quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value
