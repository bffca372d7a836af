"""One word of a plain command line: quotes, wildcards, brace lists, and the few supported expansions."""

import re
from collections.abc import Callable, Mapping
from itertools import product
from math import prod

from claw_acp.core.value import Value, replace
from claw_acp.security.shell_command import names

MOST_ALTERNATIVES = 32  # words that lists in braces may make of one

_END = frozenset(" \t\n;|&<>()")
_PLAIN = re.compile(r"[A-Za-z0-9_\-./:,=+@%^\]!]+")
_BRACED = re.compile(r"\{([A-Za-z0-9_./+-]*(?:,[A-Za-z0-9_./+-]*)+)\}")
_RANGE = re.compile(r"\{(\d{1,3})\.\.(\d{1,3})\}", re.ASCII)
_LITERAL_BRACES = re.compile(r"\{[A-Za-z0-9_/-]*\}")
_NAME = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_NUMBERS = re.compile(r"\$\(\([0-9+*/%() -]*\)\)")
_SIMPLE = re.compile(r"[A-Za-z0-9_./:@%+=,-]+")  # a value that the shell neither splits nor expands again
_HOME = re.compile(r"~[a-z0-9_-]*(?=[/ \t\n;|&)]|\Z)")
_OPEN_NAMES = names(
    """HOME PATH USER LOGNAME SHELL LANG PWD OLDPWD TERM HOSTNAME VIRTUAL_ENV CONDA_DEFAULT_ENV UID EUID PPID RANDOM
    SECONDS LINENO BASH_VERSION EDITOR DISPLAY OSTYPE HOSTTYPE MACHTYPE TMPDIR GOPATH GOROOT JAVA_HOME PYTHONPATH"""
)
_OWN_NAME = re.compile(
    r"(?!pass|key|tok|secr|auth|cred)[a-z]{1,8}\d?"
)  # variables of programs are longer or in capitals
_PARENT_PATTERN = re.compile(r"(?:\A|/)\.{1,2}[*?]")  # `.*` matches `..` in many shells


class Word(Value):
    """A word after quote removal.

    Attributes:
        text: None when it is known only at run time.
        pattern: Whether it has an unquoted wildcard.
        alternatives: The texts that brace lists expand to.
        varies: Whether the line shows something other than `text`: a brace list or a loop variable.
        splits: Whether the shell splits and expands its run-time value.
    """

    text: str | None
    pattern: bool = False
    alternatives: tuple[str, ...] = ()
    varies: bool = False
    splits: bool = False

    def each(self) -> "tuple[Word, ...]":
        """The words that it expands to."""
        return tuple(replace(self, text=text, alternatives=()) for text in self.alternatives) or (self,)


def refuse(reason: str) -> SyntaxError:
    """The error that ends parsing."""
    return SyntaxError(reason)


