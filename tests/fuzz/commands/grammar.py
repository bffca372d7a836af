"""Lines made from `bash.grammar` and `words.grammar`: any form bash knows, around the programs that are given."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

WRITTEN = {"␤": "\n", "␍": "\r", "␉": "\t", "⍽": "\u00a0"}
"""How files of lines write what would break their own lines."""

DEEPEST = 7  # names that replace one another before only first alternatives are taken
LONGEST = 600  # characters of a line

_NAME = re.compile("\u2039([a-z]+)\u203a")


def unwritten(text: str) -> str:
    """`text` with the signs for LF, CR, TAB and an odd blank replaced by them."""
    return text.translate(str.maketrans(WRITTEN))


def written(line: str) -> str:
    """The reverse of `unwritten`."""
    return line.translate(str.maketrans({value: key for key, value in WRITTEN.items()}))


class Grammar:
    """Makes texts of any name of the grammar, always the same for the same random numbers."""

    def __init__(self, random: Random, *, words: Mapping[str, Sequence[str]]) -> None:
        """`words` are alternatives of names that the file leaves open: programs, options, paths."""
        self._random = random
        self._alternatives: dict[str, list[str]] = {name: list(given) for name, given in words.items()}
        for file in ("bash.grammar", "words.grammar"):
            for row in Path(__file__).with_name(file).read_text("utf-8").splitlines():
                if row and not row.startswith("# "):
                    name, _, alternative = row.partition(": ")
                    self._alternatives.setdefault(name, []).append(unwritten(alternative))

    def add(self, name: str, alternatives: Sequence[str]) -> None:
        """More of what a name may become."""
        self._alternatives.setdefault(name, []).extend(alternatives)

    def make(self, name: str) -> str:
        """A text of that name."""
        text = self._made(name, depth=0)
        return text if len(text) <= LONGEST else text[: self._random.randrange(LONGEST)]

    def _made(self, name: str, *, depth: int) -> str:
        alternatives = self._alternatives[name]
        chosen = alternatives[0] if depth > DEEPEST else self._random.choice(alternatives)
        return _NAME.sub(lambda match: self._made(match[1], depth=depth + 1), chosen)
