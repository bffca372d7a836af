"""Vectors of texts as the store holds them: 32-bit floats of length one, and the sign of each number as a bit.

Two directions that are near each other differ in few signs, and counting those takes a third of a microsecond: so a
search looks at the signs of all entries, and compares the vectors of the nearest alone. No library is needed.
"""

import math
import sys
from array import array
from collections.abc import Mapping, Sequence
from heapq import nsmallest
from operator import mul
from statistics import median
from typing import Final

NEAREST: Final = 200  # entries whose vectors are compared
SAMPLE: Final = 100  # entries that tell how similar any entry is to a query
_ENOUGH: Final = 0.6  # of the best hit's similarity beyond the usual; what has less only shares a mood with the query
_UNUSUAL: Final = 3.0  # standard deviations, at least
_TO_TELL: Final = 20  # entries; from fewer, nothing is usual
_LEAST: Final = 0.3  # the similarity of a hit among so few
_DEVIATION: Final = 1.4826  # of the median deviation: the standard one, if they are spread as usual


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


def nearest(query: bytes, entries: Sequence[tuple[int, bytes]]) -> Sequence[int]:
    """The numbers of the entries whose signs are nearest to a packed query."""
    own, read = int.from_bytes(signs_of(query), "big"), int.from_bytes
    distances = [((read(signs, "big") ^ own).bit_count(), number) for number, signs in entries]
    return [number for _, number in nsmallest(NEAREST, distances)]


def similar(query: bytes, vectors: Mapping[int, bytes], *, sample: Sequence[int], among: int) -> Sequence[int]:
    """The numbers of the entries that are nearer to a query than chance explains, nearest first.

    Args:
        query: The packed query.
        vectors: Those of the nearest entries, and of the sample.
        sample: The numbers of some entries, which were not chosen by the query.
        among: The number of all entries: the nearest of many is near by chance.
    """
    own = _unpacked(query)
    found = {
        number: sum(map(mul, own, _unpacked(vector))) for number, vector in vectors.items() if len(vector) == len(query)
    }
    any_entry = [found[number] for number in sample if number in found]
    best = max(found.values(), default=0.0)
    usual, least = 0.0, _LEAST
    if len(any_entry) >= _TO_TELL:
        usual = median(any_entry)
        deviation = _DEVIATION * median(abs(similarity - usual) for similarity in any_entry)
        least = usual + max(_UNUSUAL, math.sqrt(2 * math.log(among))) * deviation
    least = max(least, usual + (best - usual) * _ENOUGH)
    hits = [number for number, similarity in found.items() if similarity >= least]
    return sorted(hits, key=lambda number: (-found[number], -number))


def _unpacked(vector: bytes) -> "array[float]":
    numbers = array("f", vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
