r"""Reads the plain part of the shell's language, in which a line has only one meaning.

    line     = list of commands joined by `|` `&&` `||` `;` or a line end; `for NAME in WORDS; do LINE done`
    command  = NAME=value... word... redirections (`> file` `>> file` `< file` `2>&1` `>&2`, with a descriptor before;
               `<<'NAME'`, a text that is nothing but text)
    word     = letters, '...', "...", \x, `*` and `?`, {a,b}, {1..3}, ~ at its beginning, and these expansions:
               $? $# $$ $HOME $PWD, the variable of a `for` around it, other variables and "$(LINE)" as unknown text

Everything else is refused, though bash may know what it means: `[[ ]]`, functions, groups, background jobs, texts that
are expanded, arithmetic with names, arrays, assignments of their own. A reader that knows no more than this cannot be
led astray by the rest; the tree of the general parser (`shell_syntax`) has to name the same commands besides.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from claw_acp.core.value import Value
from claw_acp.security.read_only.plain_words import Word, WordReader, refuse
from claw_acp.security.shell_command import Redirect, SimpleCommand, names

Joint = Literal["", ";", "&&", "||", "|"]

LONGEST_LINE = 16_384  # characters
LONGEST_CODE = 4_096  # characters besides texts that are nothing but text
MOST_PARTS = 256  # words, assignments and redirections
MOST_PATTERNS = 24  # words with a wildcard
MOST_COMMANDS = 64  # after loops and lists in braces are written out
DEEPEST_NESTING = 3  # of loops and `$(...)`

_RESERVED = names(
    """! { } [[ ]] (( )) if then elif else fi while until do done case esac in select function coproc
    foreach repeat noglob nocorrect -"""
)
_LOOP_NAME = re.compile(r"[a-z][a-z0-9_]*")
_SPECIAL_NAMES = names("path cdpath fpath manpath prompt status argv options aliases functions commands")  # of zsh
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_DESCRIPTOR = re.compile(r"\d?(?=[<>])")
_DUPLICATE = re.compile(r"[12]?>&[12](?=[ \t\n;|&)]|\Z)")
_HERE_DOCUMENT = re.compile(r"<<'([A-Za-z_][A-Za-z0-9_]*)'(?=[ \t\n;|&)])")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]|[^\S \t\n]")
_OPERATORS: Final[Sequence[tuple[str, Joint]]] = (("&&", "&&"), ("||", "||"), ("|", "|"), (";", ";"), ("\n", ";"))


class PlainCommand(Value):
    """One command of a plain line.

    Attributes:
        command: Its words; None for a word known only at run time.
        joint: The operator before it: nothing or `;` when it always runs, `&&` and `||` when that depends on the
            command before, `|` when it reads that command's output.
        splits: Positions of unknown words that the shell splits and expands again.
        nested: Whether it is inside `$(...)` or a loop.
    """

    command: SimpleCommand
    joint: Joint
    splits: frozenset[int] = frozenset()
    nested: bool = False


class PlainLine(Value):
    """A completely parsed line.

    Attributes:
        commands: All commands in order, loops unrolled; those inside `$(...)` follow their command.
        written: The commands as written, once each; words that depend on a loop are None.
    """

    commands: tuple[PlainCommand, ...]
    written: tuple[SimpleCommand, ...]

    def agrees_with(self, listed: Sequence[SimpleCommand]) -> bool:
        """Return whether another parser's list names the same commands in the same order."""
        written = [command for command in self.written if not _is_test(command)]  # the other one lists no tests
        return len(listed) == len(written) and all(
            _same(ours, theirs) for ours, theirs in zip(written, listed, strict=True)
        )


def read_line(text: str) -> PlainLine | None:
    """The commands of `text`; None when it is not plain."""
    if len(text) > LONGEST_LINE or _UNSEEN.search(text):
        return None
    reader = _LineReader(text)
    try:
        reader.read()
    except SyntaxError:
        return None
    patterns = sum(len(plain.command.patterns) for plain in reader.commands)
    if len(text) - reader.skipped > LONGEST_CODE or patterns > MOST_PATTERNS:
        return None
    return PlainLine(commands=tuple(reader.commands), written=tuple(reader.written))


