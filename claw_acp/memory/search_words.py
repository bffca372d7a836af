"""The words of a text as the index of memories holds them, and as a query looks for them.

SQLite splits at blanks and signs, folds case and diacritics, and cuts English endings. What it cannot split is split
here: identifiers into their parts, and scripts without blanks into pairs of characters.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

MOST_WORDS: Final = 40
"""Words of a query that are looked for; of a longer one the first and the last."""

_LONGEST: Final = 60  # characters of a word; what is longer is no word, but data

# Words that say nothing about a subject: of English, German, French and Spanish.
_FUNCTION_WORDS: Final = """
    a about after all also am an and any are as at be been before but by can could did do does for from get had has have
    he her here him his how i if in into is it its just let like make may me might my no not now of on once only or our
    out over own please shall she should so some such tell than that the their them then there these they this those to
    too under up us use using very was we were what when where which while who whom whose why will with would you your
    aber als am an auch auf aus bei bin bist da das dass dem den der des die dies diese doch du durch ein eine einem
    einen einer er es für hat haben ich ihr im in ist ja kann man mein mit nach nicht noch nur ob oder sein sich sie
    sind so über um und uns unser von vor war was welche wenn wer wie wir wird wo zu zum zur
    au aux avec ce ces dans de des du elle en est et il je la le les leur lui ma mais me mon ne nous on ou où par pas
    pour qu que qui sa se ses son sont sur te tu un une vous y
    al como con cual del donde el ella ellos es esta este la las lo los más mi muy no nos para pero por que quien se sin
    sobre su sus un una unos y
"""


@cache
def _function_words() -> frozenset[str]:
    return frozenset(map(folded, _FUNCTION_WORDS.split()))


def _is_letter(word: str) -> bool:
    return len(word) == 1 and word.isascii() and word.isalpha()


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    word = re.compile(r"[^\W_]+(?:_[^\W_]+)*")
    part = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+|[A-Z]+")
    unspaced = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
    return word, part, unspaced


def indexed_text(text: str, *, sign: str) -> str:
    """The words to index, the parts of identifiers, and the pairs of scripts without blanks, each behind `sign`."""
    return " ".join(sign + folded(each) for word in _words(text) for each in (word, *_parts(word)))


def query_words(text: str) -> Sequence[str]:
    """The words of a person's text worth looking for, each once; function words only where there is nothing else."""
    found: dict[str, None] = {}
    for word in _words(text):
        for each in (word, *_parts(word)):
            found.setdefault(folded(each))
    telling = [word for word in found if word not in _function_words() and not _is_letter(word)] or list(found)
    if len(telling) > MOST_WORDS:
        return [*telling[: MOST_WORDS // 2], *telling[-MOST_WORDS // 2 :]]
    return telling


def folded(word: str) -> str:
    """A word in small letters without diacritics and underscores, as the index compares it."""
    plain = unicodedata.normalize("NFKD", word.casefold().replace("_", ""))
    return "".join(mark for mark in plain if not unicodedata.combining(mark))


def plain_words(text: str) -> Sequence[str]:
    """All words of a text, folded, in order: to compare texts."""
    return [folded(word) for word in _words(text)]


def _words(text: str) -> Iterator[str]:
    word = _patterns()[0]
    return (found[0][:_LONGEST] for found in word.finditer(text))


def _parts(word: str) -> Sequence[str]:
    """The parts of an identifier, and the pairs of neighbours in scripts without blanks; none: it is one word."""
    _, part, unspaced = _patterns()
    runs = [run[0] for run in unspaced.finditer(word)]
    if runs:
        return [run[at : at + 2] for run in runs for at in range(max(1, len(run) - 1))]
    parts = part.findall(word)
    return [each for each in parts if len(each) > 1] if len(parts) > 1 else ()
