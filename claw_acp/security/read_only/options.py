"""Parses a command's words into options, values, texts and paths, by a table of the options that only read.

A table is written in one line of words:

    -abc        options without a value        --name     the same, in full: abbreviations are not known
    -A: -r@     with a value: a text, a path   --name=    with a value; `--name@` a path, `--name?` only behind a `=`
    -e:! --x=!  values that take the place of the first text among the operands
    -r! --x!    options that make it read whole directories; of a program that always does: its operands are all paths
    digits      `-5` is an option too
    :           what follows is about operands: `path`, `text` (all of them), `text,path` (the first is a text), `none`;
    `most=2`; `files` (none may be a directory); `whole` (it always reads whole directories); `apart` (the value of a
    short option is another word, or a number); `unsure` (what stands behind an option may be an operand instead of its
    value)

An option that is not in its table may do anything.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from claw_acp.core.value import Value

Kind = Literal["flag", "text", "path", "optional"]

_KINDS: Mapping[str, Kind] = {"": "flag", ":": "text", "=": "text", "@": "path", "?": "optional"}


class Operand(Value):
    """A word, or the value of an option, that names a file; `pattern` when the shell expands it."""

    text: str
    pattern: bool = False


class Option(Value):
    """One option.

    Attributes:
        kind: The kind of its value.
        marked: Its `!`: with a value, it replaces the first text; without, it reads whole directories.
    """

    kind: Kind
    marked: bool = False


class OptionTable(Value):
    """The options and operands with which a program only reads.

    Attributes:
        options: By name, with its dashes.
        digits: Whether `-5` is an option.
        operands: See the notation above.
        most: The largest number of operands; -1 for any.
        files: Whether no operand may be a directory.
        whole: Whether it always reads whole directories.
        apart: Whether a short option's value may be glued to it only when it is a number.
        unsure: Whether the word after an option may be an operand instead of its value.
    """

    options: Mapping[str, Option]
    digits: bool = False
    operands: str = "path"
    most: int = -1
    files: bool = False
    whole: bool = False
    apart: bool = False
    unsure: bool = False


class Words(Value):
    """The parsed arguments of one command.

    Attributes:
        paths: Files it names.
        texts: Operands that are no files.
        whole: Whether it reads whole directories.
        options: The options in use, by name.
    """

    paths: tuple[Operand, ...]
    texts: tuple[str, ...] = ()
    whole: bool = False
    options: frozenset[str] = frozenset()


@lru_cache(maxsize=256)
def option_table(line: str) -> OptionTable:
    """The table of a line in the notation."""
    head, _, tail = f"{line} ".partition(" : ")
    options: dict[str, Option] = {}
    for word in head.split():
        if word == "digits":
            continue
        marked = word.endswith("!")
        name, sign = re.fullmatch(r"(--?[\w-]+|-[\w#?.]+)([:=@?]?)!?", word).groups()  # type: ignore[union-attr]
        option = Option(kind=_KINDS[sign], marked=marked)
        if name.startswith("--") or sign:
            options[name] = option
        else:
            options |= {f"-{letter}": option for letter in name[1:]}
    settings = tail.split() or ["path"]
    most = next((int(setting.partition("=")[2]) for setting in settings if setting.startswith("most=")), -1)
    return OptionTable(
        options=options,
        digits="digits" in head.split(),
        operands=settings[0],
        most=0 if settings[0] == "none" else most,
        files="files" in settings,
        whole="whole" in settings,
        apart="apart" in settings,
        unsure="unsure" in settings,
    )


def read_words(
    words: Sequence[str | None], *, patterns: frozenset[int], table: OptionTable, after_options: bool = False
) -> Words | None:
    """The parsed words of a command; None when one of them is not known to be harmless.

    Args:
        words: The words after the program's name.
        patterns: Positions of words that the shell expands.
        table: The options of the program.
        after_options: Whether all of them are operands.
    """
    reader = _WordsReader(words, patterns, table)
    return reader.read(after_options=after_options)


class _WordsReader:
    def __init__(self, words: Sequence[str | None], patterns: frozenset[int], table: OptionTable) -> None:
        self._words = words
        self._patterns = patterns
        self._table = table
        self._operands: list[Operand] = []
        self._values: list[Operand] = []
        self._used: set[str] = set()
        self._whole = table.whole
        self._first_text_given = False
        self._index = 0

    def read(self, *, after_options: bool) -> Words | None:
        while self._index < len(self._words):
            word = self._words[self._index]
            if word is None:
                return None
            pattern = self._index in self._patterns
            self._index += 1
            if after_options or not word.startswith("-") or word == "-":
                self._operands.append(Operand(text=word, pattern=pattern))
            elif word == "--" and not pattern:
                after_options = True
            elif (pattern and not self._fixed_option(word)) or not self._option(word):
                return None
        return self._result()

    def _option(self, word: str) -> bool:
        if self._operands and self._table.most >= 0:
            return False  # some take it for one more operand, and write to that
        if self._operands:
            self._values.append(Operand(text=word))  # not all systems take it for an option there
        if self._table.digits and re.fullmatch(r"-\d+", word):
            return True
        return self._long(word) if word.startswith("--") else self._cluster(word)

    def _fixed_option(self, word: str) -> bool:
        """Return whether an option stays the same for every match of its wildcard: `--include=*.py`."""
        name, _, value = word.partition("=")
        option = self._table.options.get(name)
        return bool(value) and not set(name) & set("*?") and option is not None and option.kind in {"text", "optional"}

    def _long(self, word: str) -> bool:
        name, given, value = word.partition("=")
        option = self._use(name)
        if option is None or (option.kind == "flag" and given):
            return False
        if given:
            return self._value(option, value, pattern=False)
        return option.kind in {"flag", "optional"} or self._next_value(option)

    def _cluster(self, word: str) -> bool:
        whole_word = self._use(word) if len(word) > 2 else None  # `-name` of programs that have such
        if whole_word is not None:
            return whole_word.kind in {"flag", "optional"} or self._next_value(whole_word)
        for position, letter in enumerate(word[1:], start=1):
            option = self._use(f"-{letter}")
            if option is None:
                return False
            rest = word[position + 1 :]
            if self._table.apart and option.kind != "flag" and (position > 1 or not (rest or "0").isdecimal()):
                return False
            if option.kind == "optional" or (option.kind != "flag" and rest):
                return self._value(option, rest, pattern=False)
            if option.kind != "flag":
                return self._next_value(option)
        return True

    def _use(self, name: str) -> Option | None:
        option = self._table.options.get(name)
        if option is not None:
            self._used.add(name)
            if option.marked and option.kind == "flag":
                self._first_text_given = self._first_text_given or self._table.whole
                self._whole = True
        return option

    def _next_value(self, option: Option) -> bool:
        if self._index >= len(self._words):
            return False
        value, pattern = self._words[self._index], self._index in self._patterns
        self._index += 1
        if value is None or re.fullmatch(r"-(?!\d+\Z).*", value, re.DOTALL):
            return False  # an option instead of a value, where the value may be left out
        if self._table.unsure:
            self._values.append(Operand(text=value))
        return self._value(option, value, pattern=pattern)

    def _value(self, option: Option, value: str, *, pattern: bool) -> bool:
        if pattern:
            return False  # what the shell makes of it may be several words
        if option.kind == "path":
            self._values.append(Operand(text=value))
        if option.marked:
            self._first_text_given = True
        return True

    def _result(self) -> Words | None:
        operands, texts = self._operands, list[Operand]()
        if self._table.operands == "text":
            operands, texts = [], operands
        elif self._table.operands == "text,path" and not self._first_text_given:
            operands, texts = operands[1:], operands[:1]
        if any(text.pattern for text in texts):
            return None
        if 0 <= self._table.most < len(operands) + len(texts):
            return None
        if any(operand.pattern for operand in operands) and self._table.most >= 0:
            return None
        return Words(
            paths=tuple(path for path in (*operands, *self._values) if path.text != "-"),  # that is its input
            texts=tuple(text.text for text in texts),
            whole=self._whole,
            options=frozenset(self._used),
        )
