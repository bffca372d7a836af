"""Ways to break a line that the policy allows, so that it may run something and still be allowed."""

import re
from collections.abc import Callable, Sequence
from random import Random

from tests.fuzz.commands.grammar import LONGEST, Grammar

CHARACTERS = (
    *"'\"`$\\;&|<>(){}[]!#*?~=@%^,:-+/ \n\r\t\v\fx0\u00a0\u2028\u3000\u200b\x1b\x7f\x85\ufeff",
    "\\\n", "\r\n", "$'", '$"', "$(", "${", "))", "<<", "--", " #", "''", "&&", "||", ">&",
)  # fmt: skip

FRAMES = (
    "{0}; {1}", "{0} && {1}", "{0} || {1}", "{0} | {1}", "{0} & {1}", "{0}\n{1}", "({0})", "{{ {0}; }}", "! {0}",
    "if {0}; then {1}; fi", "for f in *.md; do {0}; done", "while {0}; do {1}; break; done", "echo $({0})",
    'echo "$({0})"', "echo `{0}`", "cat <({0})", "f() {{ {0}; }}; {1}", "time {0}", "[ {0} ]", "[[ {0} ]]", "x=$({0})",
    "case x in {0}) {1};; esac", "{0} | xargs {1}", "find . -exec {0} {{}} +", "find . -exec {0} {{}} \\;",
    "cd src && {0}", "{0} 2>/dev/null", "{0} > /dev/null 2>&1", "{0} <<'E'\n{1}\nE", "{0} <<E\n{1}\nE",
    "for f in *; do {0} \"$f\"; done", "timeout 2 {0}", "env {0}", "nice {0}", "command {0}", "xargs {0} < names.txt",
    "{0} \\\n{1}", "{0} #\\\n{1}", "{0}\r{1}", "coproc {0}", "exec {0}", "bash -c '{0}'", "git -C vendor/bare {0}",
)  # fmt: skip

_TOKENS = re.compile(r"\s+|[;&|<>()]+|[^\s;&|<>()]+")


class Mutator:
    """Breaks lines, always the same way for the same random numbers."""

    def __init__(self, random: Random, grammar: Grammar, *, pool: Sequence[str]) -> None:
        """`pool` are allowed lines, the material of splices; it may grow."""
        self._random = random
        self._grammar = grammar
        self._pool = pool
        self._ways: Sequence[Callable[[str], str]] = (
            self._payload, self._payload, self._payload_at_end, self._character, self._character, self._character,
            self._removed, self._removed, self._word, self._option, self._option, self._option, self._redirect,
            self._swapped, self._doubled, self._spliced, self._framed, self._framed, self._quoted, self._quoted,
            self._assigned, self._path, self._path, self._path, self._joined, self._joined,
        )  # fmt: skip

    def line(self, line: str) -> str:
        """`line`, broken once or a few times."""
        for _ in range(self._random.choice((1, 1, 1, 1, 2, 3))):
            line = self._random.choice(self._ways)(line)
        return line[:LONGEST]

    def _at(self, line: str) -> int:
        return self._random.randrange(len(line) + 1)

    def _insert(self, line: str, text: str) -> str:
        at = self._at(line)
        return line[:at] + text + line[at:]

    def _payload(self, line: str) -> str:
        return self._insert(line, self._grammar.make("payload"))

    def _payload_at_end(self, line: str) -> str:
        return line + self._grammar.make("odd") + self._grammar.make("run")

    def _character(self, line: str) -> str:
        return self._insert(line, self._random.choice(CHARACTERS))

    def _removed(self, line: str) -> str:
        at = self._at(line)
        return line[:at] + line[at + self._random.choice((1, 1, 2, 5)) :]

    def _tokens(self, line: str) -> list[str]:
        return _TOKENS.findall(line) or [""]

    def _word(self, line: str) -> str:
        tokens = self._tokens(line)
        tokens[self._random.randrange(len(tokens))] = self._grammar.make("word")
        return "".join(tokens)

    def _path(self, line: str) -> str:
        tokens = self._tokens(line)
        tokens[self._random.randrange(len(tokens))] = self._grammar.make(self._random.choice(("path", "glob")))
        return "".join(tokens)

    def _after_a_word(self, line: str, text: str) -> str:
        tokens = self._tokens(line)
        at = self._random.randrange(len(tokens)) + 1
        return " ".join(("".join(tokens[:at]), text)) + "".join((" ", *tokens[at:]))

    def _option(self, line: str) -> str:
        return self._after_a_word(line, self._grammar.make("option"))

    def _redirect(self, line: str) -> str:
        return self._after_a_word(line, self._grammar.make("redirect"))

    def _swapped(self, line: str) -> str:
        tokens = self._tokens(line)
        one, other = self._random.randrange(len(tokens)), self._random.randrange(len(tokens))
        tokens[one], tokens[other] = tokens[other], tokens[one]
        return "".join(tokens)

    def _doubled(self, line: str) -> str:
        begin, end = sorted((self._at(line), self._at(line)))
        return line[:end] + line[begin:]

    def _other(self) -> str:
        return self._random.choice(self._pool) if self._random.random() < 0.7 else self._grammar.make("run")

    def _spliced(self, line: str) -> str:
        other = self._other()
        return line[: self._at(line)] + other[self._at(other) :]

    def _framed(self, line: str) -> str:
        parts = [line, self._other()]
        self._random.shuffle(parts)
        return self._random.choice(FRAMES).format(*parts)

    def _joined(self, line: str) -> str:
        return line + self._random.choice((" | ", "; ", " && ", " || ", "\n", " |\n", "|", " # ")) + self._other()

    def _quoted(self, line: str) -> str:
        begin, end = sorted((self._at(line), self._at(line)))
        opened, closed = self._random.choice((("'", "'"), ('"', '"'), ("$'", "'"), ("`", "`"), ("$(", ")"), ("\\", "")))
        return line[:begin] + opened + line[begin:end] + closed + line[end:]

    def _assigned(self, line: str) -> str:
        return self._grammar.make("assign") + self._random.choice((" ", "; ", "\n", " && ")) + line
