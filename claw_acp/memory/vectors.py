"""Vectors of texts as the store holds them: 32-bit floats of length one, and the sign of each number as a bit.

Two directions that are near each other differ in few signs, and counting those takes a third of a microsecond: so a
search looks at the signs of all entries, and compares the vectors of the nearest alone. No library is needed.
"""

import math
import sys
from array import array
from collections.abc import Sequence
from heapq import nsmallest
from operator import mul
from statistics import median
from typing import Final

from claw_acp.core.value import Value

NEAREST: Final = 200  # entries whose vectors are compared
_LEAST: Final = 0.3  # of the way from the usual similarity to equality: what is less near is about something else
_ENOUGH: Final = 0.6  # of the best hit's; what is less near only shares a mood with the query
_USUAL_OF: Final = 20  # entries from which on there is a usual similarity


class Signs(Value):
    """The direction of a query, to be compared with the signs of entries."""

    bits: int
    size: int

    def similarity(self, distance: int) -> float:
        """The cosine that so many different signs suggest."""
        return math.cos(math.pi * distance / self.size)


def packed(numbers: Sequence[float]) -> bytes:
    """The vector of length one in this direction, as the store holds it.

    Raises:
        ValueError: It has no direction, or numbers that are none.
    """
    length = math.sqrt(math.fsum(number * number for number in numbers))
    if not length or not math.isfinite(length):
        raise ValueError("a vector without a direction")
    vector = array("f", [number / length for number in numbers])
    if sys.byteorder == "big":
        vector.byteswap()
    return vector.tobytes()


def signs_of(vector: bytes) -> bytes:
    """The signs of a packed vector, a bit each."""
    bits = "".join("1" if number > 0 else "0" for number in _unpacked(vector))
    return int(bits, 2).to_bytes((len(bits) + 7) // 8, "big")


def query_signs(vector: bytes) -> Signs:
    """The same of a query."""
    return Signs(bits=int.from_bytes(signs_of(vector), "big"), size=len(vector) // 4)


def nearest(query: Signs, entries: Sequence[tuple[int, bytes]]) -> tuple[Sequence[int], float]:
    """The numbers of the entries whose signs are nearest, and the usual similarity of entries to the query."""
    own, read = query.bits, int.from_bytes
    distances = [((read(signs, "big") ^ own).bit_count(), number) for number, signs in entries]
    found = [number for _, number in nsmallest(NEAREST, distances)]
    if len(distances) < _USUAL_OF:
        return found, 0.0
    return found, max(0.0, query.similarity(int(median(distance for distance, _ in distances))))


def similar(query: bytes, entries: Sequence[tuple[int, bytes]], *, usual: float) -> Sequence[int]:
    """The numbers of the entries that are clearly nearer to the query than is usual, nearest first."""
    own = _unpacked(query)
    found = [(sum(map(mul, own, _unpacked(vector))), number) for number, vector in entries if len(vector) == len(query)]
    best = max((similarity for similarity, _ in found), default=0.0)
    least = max(usual + (1 - usual) * _LEAST, usual + (best - usual) * _ENOUGH)
    return [number for similarity, number in sorted(found, reverse=True) if similarity >= least]


def _unpacked(vector: bytes) -> "array[float]":
    numbers = array("f", vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
