"""The parts of a patch, in whichever format it was written."""

from typing import Literal, TypeAlias

from claw_acp.core.errors import ToolError
from claw_acp.core.value import Value

Sign: TypeAlias = Literal[" ", "-", "+"]
"""A line that is there before and after, one that is removed, one that is added."""


class Hunk(Value):
    """Neighbouring lines of a file, before and after.

    Attributes:
        number: From 1, in its file.
        at: The line of the patch where it begins, from 1.
        lines: The lines, each with its sign.
        expected: The line of the file where it should begin, from 1; None if the patch does not say.
        anchors: Lines of the file that come before it, the outermost first.
        ends_file: Whether its last old line is the last of the file.
        newline: Whether the file ends with a line end afterwards; None: as before.
    """

    number: int
    at: int
    lines: tuple[tuple[Sign, str], ...]
    expected: int | None = None
    anchors: tuple[str, ...] = ()
    ends_file: bool = False
    newline: bool | None = None

    @property
    def old(self) -> list[str]:
        """The lines that have to be there."""
        return [text for sign, text in self.lines if sign != "+"]

    @property
    def new(self) -> list[str]:
        """The lines that are there afterwards."""
        return [text for sign, text in self.lines if sign != "-"]


class FilePatch(Value):
    """The change of one file; `new_path` is set if it is moved, too. `at` is the line of the patch where it begins."""

    operation: Literal["add", "update", "delete"]
    path: str
    at: int
    new_path: str | None = None
    hunks: tuple[Hunk, ...] = ()


class HunkLines:
    """Collects the lines of one hunk while a patch is read."""

    def __init__(self, *, number: int, at: int, expected: int | None = None, anchors: tuple[str, ...] = ()) -> None:
        self._number = number
        self._at = at
        self._expected = expected
        self._anchors = anchors
        self._lines: list[tuple[Sign, str]] = []
        self._blank = 0  # lines at the end without any sign: often only space between two parts
        self._endless: set[Sign] = set()
        self.ends_file = False

    @property
    def empty(self) -> bool:
        """True as long as no line with a sign has come."""
        return not self._lines

    def take(self, line: str) -> bool:
        """Take a line of the patch; False when it belongs to no hunk."""
        if line.startswith("\\"):
            self._endless.add(self._lines[-1][0] if self._lines else " ")
            return True
        if not line:
            self._blank += 1
            return True
        if line[0] not in " -+":
            return False
        self._lines.extend((" ", "") for _ in range(self._blank))
        self._blank = 0
        sign: Sign = "-" if line[0] == "-" else "+" if line[0] == "+" else " "
        self._lines.append((sign, line[1:]))
        return True

    def hunk(self) -> Hunk:
        """The hunk.

        Raises:
            ToolError: It changes nothing.
        """
        if all(sign == " " for sign, _ in self._lines) and not self._endless:
            raise ToolError(
                f"Hunk {self._number} (line {self._at} of the patch) changes nothing: it has no line that begins with "
                "- or +. Nothing was written."
            )
        newline = None
        if self._endless:
            newline = not self._endless.intersection({" ", "+"})
        return Hunk(
            number=self._number, at=self._at, lines=tuple(self._lines), expected=self._expected,
            anchors=self._anchors, ends_file=self.ends_file or bool(self._endless), newline=newline,
        )  # fmt: skip


def refused(at: int, reason: str) -> ToolError:
    """The error about a line of a patch that cannot be read."""
    return ToolError(f"The patch cannot be read at its line {at}: {reason} Nothing was written.")