class _LineReader:
    """One pass over a line. Every method raises SyntaxError, by `refuse`, at anything that is not plain."""

    def __init__(self, text: str, *, variables: dict[str, Word | None] | None = None, depth: int = 0) -> None:
        if depth > DEEPEST_NESTING:
            raise refuse("nested too deeply")
        self._text = text
        self._depth = depth
        self._variables = {} if variables is None else variables  # of the loops around; None while not known
        self._inside: list[_LineReader] = []  # the `$(...)` of the command that is being read
        self._here_documents: list[str] = []  # names that end the texts which begin at the next line
        self._as_written = True
        self._expanded = True
        self._parts = 0
        self.skipped = 0  # characters of texts that are nothing but text
        self.position = 0
        self.commands: list[PlainCommand] = []
        self.written: list[SimpleCommand] = []

    def read(self) -> None:
        """Read the whole line."""
        self._list(until="")

    def read_nested(self, position: int) -> None:
        """Read `LINE)` from `position`."""
        self.position = position
        self._list(until=")")
        self.position += 1

    # -------------------------------------------------------------- lists

    def _list(self, *, until: Literal["", "done", ")"]) -> None:
        """Read commands up to the end, a `done` or a closing parenthesis, which is consumed."""
        joint: Joint = ""
        while True:
            self._blanks(lines=True)
            if self._ends(until):
                if joint not in {"", ";"}:
                    raise refuse("a command is missing")
                return
            self._command(joint)
            joint = self._joint(until)
            if joint == "":
                self._ends(until)
                return

    def _ends(self, until: str) -> bool:
        if self.position < len(self._text):
            return bool(until) and self._at_word(until)
        if until or self._here_documents:
            raise refuse("the end of something is missing")
        return True

    def _at_word(self, word: str) -> bool:
        if not self._text.startswith(word, self.position):
            return False
        following = self._text[self.position + len(word) : self.position + len(word) + 1]
        return word == ")" or following in {"", " ", "\t", "\n", ";", "|", "&", ")"}

    def _joint(self, until: str) -> Joint:
        """Read the operator after a command; "" at the end."""
        self._blanks()
        if self.position >= len(self._text):
            self._ends("")
            return ""
        if self._text[self.position] == ")" and until == ")":
            return ""
        for sign, joint in _OPERATORS:
            if self._text.startswith(sign, self.position):
                self.position += len(sign)
                if self._text[self.position : self.position + 1] in {"&", "|", ";"}:
                    raise refuse("an operator that is not plain")
                if sign == "\n":
                    self._skip_here_documents()
                return joint
        raise refuse("something that is not plain follows a command")

    def _blanks(self, *, lines: bool = False) -> None:
        """Skip blanks, joined lines, and comments; with `lines`, line ends too."""
        while self.position < len(self._text):
            letter = self._text[self.position]
            if letter in " \t" or (lines and letter == "\n" and not self._here_documents):
                self.position += 1
            elif self._text.startswith("\\\n", self.position) and self._after_blank():
                self.position += 2
            elif letter == "#" and (self.position == 0 or self._text[self.position - 1] in " \t\n;|&("):
                end = self._text.find("\n", self.position)
                self.position = len(self._text) if end < 0 else end
            else:
                return

    def _after_blank(self) -> bool:
        """True if a backslash before a line end follows a blank after a word: there it joins two lines.

        At the beginning of a line, and after a comment, parsers disagree about it.
        """
        before = self._text[max(0, self.position - 100) : self.position].rstrip(" \t")
        blank = self.position > 0 and self._text[self.position - 1] in " \t"
        return blank and before != "" and before[-1] not in "\n\\;|&"

    # -------------------------------------------------------------- commands

    def _command(self, joint: Joint) -> None:
        if self._at_word("for"):
            self._loop(joint)
            return
        draft = _Draft()
        while self._text[self.position : self.position + 1] not in {"", "\n", ";", "|", "&", ")"}:
            self._part(draft)
            self._blanks()
        if not draft.words:
            raise refuse("a line without a command")
        first = draft.words[0]
        if first.text is None or first.pattern or first.alternatives or first.text.startswith("="):
            raise refuse("the program is known only when it runs")
        if first.text in _RESERVED:
            raise refuse("a word of the shell's own")
        self._add(draft, joint)

    def _part(self, draft: "_Draft") -> None:
        """Read one word, assignment or redirection."""
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise refuse("too many words")
        if duplicate := _DUPLICATE.match(self._text, self.position):
            self.position = duplicate.end()
            return
        if here_document := _HERE_DOCUMENT.match(self._text, self.position):
            if self._depth:
                raise refuse("a text inside a loop or `$(...)`")
            self.position = here_document.end()
            self._here_documents.append(here_document[1])
            draft.redirects.append(Redirect(operator="<<", target=None, writes=False))
            return
        if redirection := _DESCRIPTOR.match(self._text, self.position):
            self.position = redirection.end()
            draft.redirects.append(self._redirect())
            return
        assignment = None if draft.words else _ASSIGNMENT.match(self._text, self.position)
        if assignment:
            self.position = assignment.end()
            value = self._word(empty=True)
            if value.text is None or value.pattern or value.alternatives or "~" in value.text:
                raise refuse("a value that is known only when it runs")
            draft.assignments.append(f"{assignment[1]}={value.text}")
            return
        draft.words.append(self._word())

    def _skip_here_documents(self) -> None:
        """Skip the here-documents that begin at this line."""
        for name in self._here_documents:
            end = re.compile(rf"^{name}$", re.MULTILINE).search(self._text, self.position)
            if end is None:
                raise refuse(f"{name} is missing")
            behind = min(end.end() + 1, len(self._text))
            self.skipped += behind - self.position
            self.position = behind
        self._here_documents = []

    def _redirect(self) -> Redirect:
        operator = ">>" if self._text.startswith(">>", self.position) else self._text[self.position]
        self.position += len(operator)
        self._blanks()
        if self._text[self.position : self.position + 1] in {"", "<", ">", "&", "|", "(", "\n"}:
            raise refuse("a redirection that is not plain")
        target = self._word()
        if target.text is None or target.pattern or target.alternatives:
            raise refuse("a file that is known only when it runs")
        return Redirect(operator=operator, target=target.text, writes=operator != "<")

    def _word(self, *, empty: bool = False) -> Word:
        reader = WordReader(self._text, self.position, variables=self._variables, substitution=self._substitution)
        word = reader.read()
        if reader.position == self.position and not empty:
            raise refuse("a character that is not plain")
        self.position = reader.position
        return word

    def _substitution(self, position: int) -> int:
        """Read `LINE)` from `position` and return its end; its commands follow the command around it."""
        inner = _LineReader(self._text, variables=self._variables, depth=self._depth + 1)
        inner.read_nested(position)
        self._inside.append(inner)
        if len(self._inside) > MOST_COMMANDS:
            raise refuse("too many commands")
        return inner.position

    def _add(self, draft: "_Draft", joint: Joint) -> None:
        inside, self._inside = self._inside, []
        if self._as_written:
            self.written.append(draft.written(joint))
            self.written += [command for reader in inside for command in reader.written]
        if self._expanded:
            self.commands.append(draft.expanded(joint, nested=self._depth > 0))
            self.commands += [command for reader in inside for command in reader.commands]
        if len(self.commands) > MOST_COMMANDS:
            raise refuse("too many commands")

    # -------------------------------------------------------------- loops

    def _loop(self, joint: Joint) -> None:
        if joint not in {"", ";", "&&"} or self._depth >= DEEPEST_NESTING:
            raise refuse("a loop that depends on another command, or is nested too deeply")
        self._depth += 1
        self.position += len("for")
        name, values = self._loop_head()
        start, written, expanded = self.position, self._as_written, self._expanded
        self._expanded = False
        self._body(name, None, start)
        self._as_written, self._expanded = False, expanded
        for value in values if expanded else ():
            self._body(name, value, start)
        self._as_written = written
        del self._variables[name]
        self._depth -= 1
        self.position += len("done")

    def _loop_head(self) -> tuple[str, list[Word]]:
        """Read `NAME in WORDS; do`: the name and the words; the position is after `do` then."""
        self._blanks()
        found = _LOOP_NAME.match(self._text, self.position)
        if not found or found[0] in _SPECIAL_NAMES or found[0] in self._variables:
            raise refuse("the variable of a loop is not plain")
        self.position = found.end()
        self._blanks()
        self._keyword("in")
        values: list[Word] = []
        self._blanks()
        while self._text[self.position : self.position + 1] not in {"", "\n", ";"}:
            word = self._word()
            if word.text is None:
                raise refuse("a loop over what is known only when it runs")
            values += word.each()
            self._blanks()
        self.position += 1
        self._blanks(lines=True)
        self._keyword("do")
        return found[0], values

    def _keyword(self, word: str) -> None:
        if not self._at_word(word):
            raise refuse(f"{word} is missing")
        self.position += len(word)

    def _body(self, name: str, value: Word | None, start: int) -> None:
        self._variables[name] = value
        self.position = start
        before = len(self.commands) + len(self.written)
        self._list(until="done")
        if before == len(self.commands) + len(self.written) and (self._expanded or self._as_written):
            raise refuse("a loop without a command")


