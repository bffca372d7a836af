"""The test of whether a note says no more than the person said themselves."""

import re
from collections.abc import Iterable
from typing import Final

_TOKEN: Final = re.compile(r"[\w.:/@+#%&=~]+")
_STEM: Final = 6  # characters
_PLAIN_WORDS: Final = (
    "a an and are as at be by for from has have i in is it its like likes me my of on or our person prefer prefers "
    "project that the their they this to use uses user want wants we with you your"
)
_PLAIN: Final = frozenset(_PLAIN_WORDS.split())
"""Words that add nothing of their own to a note. No word that turns a sentence around is among them."""


def says_no_more(note: str, said: Iterable[str]) -> bool:
    """Return whether each word of a note is one that the person used, in some form; names and numbers in the same."""
    known = {form for text in said for form in _forms(text)}
    return all(form in known or form in _PLAIN for form in _forms(note))


def _forms(text: str) -> set[str]:
    tokens = (token.strip(".:/").casefold() for token in _TOKEN.findall(text))
    return {_form(token) for token in tokens if token}


def _form(token: str) -> str:
    """The beginning of a word of letters; anything else whole."""
    return (token.rstrip("s")[:_STEM] or token) if token.isalpha() and token not in _PLAIN else token
