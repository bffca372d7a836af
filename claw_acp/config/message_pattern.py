"""Regular expressions that people write to sort messages: checked before they are used, as they can run for ever."""

import re

LOOKED_AT = 1000  # characters of a message that a pattern sees; the time some patterns take grows with a power of it

_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?#[^)]*\)|\{(\d*)(?:(,)(\d*))?\}|.", re.DOTALL)
_OFTEN = 10  # repetitions from which on one inside another is too much


def check_pattern(text: str) -> str:
    """The pattern itself, when it can be used.

    Raises:
        ValueError: It is no regular expression, or one whose time doubles with each character: a repetition, or a
            choice, inside a group that is itself repeated.
    """
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"is not a regular expression: {error}") from error
    if _explodes(text):
        raise ValueError(
            "repeats a group that itself repeats or chooses, as in (a+)+ or (a|b)*; such a pattern can take for ever. "
            "Repeat only single characters and sets"
        )
    return text


def _explodes(text: str) -> bool:
    """Whether a group that holds a repetition or a choice is repeated."""
    branching = [False]  # for each group that is open, whether it holds one
    closed = False  # whether the last piece closed a group that does
    for piece in _PIECE.finditer(text):
        sign = piece[0]
        if sign in {"*", "+"} or (sign.startswith("{") and _often(piece)):
            if closed:
                return True
            branching[-1] = True
            closed = False
        elif sign == "|":
            branching[-1] = True
        elif sign == "(":
            branching.append(False)
        elif sign == ")":
            closed = len(branching) > 1 and branching.pop()
            branching[-1] = branching[-1] or closed
            continue
        closed = False
    return False


def _often(piece: re.Match[str]) -> bool:
    """Whether `{n,m}` repeats; as text it is one letter after another."""
    least, comma, most = piece.groups()
    if not least and not comma:
        return False
    return (not most if comma else False) or int(most or least or 0) > _OFTEN
