"""A change to one file as Git's text patch, with absolute paths and no prefixes (the draft's `git_patch`)."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, TypeAlias

CONTEXT: Final = 3
"""Unchanged lines around a change."""

MAX_COMPARED: Final = 2_000
"""Lines between the common beginning and end; beyond, the whole middle counts as one change."""

_NO_NEWLINE: Final = "\\ No newline at end of file\n"
_MODE: Final = "100644"
_ESCAPES: Final = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}

_Opcode: TypeAlias = tuple[str, int, int, int, int]


def git_patch(path: str, old: str | None, new: str | None) -> str:
    """The patch that makes the new text of the old one.

    Args:
        path: The file, absolute.
        old: Its text before; None: there was no file.
        new: Its text after; None: there is no file any more.

    Returns:
        One `diff --git` section; empty when nothing changes.
    """
    if old == new:
        return ""
    before, after = _lines(old or ""), _lines(new or "")
    hunks = "".join(_hunk(before, after, group) for group in _grouped(_opcodes(before, after)))
    name = quoted(path)
    header = f"diff --git {name} {name}\n"
    if old is None:
        header += f"new file mode {_MODE}\n"
    elif new is None:
        header += f"deleted file mode {_MODE}\n"
    end = "\t" if " " in path else ""  # so Git marks where a name with blanks ends
    # Git leaves these lines out where an empty file comes or goes, and cannot apply that to absolute paths.
    sides = ("/dev/null" if old is None else name + end, "/dev/null" if new is None else name + end)
    return f"{header}--- {sides[0]}\n+++ {sides[1]}\n{hunks}"


def quoted(path: str) -> str:
    """A path as Git writes it: in quotes, with escapes, when it has unusual characters."""
    data = path.encode("utf-8", "surrogateescape")
    plain = all(0x20 <= byte < 0x7F and byte not in {34, 92} for byte in data)
    return path if plain else f'"{"".join(_escaped(byte) for byte in data)}"'


def _escaped(byte: int) -> str:
    if byte in _ESCAPES:
        return _ESCAPES[byte]
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def _lines(text: str) -> list[str]:
    """Lines with their ends. Only a line feed ends one: that is how Git counts."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    return lines if lines[-1] else lines[:-1]


def _opcodes(before: Sequence[str], after: Sequence[str]) -> list[_Opcode]:
    """What to do with which lines, as `SequenceMatcher` says it; comparing only what differs keeps that quick."""
    shortest = min(len(before), len(after))
    start = 0
    while start < shortest and before[start] == after[start]:
        start += 1
    end = 0
    while end < shortest - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if max(len(old), len(new)) > MAX_COMPARED:
        middle: list[_Opcode] = [("replace", 0, len(old), 0, len(new))]
    else:
        middle = [*SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()]
    moved = [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in middle]
    tail = (len(before) - end, len(before), len(after) - end, len(after))
    return [("equal", 0, start, 0, start), *moved, ("equal", *tail)]


def _grouped(opcodes: Sequence[_Opcode]) -> list[list[_Opcode]]:
    """Changes that share context, each group one hunk."""
    groups: list[list[_Opcode]] = []
    group: list[_Opcode] = []
    for tag, a, b, c, d in opcodes:
        if tag != "equal":
            group.append((tag, a, b, c, d))
            continue
        if group and b - a > 2 * CONTEXT:
            groups.append([*group, (tag, a, a + CONTEXT, c, c + CONTEXT)])
            group = []
        elif group:
            group.append((tag, a, b, c, d))
        if not group:
            size = min(CONTEXT, b - a)
            group = [(tag, b - size, b, d - size, d)]
    if group:
        groups.append(_cut_end(group))
    return [group for group in groups if any(tag != "equal" for tag, *_ in group)]


def _cut_end(group: list[_Opcode]) -> list[_Opcode]:
    tag, a, b, c, d = group[-1]
    return [*group[:-1], (tag, a, min(b, a + CONTEXT), c, min(d, c + CONTEXT))] if tag == "equal" else group


def _hunk(before: Sequence[str], after: Sequence[str], group: Sequence[_Opcode]) -> str:
    first, last = group[0], group[-1]
    rows = [f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"]
    for tag, a, b, c, d in group:
        if tag == "equal":
            rows += [_row(" ", line) for line in before[a:b]]
            continue
        rows += [_row("-", line) for line in before[a:b]]
        rows += [_row("+", line) for line in after[c:d]]
    return "".join(rows)


def _range(start: int, end: int) -> str:
    """`first,count` from 1; of no lines, the one before."""
    count = end - start
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _row(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n{_NO_NEWLINE}"
