"""Words that look like others: letters of other scripts among Latin ones, and signs that look like those of commands.

The tables hold what fonts draw alike; compare https://www.unicode.org/reports/tr39/, sections 4 and 5.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from itertools import islice
from typing import Final

MOST_TOLD: Final = 5

_SCRIPTS: Final = frozenset({"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "GEORGIAN", "DESERET"})
_LIKE_LATIN: Final = frozenset(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u04cf\u051b\u051d\u0475"  # Cyrillic
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405\u04c0\u050c\u051a\u051c"
    "\u03b1\u03b9\u03ba\u03bd\u03bf\u03c1\u03c5\u03c7\u03f2\u03f3"  # Greek
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03f9"
    "\u0561\u0563\u0566\u0570\u0578\u057d\u0581\u0584\u0585"  # Armenian
)
_ODD_LATIN: Final = frozenset("\u0251\u0261\u01c0\u01c3\u0269\u028b\u1d04\u1d0f\u1d1c\u1d20\u1d21\u1d22\ua731\ua7fe")
_SIGNS: Final = (
    "\u2044\u2215\u29f8\uff0f\u2571\u2024\u2025\uff0e\ua789\u2236\uff1a\u02d0\u037e\uff1b\u2010\u2011\u2012\u2212\ufe63"
    "\uff0d\u2223\uff5c\u2758\uff06\ufe60\uff04\ufe69\uff1e\uff1c\u203a\u2039\u02c3\u02c2\uff40\u02cb\uff02\u02ba"
    "\uff07\u02b9\u2216\uff3c\u29f5\u29f9\uff5e\u223c\u02dc\uff05\uff03\uff0a\u2217\u204e\uff20\uff1d\uff08\uff09"
)
_AMONG_ASCII: Final = rf"(?:(?<=[!-~])|(?<![^\s]))[{_SIGNS}]+(?=[!-~])|(?<=[!-~])[{_SIGNS}]+(?:(?=[!-~])|(?!\S))"
_ALONE: Final = rf"(?<!\S)[{_SIGNS}]+(?!\S)"
_WORD: Final = r"[^\W_]+"


def note_on_lookalikes(texts: Iterable[str]) -> str:
    """A sentence about words of some texts that are not what they look like; empty if there are none."""
    found = dict.fromkeys(word for text in texts if not text.isascii() for word in lookalikes(text))
    if not found:
        return ""
    told = ", ".join(_escaped(word) for word in islice(found, MOST_TOLD))
    more = f" and {len(found) - MOST_TOLD} more" if len(found) > MOST_TOLD else ""
    return f"Not what it looks like: {told}{more} (characters of other scripts are written as escapes)."


def lookalikes(text: str) -> Iterator[str]:
    """The words and signs of a text that look like others."""
    for line in text.split("\n"):
        if line.isascii():
            continue
        words = re.findall(_WORD, line)
        natural = {script for word in words for script in _told_apart(word)}
        yield from (word for word in words if not word.isascii() and _deceives(word, natural))
        yield from (found[0] for found in re.finditer(rf"{_ALONE}|{_AMONG_ASCII}", line))


def _deceives(word: str, natural: set[str]) -> bool:
    """True for a word of mixed scripts, one of styled letters, and one that is drawn as a Latin word.

    The last is fine where other words of the line show that it is written in that script (`natural`).
    """
    scripts = {_script(letter) for letter in word} - {""}
    if len(scripts) > 1 and "LATIN" in scripts and scripts & _SCRIPTS:
        return True
    if any(letter in _ODD_LATIN for letter in word):
        return True
    if any(map(_is_styled, word)) and all(_is_styled(letter) or _script(letter) in {"LATIN", ""} for letter in word):
        return True
    return bool(scripts) and scripts <= _SCRIPTS - natural and all(letter in _LIKE_LATIN for letter in word)


def _told_apart(word: str) -> Iterator[str]:
    """The scripts of those letters of a word that no Latin letter looks like."""
    return (_script(letter) for letter in word if not letter.isascii() and letter not in _LIKE_LATIN)


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    """The script of a letter, as its name begins; empty for digits."""
    if letter.isascii():
        return "LATIN" if letter.isalpha() else ""
    return import_module("unicodedata").name(letter, "").partition(" ")[0]


@lru_cache(maxsize=4096)
def _is_styled(letter: str) -> bool:
    """True for a form of an ASCII letter or digit: wide, bold, in a circle, a Roman numeral."""
    if letter.isascii():
        return False
    unicodedata = import_module("unicodedata")
    plain: str = unicodedata.normalize("NFKC", letter)
    return plain.isascii() and plain.isalnum() and unicodedata.category(letter) != "No"


def _escaped(word: str) -> str:
    return "".join(mark if mark.isascii() else mark.encode("unicode_escape").decode() for mark in word)
