"""The word that was probably meant."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

_LONGEST = 80  # characters compared: it takes quadratic time, and the text may be a stranger's
_SHORTEST_PART = 3  # characters that stand for a word of which they are a part
_PART_ERRORS = 2  # errors that leaving out the rest of a word counts for


def nearest(wrong: str, words: Iterable[str]) -> str | None:
    """The word closest to `wrong` by typing errors; None when none is close.

    One error is a letter inserted, deleted, replaced or swapped with its neighbour. Of equally close words, one of the
    same letters wins (`modle` is more likely `model` than `mode`), then the first.
    """
    typed = wrong[:_LONGEST].lower()
    best: tuple[int, bool] | None = None
    found: str | None = None
    for word in words:
        known = word[:_LONGEST].lower()
        errors = _errors(typed, known)
        if _is_part(typed, known):
            errors = min(errors, _PART_ERRORS)
        elif errors > max(1, min(len(typed), len(known)) // 3):
            continue
        rank = errors, sorted(typed) != sorted(known)
        if best is None or rank < best:
            best, found = rank, word
    return found


def _is_part(typed: str, known: str) -> bool:
    """Return whether `typed` is the beginning of the known word, or some of its parts."""
    if len(typed) < _SHORTEST_PART:
        return False
    return known.startswith(typed) or set(typed.split("_")) <= set(known.split("_"))


def _errors(one: Sequence[str], other: Sequence[str]) -> int:
    """The optimal string alignment distance: Levenshtein's, with a swap of neighbours as one error."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, pair in enumerate(pairwise(["", *one]), start=1):
        now = [row]
        for column, (left, right) in enumerate(pairwise(["", *other]), start=1):
            errors = min(last[column] + 1, now[-1] + 1, last[column - 1] + (pair[1] != right))
            if row > 1 and column > 1 and pair == (right, left):
                errors = min(errors, before[column - 2] + 1)
            now.append(errors)
        before, last = last, now
    return last[-1]
