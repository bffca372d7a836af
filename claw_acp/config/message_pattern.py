"""Regular expressions in `[[rules]]`, checked before use, as some run for ever.

Python's cannot be stopped once they run. So a pattern is refused when its time may double with each character, or when
it may need more than `MOST_STEPS` on the part of a message that it sees.
"""

import re
from collections.abc import Iterator

LOOKED_AT = 500  # characters of a message that a pattern sees
MOST_STEPS = 200_000_000  # in the worst case; what comes near takes a fifth of a second

_PIECE = r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?#[^)]*\)|\{\d*(?:,\d*)?\}|."
_OFTEN = 10  # repetitions from which on one inside another is too much


def check_pattern(text: str) -> str:
    """The pattern, if it can be used.

    Raises:
        ValueError: It is no regular expression, or one that can take too long.
    """
    if not text:
        raise ValueError("must not be empty")
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"is not a regular expression: {error}") from error
    if _explodes(text):
        raise ValueError(
            "repeats a group that itself repeats or chooses, as in (a+)+ or (a|b)*; such a pattern can take for ever. "
            "Repeat only single characters and sets"
        )
    if _steps(text) > MOST_STEPS:
        raise ValueError(
            "has so many open repetitions (*, +, {1,}) that it can take for ever; begin it with ^, or give them an "
            "end, as in {1,9}"
        )
    return text


def _pieces(text: str) -> Iterator[str]:
    """Characters, escapes, sets, comments and `{n,m}`, each as a whole."""
    return (found[0] for found in re.finditer(_PIECE, text, re.DOTALL))


def _explodes(text: str) -> bool:
    """Return whether a group with a repetition or a choice is repeated."""
    branching = [False]  # for each group that is open, whether it holds one
    closed = False  # whether the last piece closed a group that does
    for piece in _pieces(text):
        if _width(piece) > _OFTEN or _least(piece) > _OFTEN:
            if closed:
                return True
            branching[-1] = True
        elif piece == "|":
            branching[-1] = True
        elif piece == "(":
            branching.append(False)
        elif piece == ")":
            closed = len(branching) > 1 and branching.pop()
            branching[-1] = branching[-1] or closed
            continue
        closed = False
    return False


def _steps(text: str) -> int:
    """The number of ways, at worst, to begin and to repeat."""
    steps = 1 if text.startswith(("^", r"\A")) else LOOKED_AT
    depth = 0
    for piece in _pieces(text):
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and not depth:
            steps = max(steps, LOOKED_AT)  # what stands behind it may begin anywhere
        steps *= _width(piece)
    return steps


def _width(piece: str) -> int:
    """The number of ways in which a piece repeats the one before it; 1 if it is no repetition."""
    if piece in {"*", "+"}:
        return LOOKED_AT
    if piece == "?":
        return 2
    least, comma, most = _bounds(piece)
    if not comma or not (least or most):
        return 1
    return min(int(most) - int(least or 0) + 1, LOOKED_AT) if most else LOOKED_AT


def _least(piece: str) -> int:
    return int(_bounds(piece)[0] or 0)


def _bounds(piece: str) -> tuple[str, str, str]:
    return piece[1:-1].partition(",") if piece.startswith("{") and len(piece) > 1 else ("", "", "")
