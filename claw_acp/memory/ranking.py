"""The order of recalled entries: several searches fused, newer and more important ones first."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from claw_acp.contracts.memory import CONVERSATION, CORE, DAILY, MemoryEntry

HALF_LIFE: Final = 7 * 86_400.0  # seconds after which an entry has faded by half; core entries never do
_K: Final = 60  # of reciprocal rank fusion: the ranks of one search alone decide little
_LASTING: Final = 0.4  # of an entry's weight, however old: old knowledge beats no knowledge
_IMPORTANCE: Final[Mapping[str, float]] = {CORE: 0.7, DAILY: 0.3, CONVERSATION: 0.2}
_OTHER: Final = 0.4


def fused(searches: Iterable[Sequence[int]]) -> Mapping[int, float]:
    """The scores of what several searches found, each best first: reciprocal rank fusion with k = 60.

    What all of them put first has a score of 1.
    """
    given = [search for search in searches if search]
    scores: dict[int, float] = {}
    for search in given:
        for rank, number in enumerate(search, start=1):
            scores[number] = scores.get(number, 0) + (_K + 1) / (_K + rank) / len(given)
    return scores


def importance_of(entry: MemoryEntry) -> float:
    """An entry's importance, by its category where none is given."""
    return _IMPORTANCE.get(entry.category, _OTHER) if entry.importance is None else entry.importance


def weight_of(entry: MemoryEntry, *, now: float) -> float:
    """The factor for age and importance, at most 1."""
    age = 0.0 if entry.category == CORE else max(0.0, now - entry.timestamp)
    freshness = _LASTING + (1 - _LASTING) * 0.5 ** (age / HALF_LIFE)
    return freshness * (0.8 + 0.2 * importance_of(entry))