class WordReader:
    """Reads one word.

    Args:
        text: The whole line.
        position: The start of the word, afterwards its end.
        variables: Loop variables with their value; None if it is unknown.
        substitution: Reads the text after `$(`, given its position, and returns the position after the `)`.
    """

    def __init__(
        self,
        text: str,
        position: int,
        *,
        variables: Mapping[str, Word | None],
        substitution: Callable[[int], int],
    ) -> None:
        self._text = text
        self._start = position
        self.position = position
        self._variables = variables
        self._substitution = substitution
        self._parts: list[tuple[str, ...]] = []
        self._known = True
        self._pattern = False
        self._varies = False
        self._splits = False
        self._names_place = False

    def read(self) -> Word:
        """The word.

        Raises:
            SyntaxError: It is not plain.
        """
        while self.position < len(self._text) and self._text[self.position] not in _END:
            self._unquoted()
        if not self._known:
            return Word(text=None, varies=self._varies, splits=self._splits)
        if prod(len(part) for part in self._parts) > MOST_ALTERNATIVES:
            raise refuse("a list in braces is too long")
        texts = tuple("".join(parts) for parts in product(*self._parts))
        for text in texts:
            self._check(text, one=len(texts) == 1)
        several = texts if len(texts) > 1 else ()
        return Word(
            text="".join(part[0] for part in self._parts),
            pattern=self._pattern,
            alternatives=several,
            varies=self._varies,
        )

    def _check(self, text: str, *, one: bool) -> None:
        if not (text or one) or (text.startswith("~") and not (self._names_place or self._text[self._start] == "~")):
            raise refuse("an empty word of a list, or a tilde in quotes")
        if self._pattern and (set(text) & set("[]\\") or _PARENT_PATTERN.search(text)):
            raise refuse("a wildcard that shells read in several ways")
        if self._names_place and not re.fullmatch(r"[~.](/.*)?", text, re.DOTALL):
            raise refuse("a directory's variable inside a word")

    def _literal(self, text: str) -> None:
        self._parts.append((text,))

    def _unquoted(self) -> None:
        letter = self._text[self.position]
        if plain := _PLAIN.match(self._text, self.position):
            self._literal(plain[0])
            self.position = plain.end()
            return
        match letter:
            case "'":
                end = self._text.find("'", self.position + 1)
                if end < 0:
                    raise refuse("a quote is not closed")
                self._literal(self._text[self.position + 1 : end])
                self.position = end + 1
            case '"':
                self._double_quoted()
            case "\\":
                if self._text[self.position + 1 : self.position + 2] in {"", "\n"}:
                    raise refuse("a backslash at the end of a line")
                self._literal(self._text[self.position + 1])
                self.position += 2
            case "$":
                self._expansion(quoted=False)
            case "{":
                self._braces()
            case _:
                self._single(letter)

    def _single(self, letter: str) -> None:
        at_start = self.position == self._start
        previous = self._text[self.position - 1 : self.position]
        following = self._text[self.position + 1 : self.position + 2]
        if home := _HOME.match(self._text, self.position) if at_start else None:
            self._literal(home[0])
            self.position = home.end()
            return
        if letter in "*?":
            self._pattern = True
        elif letter == "[" and at_start and following in {" ", "\t"}:
            pass  # the program of that name
        elif not (
            (letter == "~" and previous not in {"=", ":"} and not at_start)
            or (letter == "#" and not at_start)
            or (letter.isalnum() and not letter.isascii())
        ):
            raise refuse("a character that is not plain")
        self._literal(letter)
        self.position += 1

    def _braces(self) -> None:
        if found := _BRACED.match(self._text, self.position):
            self._parts.append(tuple(found[1].split(",")))
            self._varies = True
        elif found := _RANGE.match(self._text, self.position):
            first, last = int(found[1]), int(found[2])
            if found[1] != str(first) or found[2] != str(last) or abs(last - first) >= MOST_ALTERNATIVES:
                raise refuse("a list in braces is not plain")
            step = 1 if last >= first else -1
            self._parts.append(tuple(str(number) for number in range(first, last + step, step)))
            self._varies = True
        elif found := _LITERAL_BRACES.match(self._text, self.position):
            self._literal(found[0])
        else:
            raise refuse("a list in braces is not plain")
        self.position = found.end()

    def _double_quoted(self) -> None:
        self._literal("")
        self.position += 1
        while True:
            letter = self._text[self.position : self.position + 1]
            following = self._text[self.position + 1 : self.position + 2]
            if letter == '"':
                self.position += 1
                return
            if letter in {"", "`"} or (letter == "\\" and following in {"", "\n"}):
                raise refuse("a quote is not closed, or its text is not plain")
            if letter == "$":
                self._expansion(quoted=True)
            elif letter == "\\":
                self._literal(following if following in '$`"\\' else letter + following)
                self.position += 2
            else:
                self._literal(letter)
                self.position += 1

    # -------------------------------------------------------------- expansions

    def _expansion(self, *, quoted: bool) -> None:
        following = self._text[self.position + 1 : self.position + 2]
        if following in ({'"', " ", "\n"} if quoted else {"", " ", "\t", "\n"}):
            self._literal("$")  # a dollar sign before nothing is one
            self.position += 1
        elif following in {"?", "#", "$"}:
            self._unknown()  # digits, but which
            self.position += 2
        elif numbers := _NUMBERS.match(self._text, self.position):
            self._unknown()
            self.position = numbers.end()
        elif following == "(":
            self.position = self._substitution(self.position + 2)
            self._unknown(splits=not quoted)
        elif name := _NAME.match(self._text, self.position):
            self.position = name.end()
            self._variable(name[1] or name[2], quoted=quoted)
        else:
            raise refuse("an expansion that is not plain")

    def _unknown(self, *, splits: bool = False) -> None:
        self._known = False
        self._splits = self._splits or splits

    def _variable(self, name: str, *, quoted: bool) -> None:
        if name in self._variables:
            self._loop_value(self._variables[name], quoted=quoted)
        elif name == "HOME" or (name == "PWD" and quoted):
            if any("".join(part) for part in self._parts):
                raise refuse("a directory's variable inside a word")
            self._literal("~" if name == "HOME" else ".")
            self._names_place = True
        elif name not in _OPEN_NAMES and not _OWN_NAME.fullmatch(name):
            raise refuse("a variable that may hold a secret")
        else:
            self._unknown(splits=not quoted)

    def _loop_value(self, value: Word | None, *, quoted: bool) -> None:
        self._varies = True
        if value is None:
            self._unknown()
            return
        assert value.text is not None
        if not quoted and not _SIMPLE.fullmatch(value.text):
            raise refuse("a value that the shell splits")
        self._literal(value.text)
        self._pattern = self._pattern or value.pattern