class _Draft:
    """The parts of one command while it is read."""

    def __init__(self) -> None:
        self.words: list[Word] = []
        self.assignments: list[str] = []
        self.redirects: list[Redirect] = []

    def written(self, joint: Joint) -> SimpleCommand:
        """The command as written: one word for each in the line."""
        unknown = (word.text is None or word.varies for word in self.words)
        argv = tuple(None if hidden else word.text for hidden, word in zip(unknown, self.words, strict=True))
        patterns = frozenset(i for i, word in enumerate(self.words) if word.pattern and argv[i] is not None)
        return self._simple(argv, patterns, joint)

    def expanded(self, joint: Joint, *, nested: bool) -> PlainCommand:
        """The command as it runs: brace lists expanded."""
        words = [each for word in self.words for each in word.each()]
        argv = tuple(word.text for word in words)
        patterns = frozenset(index for index, word in enumerate(words) if word.pattern)
        splits = frozenset(index for index, word in enumerate(words) if word.splits)
        return PlainCommand(command=self._simple(argv, patterns, joint), joint=joint, splits=splits, nested=nested)

    def _simple(self, argv: tuple[str | None, ...], patterns: frozenset[int], joint: Joint) -> SimpleCommand:
        fed = any(not redirect.writes for redirect in self.redirects)
        return SimpleCommand(
            argv=argv,
            patterns=patterns,
            redirects=tuple(self.redirects),
            env_prefix=tuple(self.assignments),
            piped=joint == "|" or fed,
        )


def _is_test(command: SimpleCommand) -> bool:
    return command.argv[0] == "[" and not command.redirects and not command.env_prefix


def _same(ours: SimpleCommand, theirs: SimpleCommand) -> bool:
    if len(ours.argv) != len(theirs.argv) or ours.env_prefix != theirs.env_prefix:
        return False
    if sorted(_redirects(ours)) != sorted(_redirects(theirs)):
        return False
    return all(
        mine is None or (mine == other and (index in ours.patterns) == (index in theirs.patterns))
        for index, (mine, other) in enumerate(zip(ours.argv, theirs.argv, strict=True))
    )


def _redirects(command: SimpleCommand) -> Iterator[tuple[str, str]]:
    for redirect in command.redirects:
        yield redirect.operator, redirect.target or ""
