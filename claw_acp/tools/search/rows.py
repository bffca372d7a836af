"""The rows that a text search prints, and the report made of them.

Both engines print, for a match, `path NUL number:text` and, for a line around one, `path NUL number-text`; between
separate groups, `--`. This is the output of `rg --null --line-number --no-heading`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from claw_acp.tools.display import amount, printable

MAX_TEXT = 100_000  # characters of a whole result
MAX_LINE = 500  # characters of one line; the engines cut before, in bytes

_ROW = re.compile(r"(?P<path>.*?)\0(?P<number>\d+)(?P<mark>[:-])(?P<text>.*)", re.DOTALL)


@dataclass(slots=True)
class _FileHits:
    name: str
    rows: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    matches: int = 0


@dataclass(slots=True, kw_only=True)
class SearchReport:
    """Collects rows up to `most` matches or the size limit; `more` is set if there were more.

    Args:
        shown: Returns a printed path as it is shown; None leaves the file out.
        most: Matches to keep.
    """

    shown: Callable[[str], str | None]
    most: int
    matches: int = 0
    more: bool = False
    _files: list[_FileHits] = field(default_factory=list[_FileHits])
    _size: int = 0
    _path: str | None = None
    _visible: bool = False

    def take(self, row: str) -> bool:
        """Take the next row; False when no more are needed."""
        parsed = _ROW.fullmatch(row)
        if parsed is None:  # `--`, or part of a file name with a line feed in it: such a file is left out
            return True
        if parsed["path"] != self._path:
            self._open(parsed["path"])
        if not self._visible:
            return True
        match = parsed["mark"] == ":"
        if (match and self.matches >= self.most) or self._size > MAX_TEXT:
            self.more = True
            return False
        self._add(int(parsed["number"]), mark=parsed["mark"], text=parsed["text"])
        if match:
            self.matches += 1
            self._files[-1].matches += 1
        return True

    def text(self, *, groups: bool) -> str:
        """All rows by file; with `groups`, `--` marks omitted lines of a file."""
        return "\n\n".join("\n".join(_rows(hits, groups=groups)) for hits in self._files if hits.matches)

    def summary(self) -> str:
        """`3 matches in 2 files`."""
        files = sum(1 for hits in self._files if hits.matches)
        return f"{amount(self.matches, 'match')} in {amount(files, 'file')}"

    def _open(self, path: str) -> None:
        self._path = path
        name = self.shown(path)
        self._visible = name is not None
        if name is not None:
            self._files.append(_FileHits(printable(name)))

    def _add(self, number: int, *, mark: str, text: str) -> None:
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").removesuffix("\r")
        if len(text) > MAX_LINE:
            text = f"{text[:MAX_LINE]}…"
        row = f"  {number}{mark} {text}"
        self._files[-1].rows.append((number, row))
        self._size += len(row) + 1


def _rows(hits: _FileHits, *, groups: bool) -> Iterator[str]:
    yield hits.name
    last = hits.rows[0][0] - 1
    for number, row in hits.rows:
        if groups and number != last + 1:
            yield "  --"
        last = number
        yield row
