"""A text search in a process of its own, for machines without ripgrep; its one argument is a `SearchRequest`.

It is a process and not a thread because a regular expression may take for ever, and Python's can neither be interrupted
nor let other threads run meanwhile; a process can be killed. It prints the rows that `search.rows` describes.
"""

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from claw_acp.core.value import Value, as_dict
from claw_acp.tools.search.glob_pattern import anywhere, matcher
from claw_acp.tools.search.ignore_rules import IgnoreRules
from claw_acp.tools.search.walk import walk

MAX_FILE = 50_000_000  # bytes; larger files are skipped
MAX_COLUMNS = 500  # bytes of a line that are printed

_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}\ufffd]")
_SNIFFED = 8192  # bytes looked at to tell text from binary


class SearchRequest(Value):
    """The parameters of a search. `start` is an absolute directory or file; ignore rules come from within `roots`."""

    pattern: str
    start: str
    roots: tuple[str, ...]
    ignore_case: bool
    context: int
    glob: str | None = None

    def to_json(self) -> str:
        """The one argument of the worker."""
        return json.dumps(as_dict(self))


def main(arguments: Sequence[str], output: BinaryIO) -> None:
    """Run the search of the request and print the rows."""
    request = SearchRequest(**json.loads(arguments[0]))
    pattern = re.compile(request.pattern, re.IGNORECASE if request.ignore_case else re.NOFLAG)
    # most patterns are plain words: files without the word need not be taken apart into lines
    plain = not request.ignore_case and not _SPECIAL.search(request.pattern)
    needed = request.pattern.encode("utf-8") if plain else b""
    first = True
    for path, name in _files(request):
        rows = _search(path, pattern, needed=needed, context=request.context)
        for group in rows:
            if request.context and not first:
                output.write(b"--\n")
            first = False
            output.writelines(os.fsencode(name) + row + b"\n" for row in group)
        output.flush()


def _files(request: SearchRequest) -> Iterator[tuple[str, str]]:
    """Absolute paths, and the names to print: relative to the start, or to the directory of a single file."""
    start = Path(request.start)
    if start.is_file():
        yield request.start, start.name
        return
    wanted = matcher(anywhere(request.glob.removeprefix("!"))) if request.glob else None
    rules = IgnoreRules.at(start, roots=[Path(root) for root in request.roots])
    skip = len(request.start.rstrip("/")) + 1
    for entry in walk(request.start, rules=rules, pulse=lambda: None):
        name = entry.path[skip:]
        if entry.kind != "file":
            continue
        if wanted is None or wanted(name) != (request.glob or "").startswith("!"):
            yield entry.path, name


def _search(path: str, pattern: re.Pattern[str], *, needed: bytes, context: int) -> Iterator[list[bytes]]:
    """The rows of one file, in groups of adjacent lines."""
    lines = _lines(path, needed=needed)
    hits = [number for number, line in enumerate(lines) if pattern.search(line)]
    group: list[bytes] = []
    after = 0  # the first line not yet printed
    matching = set(hits)
    for hit in hits:
        low, high = max(hit - context, after), min(hit + context + 1, len(lines))
        if group and low > after:
            yield group
            group = []
        for number in range(low, high):
            mark = ":" if number in matching else "-"
            text = lines[number].encode("utf-8")[:MAX_COLUMNS].decode("utf-8", "ignore")  # no half character
            group.append(f"\0{number + 1}{mark}{text}".encode())
        after = max(after, high)
    if group:
        yield group


def _lines(path: str, *, needed: bytes) -> list[str]:
    """The lines of a text file without their ends; empty if it is binary, too large, unreadable or lacks `needed`."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a hundred thousand of these
            if os.fstat(file.fileno()).st_size > MAX_FILE:
                return []
            head = file.read(_SNIFFED)
            if b"\0" in head:
                return []
            data = head + file.read()
    except OSError:  # gone, or not ours to read; ripgrep is told to be silent about these too
        return []
    if needed not in data:
        return []
    lines = data.decode("utf-8", "replace").split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


if __name__ == "__main__":
    main(sys.argv[1:], sys.stdout.buffer)
