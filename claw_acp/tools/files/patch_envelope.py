"""Reading patches between `*** Begin Patch` and `*** End Patch`, as models write them.

Hunks begin with `@@`, with or without a line of the file that stands above them, and know no line numbers.
"""

from collections.abc import Sequence
from typing import Final

from claw_acp.tools.files.patch_parts import FilePatch, Hunk, HunkLines, refused

BEGIN: Final = "*** Begin Patch"
_END: Final = "*** End Patch"
_ADD: Final = "*** Add File: "
_DELETE: Final = "*** Delete File: "
_UPDATE: Final = "*** Update File: "
_MOVE: Final = "*** Move to: "
_LAST: Final = "*** End of File"


class _Reader:
    def __init__(self, lines: Sequence[str], start: int) -> None:
        self._lines = lines
        self._next = start

    def files(self) -> list[FilePatch]:
        """The files up to the end of the patch; the end itself may be missing."""
        files: list[FilePatch] = []
        while (line := self._line) is not None and line.rstrip() != _END:
            if not line.strip():
                self._next += 1
                continue
            files.append(self._file(line))
        return files

    @property
    def _line(self) -> str | None:
        return self._lines[self._next] if self._next < len(self._lines) else None

    def _file(self, line: str) -> FilePatch:
        at = self._next + 1
        self._next += 1
        if line.startswith(_DELETE):
            return FilePatch(operation="delete", path=line[len(_DELETE) :].strip(), at=at)
        if line.startswith(_ADD):
            return FilePatch(operation="add", path=line[len(_ADD) :].strip(), at=at, hunks=self._added(at))
        if not line.startswith(_UPDATE):
            raise refused(
                at, f"there must be `{_ADD}`, `{_UPDATE}` or `{_DELETE}` with a path, or `{_END}`, not {line[:80]!r}."
            )
        new_path = None
        if (above := self._line) is not None and above.startswith(_MOVE):
            new_path = above[len(_MOVE) :].strip()
            self._next += 1
        path = line[len(_UPDATE) :].strip()
        return FilePatch(operation="update", path=path, at=at, new_path=new_path, hunks=tuple(self._hunks()))

    def _added(self, at: int) -> tuple[Hunk, ...]:
        """The lines of a new file, as one hunk; none for an empty file."""
        rows = HunkLines(number=1, at=at, expected=1)
        while (line := self._line) is not None and not line.startswith("*** "):
            if line and not line.startswith("+"):
                raise refused(self._next + 1, "each line of a new file begins with +.")
            rows.take(line)
            self._next += 1
        return () if rows.empty else (rows.hunk(),)

    def _hunks(self) -> list[Hunk]:
        hunks: list[Hunk] = []
        while (line := self._line) is not None and (line.rstrip() == _LAST or not line.startswith("*** ")):
            if not line.strip():
                self._next += 1
                continue
            hunks.append(self._hunk(len(hunks) + 1))
        return hunks

    def _hunk(self, number: int) -> Hunk:
        at = self._next + 1
        anchors: list[str] = []
        while (line := self._line) is not None and line.startswith("@@"):
            anchors.append(line[2:].removeprefix(" ").removesuffix(" @@"))
            self._next += 1
        rows = HunkLines(number=number, at=at, anchors=tuple(anchor for anchor in anchors if anchor.strip()))
        while (line := self._line) is not None:
            if line.rstrip() == _LAST:
                rows.ends_file = True
                self._next += 1
                break
            if line.startswith(("@@", "*** ")):
                break
            if not rows.take(line):
                raise refused(
                    self._next + 1,
                    f"in hunk {number} each line begins with a space, - or +, but this is {line[:80]!r}.",
                )
            self._next += 1
        return rows.hunk()


def read_envelope(lines: Sequence[str], *, start: int) -> list[FilePatch]:
    """The files of a patch whose `*** Begin Patch` is the line before `start`.

    Raises:
        ToolError: It is no such patch; the text names the line.
    """
    return _Reader(lines, start).files()
