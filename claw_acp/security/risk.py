"""The harm that a command could do.

A risk is a level and the end of a sentence that begins with the command: "deletes files recursively". Words known only
at run time are `UNKNOWN`.
"""

import re
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

Level = Literal["read_only", "low", "medium", "high"]
Risk: TypeAlias = tuple[Level, str]
Words: TypeAlias = tuple[str, ...]

UNKNOWN: Final = "\0"

_CLUSTER = re.compile(r"-[A-Za-z0-9]+")


def unknown(words: Words) -> bool:
    """True if some of the words are known only when the command runs."""
    return any(UNKNOWN in word for word in words)


def has_long(words: Sequence[str], options: str, *, but: str = "") -> bool:
    """True if a word could be one of the long `options`, in full or abbreviated; `but` are similar harmless options."""
    known, others = options.split(), set(but.split())
    given = {word.partition("=")[0] for word in words if word.startswith("--")} - {"--"} - others
    return any(option.startswith(name) for name in given for option in known)


def has_short(words: Sequence[str], letters: str) -> bool:
    """Return whether one of the letters is used as an option, alone or among others (`-rf`)."""
    return any(_CLUSTER.match(word) and set(letters) & set(word[1:]) for word in words)
