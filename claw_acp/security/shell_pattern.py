"""The pattern of a `shell(...)` rule: the words of a command, and the directory that it runs in."""

import re
from collections.abc import Sequence
from typing import Literal

from claw_acp.core.value import Value

Match = Literal["yes", "maybe", "no"]

_PLAIN = re.compile(r"[\w@%+=:,./-]+")
_MOVED = re.compile(r"cd\s+(.+?)\s+&&\s+(.+)", re.DOTALL)
_OPERATORS = frozenset("|&;<>()$`\n")


class Token(Value):
    """One word of a pattern: exactly `text`, any word that begins with it, or any word."""

    text: str
    kind: Literal["exact", "prefix", "any"]


class ShellPattern(Value):
    """Words of a command.

    A refusal covers every command that begins with them. A permission covers exactly them: only with a `*` as the last
    word, or at the end of the last word, anything may follow, risky arguments included.

    Attributes:
        tokens: The words.
        directory: The command's directory, as in `cd web && npm test`, relative to the project's; `*` is any directory
            of the project. None: a refusal, and a permission that ends in `*`, apply in all of them, any other
            permission in the project's own.
    """

    tokens: tuple[Token, ...]
    directory: str | None = None

    @property
    def open_ended(self) -> bool:
        """True if the pattern ends in `*`."""
        return self.tokens[-1].kind != "exact"

    @staticmethod
    def parse(text: str) -> "ShellPattern":
        """Parse the text between the brackets.

        Raises:
            ValueError: It is not a list of words, or has a misplaced `*`.
        """
        moved = _MOVED.fullmatch(text)
        directory = None if moved is None else _directory(moved[1], text_of=text)
        tokens = [_token(word, text=text) for word in _split(text if moved is None else moved[2])]
        for token in tokens[:-1]:
            if token.kind == "prefix":
                raise ValueError(f"in `{text}` the * must be the end of the pattern or a word of its own")
        if not tokens:
            raise ValueError("it names no command")
        if tokens[0].kind == "any" and len(tokens) > 1:
            raise ValueError("it must begin with the name of a program")
        return ShellPattern(tokens=tuple(tokens), directory=directory)

    def match(self, words: Sequence[str | None]) -> Match:
        """Return whether `words` begin with the pattern; "maybe" if that depends on an unknown word."""
        sure: Match = "yes"
        for index, token in enumerate(self.tokens):
            last = index == len(self.tokens) - 1
            if token.kind == "any" and last:
                return sure
            if index >= len(words):
                return "no"
            word = words[index]
            if word is None:
                sure = "maybe"  # an unknown word may also be several, so nothing after it is certain
                break
            if not _word_matches(token, word):
                return "no"
        return sure

    def covers(self, words: Sequence[str | None]) -> bool:
        """True if a permission covers the whole command. A word known only at run time is never covered."""
        if None in words or (len(words) != len(self.tokens) and not self.open_ended):
            return False
        return self.match(words) == "yes" and (not self.open_ended or self._ends_there(words))

    def _ends_there(self, words: Sequence[str | None]) -> bool:
        """True if a `*` at the end of a word covers the rest of it: `status*` is no permission for `status-evil`."""
        token, index = self.tokens[-1], len(self.tokens) - 1
        rest = (words[index] or "")[len(token.text) :] if token.kind == "prefix" and index < len(words) else ""
        return not rest or not token.text[-1:].isalnum() or not (rest[0].isalnum() or rest[0] in "-_")


def _word_matches(token: Token, word: str) -> bool:
    match token.kind:
        case "any":
            return True
        case "prefix":
            return word.startswith(token.text)
        case "exact":
            return word == token.text


def _directory(text: str, *, text_of: str) -> str:
    """The directory of `cd DIRECTORY && ...`."""
    words = _split(text)
    token = _token(words[0], text=text_of) if len(words) == 1 else None
    if token is None or token.kind == "prefix" or text.startswith("-"):
        raise ValueError(f"in `{text_of}` one directory, or * for any, must follow `cd`")
    return "*" if token.kind == "any" else token.text


def _token(word: list[tuple[str, bool]], *, text: str) -> Token:
    plain = "".join(letter for letter, _ in word)
    stars = [index for index, (letter, quoted) in enumerate(word) if letter == "*" and not quoted]
    if not stars:
        return Token(text=plain, kind="exact")
    if stars != [len(word) - 1]:
        raise ValueError(f"in `{text}` the * must be the end of the pattern or a word of its own")
    return Token(text=plain[:-1], kind="any" if len(word) == 1 else "prefix")


def _split(text: str) -> list[list[tuple[str, bool]]]:
    """Words as letters, each with whether it is quoted."""
    words: list[list[tuple[str, bool]]] = []
    current: list[tuple[str, bool]] | None = None
    position = 0
    while position < len(text):
        letter = text[position]
        if letter in " \t":
            if current is not None:
                words.append(current)
            current = None
            position += 1
            continue
        current = [] if current is None else current
        letters, position = _next_letters(text, position)
        current += letters
    if current is not None:
        words.append(current)
    return words


def _next_letters(text: str, position: int) -> tuple[list[tuple[str, bool]], int]:
    letter = text[position]
    if letter in "'\"":
        end = text.find(letter, position + 1)
        if end < 0:
            raise ValueError(f"a quote in `{text}` is not closed")
        return [(inner, True) for inner in text[position + 1 : end]], end + 1
    if letter == "\\" and position + 1 < len(text):
        return [(text[position + 1], True)], position + 2
    if letter in _OPERATORS:
        raise ValueError(
            f"`{text}` holds {letter!r}; a pattern is one command, each part of a pipeline needs its own rule"
        )
    return [(letter, False)], position + 1


def quoted(word: str) -> str:
    """`word` as a pattern that matches exactly it."""
    if _PLAIN.fullmatch(word):
        return word
    # single quotes cannot hold a single quote: leave them for a backslash
    return "'" + word.replace("'", "'\\''") + "'"
