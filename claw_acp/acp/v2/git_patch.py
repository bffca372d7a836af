"""A change to one file as Git's text patch, with absolute paths and no prefixes (the draft's `git_patch`)."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, TypeAlias

CONTEXT: Final = 3
"""Unchanged lines around a change."""

MAX_COMPARED: Final = 2_000
"""Lines between the common beginning and end; beyond, the whole middle counts as one change."""

MAX_CHANGED: Final = 1_000_000
"""Characters between the common beginning and end, of both texts; beyond, there is no patch."""

_NO_NEWLINE: Final = "\\ No newline at end of file\n"
_MODE: Final = "100644"
_ESCAPES: Final = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}

_Opcode: TypeAlias = tuple[str, int, int, int, int]


def git_patch(path: str, old: str | None, new: str | None) -> str:
    """The patch that turns the old text into the new one.

    Args:
        path: The file, absolute.
        old: Its text before; None: there was no file.
        new: Its text after; None: there is no file any more.

    Returns:
        One `diff --git` section; empty when nothing changes, or the change is too large to be read.
    """
    if old == new:
        return ""
    before, after = old or "", new or ""
    start = _shared_start(before, after)
    end = _shared_end(before, after, start)
    if len(before) + len(after) - 2 * (start + end) > MAX_CHANGED:
        return ""
    skipped = before.count("\n", 0, start)
    rows = _lines(before[start : len(before) - end]), _lines(after[start : len(after) - end])
    hunks = "".join(_hunk(*rows, group, skipped) for group in _grouped(_opcodes(*rows)))
    name = quoted(path)
    header = f"diff --git {name} {name}\n"
    if old is None:
        header += f"new file mode {_MODE}\n"
    elif new is None:
        header += f"deleted file mode {_MODE}\n"
    tab = "\t" if " " in path else ""  # so Git marks where a name with blanks ends
    # Git leaves these lines out where an empty file comes or goes, and cannot apply that to absolute paths.
    sides = ("/dev/null" if old is None else name + tab, "/dev/null" if new is None else name + tab)
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
    """Lines with their line ends. Only a line feed ends a line, as for Git."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    return lines if lines[-1] else lines[:-1]


def _shared_start(before: str, after: str) -> int:
    """The start of the first line that may be in a hunk: everything before is the same in both."""
    low, high = 0, min(len(before), len(after))
    while low < high:
        middle = (low + high + 1) // 2
        if before[low:middle] == after[low:middle]:
            low = middle
        else:
            high = middle - 1
    for _ in range(CONTEXT + 1):  # the line of the first difference, and those around it
        low = before.rfind("\n", 0, max(low - 1, 0)) + 1
    return low


def _shared_end(before: str, after: str, start: int) -> int:
    """The number of characters at the end, in whole lines, that are the same in both and in no hunk."""
    low, high = 0, min(len(before), len(after)) - start
    while low < high:
        middle = (low + high + 1) // 2
        if before[len(before) - middle : len(before) - low] == after[len(after) - middle : len(after) - low]:
            low = middle
        else:
            high = middle - 1
    place = len(before) - low
    for _ in range(CONTEXT + 1):
        place = before.find("\n", place) + 1
        if place == 0:
            return 0
    return len(before) - place


def _opcodes(before: Sequence[str], after: Sequence[str]) -> list[_Opcode]:
    """The operations that turn the lines before into those after, as `SequenceMatcher` gives them."""
    if max(len(before), len(after)) > MAX_COMPARED:
        return _replaced_middle(before, after)
    return [*SequenceMatcher(a=before, b=after).get_opcodes()]


def _replaced_middle(before: Sequence[str], after: Sequence[str]) -> list[_Opcode]:
    shortest = min(len(before), len(after))
    start = next((index for index in range(shortest) if before[index] != after[index]), shortest)
    rest = range(shortest - start)
    end = next((index for index in rest if before[-1 - index] != after[-1 - index]), shortest - start)
    olds, news = len(before) - end, len(after) - end
    return [
        ("equal", 0, start, 0, start),
        ("replace", start, olds, start, news),
        ("equal", olds, len(before), news, len(after)),
    ]


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


def _hunk(before: Sequence[str], after: Sequence[str], group: Sequence[_Opcode], skipped: int) -> str:
    first, last = group[0], group[-1]
    old, new = _range(first[1] + skipped, last[2] + skipped), _range(first[3] + skipped, last[4] + skipped)
    rows = [f"@@ -{old} +{new} @@\n"]
    for tag, a, b, c, d in group:
        if tag == "equal":
            rows += [_row(" ", line) for line in before[a:b]]
            continue
        rows += [_row("-", line) for line in before[a:b]]
        rows += [_row("+", line) for line in after[c:d]]
    return "".join(rows)


def _range(start: int, end: int) -> str:
    """`first,count` from 1; for no lines, the line before."""
    count = end - start
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _row(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n{_NO_NEWLINE}"
