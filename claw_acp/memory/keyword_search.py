"""Search by words: BM25 over short texts, computed from one list of entries for each word.

SQLite's own `bm25()` visits every entry that has any of the words, which takes longer the more common they are. Here
a common word is left out while a rarer one is there, so the time does not grow with the store.
"""

import math
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from claw_acp.memory.rows import sign_of
from claw_acp.memory.search_words import query_words

_MOST: Final = 300  # entries of one word; a word that more have says little
_RELATED: Final = 0.35  # of the best hit's weight; what has less shares a by-word with the query
_SHORTEST_PREFIX: Final = 3
_PREFIX_WEIGHT: Final = 0.5
_USUAL_LENGTH: Final = 16  # words of an entry
_SATURATION, _LENGTH_SHARE = 1.2, 0.75  # k1 and b of BM25


def keyword_hits(
    connection: sqlite3.Connection, query: str, *, namespaces: Sequence[str], among: int = 100
) -> Sequence[int]:
    """The numbers of the entries that have words of the query, best first, at most `among`.

    No namespaces: all of them.
    """
    signs = [sign_of(each) for each in namespaces or _all_namespaces(connection)]
    words = query_words(query)
    found = {word: _having(connection, word, signs=signs) for word in words}
    total: int = connection.execute("SELECT coalesce(max(number), 0) FROM memory").fetchone()[0]
    weights: defaultdict[int, float] = defaultdict(float)
    rare = {word: numbers for word, numbers in found.items() if len(numbers) <= _MOST}
    chosen = rare if any(rare.values()) else found
    for word, numbers in chosen.items():
        factor = 1.0
        if not numbers and len(word) >= _SHORTEST_PREFIX:
            numbers, factor = _having(connection, word, signs=signs, prefix=True), _PREFIX_WEIGHT  # noqa: PLW2901
        rarity = math.log(1 + (max(total, len(numbers)) - len(numbers) + 0.5) / (len(numbers) + 0.5))
        for number in numbers:
            weights[number] += factor * rarity
    return _best(connection, weights, among=among)


def _all_namespaces(connection: sqlite3.Connection) -> Sequence[str]:
    return [row[0] for row in connection.execute("SELECT DISTINCT namespace FROM memory")]


def _having(connection: sqlite3.Connection, word: str, *, signs: Sequence[str], prefix: bool = False) -> Sequence[int]:
    """The newest entries that have a word, at most one more than `_MOST`."""
    # Signs and words are letters and digits: nothing in them is syntax.
    match = " OR ".join(f'"{sign}{word}"{" *" if prefix else ""}' for sign in signs)
    rows = connection.execute(
        "SELECT rowid FROM memory_words WHERE memory_words MATCH ? ORDER BY rowid DESC LIMIT ?", (match, _MOST + 1)
    )
    return [row[0] for row in rows]


def _best(connection: sqlite3.Connection, weights: dict[int, float], *, among: int) -> Sequence[int]:
    """The numbers by weight, longer entries a little behind shorter ones."""
    first = sorted(weights, key=lambda number: (-weights[number], -number))[:among]
    lengths = connection.execute(
        "SELECT number, length(words) - length(replace(words, ' ', '')) + 1 FROM memory "  # noqa: S608 - question marks
        f"WHERE number IN ({', '.join('?' * len(first))})",
        first,
    )
    scored = {number: weights[number] * _length_factor(length) for number, length in lengths}
    enough = _RELATED * max(scored.values(), default=0)
    return sorted((number for number in scored if scored[number] >= enough), key=lambda each: (-scored[each], -each))


def _length_factor(length: int) -> float:
    return (_SATURATION + 1) / (1 + _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length / _USUAL_LENGTH))
