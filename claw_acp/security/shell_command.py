"""The commands of a command line, as values: made by the parser, judged by rules and risk."""

from claw_acp.core.value import Value


class Redirect(Value):
    """A stream connected to a file or to text.

    Attributes:
        operator: The operator as written: `>`, `>>`, `<`, `<<`, `<<<`, ...
        target: The file; None when it is known only at run time, or when the input is text.
        writes: Whether the file is created or changed.
    """

    operator: str
    target: str | None
    writes: bool


class SimpleCommand(Value):
    """One program call.

    Attributes:
        argv: The words after quote removal; None for a word that is known only at run time. Empty when the command is
            nothing but assignments or redirections.
        patterns: Positions in `argv` of words with an unquoted wildcard: the text is the pattern, not what it matches.
        redirects: Its redirections to and from files; duplicated descriptors (`2>&1`) are left out.
        env_prefix: `NAME=value` before the command; None for an assignment with an unknown value.
        piped: Whether its input may be something other than the user's terminal (a pipe, a here-document, a file).
        elevated: Whether it runs inside another listed command that changes the user, such as `sudo`.
    """

    argv: tuple[str | None, ...]
    patterns: frozenset[int] = frozenset()
    redirects: tuple[Redirect, ...] = ()
    env_prefix: tuple[str | None, ...] = ()
    piped: bool = False
    elevated: bool = False

    @property
    def program(self) -> str:
        """The program's own name, without its directory; empty when there is none."""
        name = self.argv[0] if self.argv else None
        return name.rsplit("/", 1)[-1] if name else ""


class ParsedLine(Value):
    """All commands of a line, those inside substitutions, loops, functions and `sh -c` texts included.

    Attributes:
        commands: In order of appearance; the commands that wrappers such as `timeout` start replace the wrapper.
        written: The same with wrappers unopened.
        misread: Whether bash may parse the line differently.
        doubts: Reasons that the list may be incomplete, for people.
    """

    commands: tuple[SimpleCommand, ...]
    written: tuple[SimpleCommand, ...] = ()
    misread: bool = False
    doubts: tuple[str, ...] = ()

    @property
    def understood(self) -> bool:
        """True if `commands` is everything the line runs."""
        return not self.doubts


def names(text: str) -> frozenset[str]:
    """The words of a text as a set: a page of quotes and commas is hard to read."""
    return frozenset(text.split())
