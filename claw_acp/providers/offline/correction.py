"""A rule that fixes one kind of failing test: a text in the program that is spelled differently in the test.

It needs no model: the failed comparison shows the actual and the expected text; the piece in which they differ is
searched in the program, and if it is in one file only, it is replaced there.
"""

import re
from pathlib import PurePosixPath

from claw_acp.core.value import Value

_STRING = r"""(?P<{0}>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_UNITTEST = re.compile(rf"AssertionError: {_STRING.format('left')} != {_STRING.format('right')}")
_PYTEST = re.compile(rf"\bassert {_STRING.format('left')} == {_STRING.format('right')}")
_HIT = re.compile(r"^(?P<path>\S[^\n]*)\n(?= +\d+[:-])", re.MULTILINE)  # a path, then indented lines of it


class Correction(Value):
    """Replace `wrong` by `right`."""

    wrong: str
    right: str

    @property
    def reversed(self) -> "Correction":
        """The reverse correction: tests differ in which side of a comparison is the expected text."""
        return Correction(wrong=self.right, right=self.wrong)


def correction_from(output: str) -> Correction | None:
    """The correction for the first failed comparison of two texts in a test's output; None without one."""
    match = _UNITTEST.search(output) or _PYTEST.search(output)
    if match is None:
        return None
    left, right = _unquote(match["left"]), _unquote(match["right"])
    if left == right:
        return None
    return difference(left, right)


def difference(left: str, right: str) -> Correction:
    """The smallest whole words in which two different texts differ."""
    start = _shared(left, right)
    while start and _inside_word(left, start) | _inside_word(right, start):
        start -= 1
    rest_left, rest_right = left[start:], right[start:]
    end = _shared(rest_left[::-1], rest_right[::-1])
    while end and (
        _inside_word(rest_left, len(rest_left) - end) | _inside_word(rest_right, len(rest_right) - end)
        or end in {len(rest_left), len(rest_right)}
    ):
        end -= 1
    return Correction(wrong=rest_left[: len(rest_left) - end], right=rest_right[: len(rest_right) - end])


def files_hit(found: str) -> tuple[str, ...]:
    """The files in the output of the search tool (a path, then its lines indented), without tests."""
    paths = dict.fromkeys(match["path"] for match in _HIT.finditer(found))
    return tuple(path for path in paths if not _is_test(path))


def _is_test(path: str) -> bool:
    pure = PurePosixPath(path)
    return pure.name.startswith("test") or pure.stem.endswith(("_test", ".test", ".spec")) or "tests" in pure.parts


def _shared(left: str, right: str) -> int:
    """The length of the common beginning."""
    pairs = zip(left, right, strict=False)
    return next((number for number, (one, other) in enumerate(pairs) if one != other), min(len(left), len(right)))


def _inside_word(text: str, position: int) -> bool:
    around = text[max(0, position - 1) : position + 1]
    return 0 < position < len(text) and around.isalnum()


def _unquote(literal: str) -> str:
    return re.sub(r"\\(['\"\\])", r"\1", literal[1:-1])
