"""A stream of lines for one round: broken versions of what is allowed, the options of programs, and any bash."""

from collections.abc import Callable, Iterator, Sequence
from random import Random

from tests.fuzz.commands.grammar import Grammar
from tests.fuzz.commands.mutations import Mutator
from tests.fuzz.commands.options import options, subcommands

LANGUAGES = ("awk", "sed", "jq", "find", "xargs")
"""Programs with a language of their own; words.grammar has pieces of it."""

OPTIONS = 150  # of all programs, that may stand anywhere in a line

HOSTILE = 0.15  # of what is broken was hostile before


class Generator:
    """Makes the lines of a round. Tell it which of them were allowed: the others are wasted."""

    def __init__(
        self, random: Random, *, looking: Sequence[str], harmless: Sequence[str], hostile: Sequence[str], user: int
    ) -> None:
        """Lines to begin with, and programs (`looking`) that the policy lets run with ordinary arguments."""
        self._random = random
        self._looking = looking
        self._user = user
        self._pool = list(harmless)
        self._hostile = hostile
        self._grammar = Grammar(random, words={"program": looking, "option": ["--"]})
        self._grammar.add("option", [self._option(self._program()) for _ in range(OPTIONS)])
        self._mutator = Mutator(random, self._grammar, pool=self._pool)

    def lines(self) -> Iterator[str]:
        """Without an end."""
        ways: Sequence[Callable[[], str]] = (self._broken,) * 6 + (self._offered,) * 3 + (self._any_bash,)
        while True:
            line = self._random.choice(ways)()
            if line.strip() and "\0" not in line:
                yield line

    def allowed(self, line: str) -> None:
        """That line may run: more of its kind are worth trying."""
        self._pool.append(line)

    def _broken(self) -> str:
        chance = self._random.random()
        if chance < HOSTILE:
            return self._mutator.line(self._random.choice(self._hostile))
        # what was allowed lately is as likely as all of the rest
        return self._mutator.line(self._random.choice(self._pool if chance < 0.6 else self._pool[-60:]))

    def _any_bash(self) -> str:
        return self._grammar.make("line")

    def _program(self) -> str:
        program = self._random.choice(self._looking)
        if program in {"git", "git log"} or self._random.random() < 0.15:
            offered = subcommands("git", user=self._user)
            return f"git {self._random.choice(offered)}" if offered else program
        return program

    def _offered(self) -> str:
        """A program with options of its own, and words that may hurt."""
        program = self._program()
        words: list[str] = []
        for _ in range(self._random.choice((1, 1, 2, 3))):
            chance = self._random.random()
            if chance < 0.55:
                words.append(self._option(program))
            elif chance < 0.75:
                words.append(self._fragment(program))
            else:
                words.append(self._grammar.make("path") if chance < 0.95 else self._grammar.make("word"))
        line = " ".join((program, *words, self._grammar.make("path")))
        return (
            f"{self._random.choice(('cat names.txt', 'ls', 'echo x'))} | {line}"
            if self._random.random() < 0.2
            else line
        )

    def _fragment(self, program: str) -> str:
        name = program.partition(" ")[0].removeprefix("m").removeprefix("g")
        if name not in LANGUAGES:
            return self._grammar.make("path")
        text = self._grammar.make(name)
        return text if name in {"find", "xargs"} else f"'{text}'"

    def _option(self, program: str) -> str:
        """One option in one of the ways to write it."""
        offered = options(program, user=self._user)
        if not offered:
            return self._random.choice(("--help", "--version", "-V", "version", "-x", "--"))
        name = self._random.choice(offered)
        bare = name.removesuffix("=")
        value = self._grammar.make("value")
        if bare.startswith("--"):
            if self._random.random() < 0.3:
                bare = bare[: self._random.randrange(4, max(5, len(bare) + 1))]
            ways = (f"{bare}={value}", f"{bare} {value}", bare)
        else:
            ways = (f"{bare}{value}", f"{bare} {value}", bare, f"-{self._random.choice('nvx5ialr')}{bare[1:]}{value}")
        return self._random.choice(ways if name.endswith("=") or self._random.random() < 0.3 else (bare, *ways))
