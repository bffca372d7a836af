"""Reading unified diffs, as `diff -u` and `git diff` write them.

Counts of lines in the heads of hunks are often wrong where a model wrote them, so hunks end where their lines end.
"""

import re
from collections.abc import Sequence
from typing import Final

from claw_acp.tools.files.patch_parts import FilePatch, Hunk, HunkLines, refused

_HEAD = re.compile(r"@@(?: -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@|.*)")
_OTHER = re.compile(r"diff |@@|-- ?$")  # what may follow a hunk, besides the head of the next file
_NULL: Final = "/dev/null"
_UNREADABLE: Final = {
    "GIT binary patch": "binary contents cannot be patched.",
    "Binary files ": "binary contents cannot be patched.",
    "copy from ": "a copy is no change of a file; write the new file instead.",
    "new mode ": "modes are not changed by a patch; use a command.",
}


class _Reader:
    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._next = 0

    def files(self) -> list[FilePatch]:
        files: list[FilePatch] = []
        while self._next < len(self._lines):
            line = self._lines[self._next]
            for beginning, reason in _UNREADABLE.items():
                if line.startswith(beginning):
                    raise refused(self._next + 1, reason)
            if self._is_head(self._next):
                files.append(self._file())
            elif line.startswith("rename from "):
                files.append(self._renamed())
            elif line.startswith(("new file mode ", "deleted file mode ")) and not self._is_head(self._next + 2):
                raise refused(self._next + 1, "the file is empty or binary; use another tool for it.")
            else:
                self._next += 1  # heads without meaning for us, and what people write above
                if _HEAD.match(line):
                    raise refused(self._next, "there is no `--- ` and `+++ ` with the path above this hunk.")
        return files

    def _at(self, index: int) -> str:
        return self._lines[index] if index < len(self._lines) else ""

    def _is_head(self, index: int) -> bool:
        return self._at(index).startswith("--- ") and self._at(index + 1).startswith("+++ ")

    def _file(self) -> FilePatch:
        at = self._next + 1
        old, new = _paths(self._lines[self._next][4:], self._lines[self._next + 1][4:])
        self._next += 2
        hunks: list[Hunk] = []
        while (head := _HEAD.match(self._at(self._next))) is not None:
            hunks.append(self._hunk(head, number=len(hunks) + 1))
        if not hunks:
            raise refused(self._next + 1, "there must be a hunk, such as `@@ -1,3 +1,4 @@`.")
        if old is None and new is None:
            raise refused(at, "it names no file.")
        if old is None or new is None:
            return FilePatch(
                operation="add" if old is None else "delete", path=new or old or "", at=at, hunks=tuple(hunks)
            )
        moved = new if new != old else None
        return FilePatch(operation="update", path=old, at=at, new_path=moved, hunks=tuple(hunks))

    def _renamed(self) -> FilePatch:
        """A file with a new name, whose hunks may follow."""
        at = self._next + 1
        old = _unquoted(self._lines[self._next].removeprefix("rename from "))
        if not self._at(self._next + 1).startswith("rename to "):
            raise refused(at + 1, "there must be `rename to `.")
        new = _unquoted(self._lines[self._next + 1].removeprefix("rename to "))
        self._next += 2
        while self._at(self._next).startswith("index "):
            self._next += 1
        if self._is_head(self._next):
            return self._file()
        return FilePatch(operation="update", path=old, at=at, new_path=new)

    def _hunk(self, head: re.Match[str], *, number: int) -> Hunk:
        first = None if head[1] is None else int(head[1])
        before, after = (0, 0) if first is None else (int(head[2] or "1"), int(head[3] or "1"))
        expected = first if first is None or before else first + 1
        rows = HunkLines(number=number, at=self._next + 1, expected=expected)
        self._next += 1
        while self._next < len(self._lines):
            line = self._lines[self._next]
            if self._begins_next(line, before=before, after=after) or not rows.take(line):
                break
            before -= line[:1] in {" ", "-", ""}
            after -= line[:1] in {" ", "+", ""}
            self._next += 1
        line = self._at(self._next)
        if line and not (self._is_head(self._next) or _OTHER.match(line)):
            raise refused(
                self._next + 1, f"in hunk {number} each line begins with a space, - or +, but this is {line[:80]!r}."
            )
        return rows.hunk()

    def _begins_next(self, line: str, *, before: int, after: int) -> bool:
        """Return whether a line is none of a hunk that lacks these numbers of old and new lines."""
        if self._is_head(self._next) and _HEAD.match(self._at(self._next + 2)):
            return not before == after == 1  # else a removed `-- ...` and an added `++ ...` end the hunk
        return before <= 0 and after <= 0 and _OTHER.match(line) is not None


def _paths(old: str, new: str) -> tuple[str | None, str | None]:
    """Both paths without what `diff` puts before and behind them; None for a file that is not there."""
    names = [_unquoted(name.partition("\t")[0].strip()) for name in (old, new)]
    prefixed = all(name == _NULL or name.startswith(sign) for name, sign in zip(names, ("a/", "b/"), strict=True))
    first, second = (None if name == _NULL else name[2:] if prefixed else name for name in names)
    return first, second


def _unquoted(name: str) -> str:
    r"""A name as git writes it: in quotes, with `\303\244` for bytes, where it has unusual characters."""
    if len(name) < 2 or not (name[0] == name[-1] == '"'):
        return name
    try:
        return name[1:-1].encode("ascii").decode("unicode_escape").encode("latin-1").decode("utf-8")
    except UnicodeError:
        return name[1:-1]


def read_unified(lines: Sequence[str]) -> list[FilePatch]:
    """The files of a unified diff; none if it is none.

    Raises:
        ToolError: A part of it cannot be read; the text names the line.
    """
    return _Reader(lines).files()
