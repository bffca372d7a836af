"""Which entries a new one replaces."""

from typing import Final

from claw_acp.contracts.memory import MemoryEntry
from claw_acp.memory.search_words import plain_words

_ALIKE: Final = 0.7  # of the words of both texts (Jaccard); what differs is taken for a new value
_SUBJECT: Final = 2  # a text speaks of its subject in the first half: texts that differ there are about two things
_SHORTEST: Final = 4  # words; shorter texts have too few to compare


def says_the_same(one: MemoryEntry, other: MemoryEntry) -> bool:
    """Return whether two texts differ in blanks, case, accents and signs at most."""
    return one.content == other.content or (
        bool(words := plain_words(one.content)) and words == plain_words(other.content)
    )


def is_contradicted(old: MemoryEntry, *, by: MemoryEntry) -> bool:
    """Return whether an entry of the same namespace is replaced: the same key, or almost the same words."""
    if old.key == by.key:
        return True
    if old.category != by.category:
        return False
    before, after = plain_words(old.content), plain_words(by.content)
    if min(len(before), len(after)) < _SHORTEST:
        return False
    subject = max(1, min(len(before), len(after)) // _SUBJECT)
    if before[:subject] != after[:subject]:
        return False
    ones, others = set(before), set(after)
    return len(ones & others) / len(ones | others) >= _ALIKE
