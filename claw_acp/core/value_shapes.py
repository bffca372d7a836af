"""Distinguishes random values from words, names, paths and placeholders."""

import re
from collections import Counter
from functools import cache
from math import log2

JUDGED = 128  # characters of a value that are looked at

_CODE_LENGTH = 14
_VOWELS = frozenset("aeiouy")

_WORD = r"(?:[A-Z]?[a-z]{2,}+|[A-Z]{2,}+(?![a-z])|[A-Z]{1,16}(?=[A-Z][a-z]))\d{0,4}+"
_SHORT = r"(?<![A-Za-z0-9])[a-z]{1,3}+\d{0,2}+(?![A-Za-z0-9])"  # between signs: `fs.s3.`, `v2`
_NUMBER = r"v?\d{1,4}+(?![A-Za-z])"
_WORDY = rf"(?:[a-z]{{1,3}}\d{{0,2}})?(?:[-_.:]++|{_WORD}|{_SHORT}|{_NUMBER})*+"
_SEGMENT = r"[A-Za-z._@~-]*+\d{0,4}|[a-z0-9._@-]{0,24}|\d*+"


def entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    counts = Counter(value).values()
    return -sum(count / len(value) * log2(count / len(value)) for count in counts)


def is_wordy(value: str) -> bool:
    """Return whether it is words and small numbers, joined by signs or capitals (`my-secret-1`, `LlamaTokenizer2`)."""
    value = value[:JUDGED]
    if len(value) >= _CODE_LENGTH and value.isalnum() and value.isupper():
        return False  # capitals and digits alone make words of anything
    if _pattern(_WORDY).fullmatch(value) is None:
        return False
    return all(set(found[0]) & _VOWELS for found in _pattern(r"[a-z]{5,}+").finditer(value))


def is_path(value: str) -> bool:
    """Return whether it is a path or an address whose parts all look like names people give."""
    if "/" not in value:
        return re.match(r"[A-Za-z]:\\", value) is not None
    if "://" in value[:16]:
        return True
    segment = _pattern(_SEGMENT)
    return all(segment.fullmatch(part) for part in value[:JUDGED].split("/"))


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(expression)
