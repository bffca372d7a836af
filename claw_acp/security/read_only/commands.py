"""Commands that only read, and the files they read."""

import re
from collections.abc import Callable, Mapping, Sequence

from claw_acp.core.value import Value, replace
from claw_acp.security.assignments import harmless_assignment
from claw_acp.security.read_only.file_search import (
    LINE_FILTERS,
    NAME,
    NAME_LISTERS,
    SHOW_DOTTED,
    Fed,
    read_find,
    read_xargs,
)
from claw_acp.security.read_only.git_words import read_git
from claw_acp.security.read_only.options import Operand, OptionTable, Words, option_table, read_words
from claw_acp.security.read_only.plain_line import PlainLine, read_line
from claw_acp.security.read_only.programs import ANY_WORDS, CHOSEN_BY_A_FILE, PROGRAMS, VERSIONS
from claw_acp.security.read_only.scripts import awk_words, jq_words, sed_words
from claw_acp.security.shell_command import SimpleCommand, names
from claw_acp.security.shell_syntax import parse

MOST_WRAPPERS = 4  # `timeout 5 nice env ...` in one command

_BUILTINS = names("cd echo true false : pwd type command printf test [ time")
_SYSTEM_DIRECTORIES = names("/bin /usr/bin /usr/local/bin /opt/homebrew/bin")
_WRAPPERS: Mapping[str, tuple[OptionTable, int]] = {
    "timeout": (option_table("-v -k: -s: --verbose --kill-after= --signal= --preserve-status --foreground"), 1),
    "nice": (option_table("-n: digits --adjustment="), 0),
    "stdbuf": (option_table("-i: -o: -e: --input= --output= --error="), 0),
    "time": (option_table("-p"), 0),
}
_PRINTF_FORMAT = re.compile(r"(?:[^%]|%%|%[-+ #]*+\d*+(?:\.\d*+)?+[bcdeEfgGiosuxXq])*+", re.DOTALL)
_DATE = option_table("-uR -I? -d: --utc --universal --date= --iso-8601? --rfc-3339= --rfc-email --debug : path most=1")
_PROCESSES = names("aux ax -e -f -ef -A -eo -o -p")
_FILE_TESTS = names("-e -f -d -r -w -x -s -L -h -b -c -p -S")
_TEXT_TESTS = names("-z -n")
_LISTING: Mapping[str, frozenset[str]] = {
    "ls-files": names("-c -d -m -o -z -x --cached --deleted --modified --others --exclude-standard --exclude"),
    "diff": names("--name-only -z --diff-filter"),
}
_COMPARISONS = names("= == != -eq -ne -lt -le -gt -ge")


class Look(Value):
    """One run of a program that only reads.

    Attributes:
        words: Its parsed arguments.
        program: Its name; empty for a builtin of the shell.
        directory: Its directory, if not the line's.
        fed: The names from below its paths that it also opens, links included.
        repository: Whether the configuration of a git repository decides what it runs.
        chosen_by: Files, here or above, that would choose another program.
        files: Whether none of its paths may be a directory.
    """

    words: Words
    program: str = ""
    directory: str = ""
    fed: Fed | None = None
    repository: bool = False
    chosen_by: tuple[str, ...] = ()
    files: bool = False

    @property
    def names(self) -> int:
        """The number of its operands that are taken for files."""
        return sum(operand.text == NAME for operand in self.words.paths)


def looks_of(line: PlainLine, index: int) -> tuple[Look, ...] | None:
    """The program runs of one command of a line; None if it may do more than read."""
    plain = line.commands[index]
    if plain.command.program == "xargs" and is_system_program(plain.command):
        return _fed(line, index)
    return _looks(plain.command, splits=plain.splits)


def only_looks(line: PlainLine) -> bool:
    """Return whether every command of a line only reads, judging by its arguments."""
    return all(looks_of(line, index) is not None for index in range(len(line.commands)))


def looks_by_itself(command: SimpleCommand) -> bool:
    """Return whether a command would only read if it stood alone."""
    return bool(command.argv) and None not in command.argv and _looks(command) is not None


def is_system_program(command: SimpleCommand) -> bool:
    """Return whether a program is called by its bare name or from a system directory."""
    name = command.argv[0] if command.argv else None
    return name is not None and ("/" not in name or name.rpartition("/")[0] in _SYSTEM_DIRECTORIES)


def _looks(command: SimpleCommand, *, splits: frozenset[int] = frozenset()) -> tuple[Look, ...] | None:
    if not is_system_program(command) or not all(map(harmless_assignment, command.env_prefix)):
        return None
    program, name = command.program, command.argv[0] or ""
    words, patterns = command.argv[1:], _after_name(command)
    if program in VERSIONS and len(words) == 1 and words[0] in VERSIONS[program] and not patterns:
        return (Look(words=Words(paths=()), program=name, chosen_by=CHOSEN_BY_A_FILE.get(program, ())),)
    if program in _OPENING:
        return _OPENING[program](command)
    if program in ANY_WORDS:
        read = None if splits else _any_words(words, patterns)
    elif program in _SPECIAL:
        read = None if splits else _SPECIAL[program](words, patterns)
    elif program in PROGRAMS:
        read = read_words(words, patterns=patterns, table=option_table(PROGRAMS[program]))
    else:
        return None
    if read is None or (program == "strings" and any(path.text.startswith("@") for path in read.paths)):
        return None  # `@x` would be a file of options
    files = program in PROGRAMS and option_table(PROGRAMS[program]).files
    fed = Fed(split=False) if program == "diff" and read.whole else None  # it opens the links that it finds
    return (Look(words=read, program="" if program in _BUILTINS else name, files=files and fed is None, fed=fed),)


# -------------------------------------------------------------- programs that run other programs


def _git(command: SimpleCommand) -> tuple[Look, ...] | None:
    look = read_git(command.argv[1:], patterns=_after_name(command))
    if look is None:
        return None
    words = replace(look.words, whole=look.words.whole or look.shows_files)
    return (Look(words=words, program=command.argv[0] or "", directory=look.directory, repository=True),)


def _after_name(command: SimpleCommand) -> frozenset[int]:
    """Positions of patterns among the words after the program's name."""
    return frozenset(index - 1 for index in command.patterns)


def _wrapped(command: SimpleCommand) -> tuple[Look, ...] | None:
    argv = command.argv
    if command.program == "env":
        start = 2 if argv[1:2] == ("-i",) else 1
        while start < len(argv) and re.match(r"[A-Za-z_]\w*=", argv[start] or ""):
            if not harmless_assignment(argv[start]) or start in command.patterns:
                return None
            start += 1
    else:
        table, positional = _WRAPPERS[command.program]
        first = _first_operand(argv, table)
        if first is None:
            return None
        start = first + positional
    if start >= len(argv) or any(index <= start for index in command.patterns):
        return None
    if sum(word in _WRAPPERS or word == "env" for word in argv) > MOST_WRAPPERS:
        return None
    inner = replace(
        command, argv=argv[start:], patterns=frozenset(index - start for index in command.patterns), env_prefix=()
    )
    if inner.program in _BUILTINS - {"[", "test", "echo", "printf", "pwd", "true", "false"} or inner.program == "xargs":
        return None
    found = _looks(inner)
    own = () if command.program in _BUILTINS else (Look(words=Words(paths=()), program=argv[0] or ""),)
    return None if found is None else (*own, *found)


def _shell(command: SimpleCommand) -> tuple[Look, ...] | None:
    """The runs of `bash -c LINE`, if that line is plain too and does not change directory."""
    code = command.argv[2] if len(command.argv) == 3 and command.argv[1] in {"-c", "-lc"} else None
    lists = command.program == "sh" and "{" in (code or "")  # some of these know no lists in braces
    line = None if code is None or command.patterns or lists else read_line(code)
    if line is None or any(plain.command.program == "cd" for plain in line.commands):
        return None
    parsed = parse(code or "")
    if parsed.misread or not line.agrees_with(parsed.written):
        return None
    found: list[Look] = [Look(words=Words(paths=()), program=command.argv[0] or "")]
    for index, plain in enumerate(line.commands):
        looks = looks_of(line, index)
        if looks is None or any(redirect.writes or redirect.target for redirect in plain.command.redirects):
            return None
        found += looks
    return tuple(found)


def _first_operand(argv: Sequence[str | None], table: OptionTable) -> int | None:
    """The position of the first word that is no option; None when an option is unknown."""
    index = 1
    while index < len(argv) and (argv[index] or "").startswith("-"):
        for length in (1, 2):  # an option, or an option and its value
            read = read_words(argv[index : index + length], patterns=frozenset(), table=table)
            if read is not None and not read.paths:
                index += length
                break
        else:
            return None
    return index


def _found(command: SimpleCommand) -> tuple[Look, ...] | None:
    search = read_find(command.argv[1:], patterns=_after_name(command))
    if search is None:
        return None
    looks = [Look(words=Words(paths=(*search.starts, *search.files)), program=command.argv[0] or "")]
    for words in search.commands:
        inner = _handed(words, fed=replace(search.found, split=False), starts=search.starts)
        if inner is None:
            return None
        looks += inner
    return tuple(looks)


def _fed(line: PlainLine, index: int) -> tuple[Look, ...] | None:
    """The runs of `xargs`, if its input is only names of files."""
    plain = line.commands[index]
    words = read_xargs(plain.command.argv[1:])
    source = _source(line, index)
    if words is None or source is None or plain.command.patterns or plain.command.env_prefix:
        return None
    inner = _handed(words, fed=source[1], starts=_starts(source[0]))
    return None if inner is None else (Look(words=Words(paths=()), program=plain.command.argv[0] or ""), *inner)


def _handed(words: Sequence[str], *, fed: Fed, starts: tuple[Operand, ...]) -> list[Look] | None:
    """The runs of a command that gets names; None if a name could be anything but a file."""
    looks = _looks(SimpleCommand(argv=tuple(words)))
    if "strings" in words:
        return None  # a name such as `@x` would be a file of options
    if looks is None or sum(look.names for look in looks) != words.count(NAME):
        return None
    return [replace(look, fed=fed, words=_with_places(look.words, starts)) for look in looks]


def _source(line: PlainLine, index: int) -> tuple[SimpleCommand, Fed] | None:
    """The command whose names reach `xargs` through programs that keep lines unchanged, and facts about the names."""
    for place in range(index, 0, -1):
        before = line.commands[place - 1]
        fed_otherwise = any(not redirect.writes for redirect in before.command.redirects)
        if line.commands[place].joint != "|" or before.nested or fed_otherwise:
            return None
        listed = _listed_names(before.command)
        if listed is not None:
            return before.command, listed
        if not _filters(before.command):
            return None
    return None


def _listed_names(command: SimpleCommand) -> Fed | None:
    """The known facts about the names that a command prints; None if it prints anything else."""
    words, patterns = command.argv[1:], _after_name(command)
    if command.program == "find":
        search = read_find(words, patterns=patterns)
        return search.found if search is not None and search.prints_names else None
    if command.program == "git":
        look = read_git(words, patterns=patterns)
        if look is None or look.directory or not look.words.options <= _LISTING.get(look.subcommand, frozenset()):
            return None
        if look.subcommand == "diff" and ("--name-only" not in look.words.options or look.words.paths):
            return None
        return Fed(tracked=not look.words.options & names("-o --others"))
    if command.program not in NAME_LISTERS:
        return None
    read = read_words(words, patterns=patterns, table=option_table(PROGRAMS[command.program]))
    wanted, others = NAME_LISTERS[command.program]
    if read is None or (wanted and not read.options & wanted) or not read.options <= wanted | others:
        return None
    return Fed(dotted=command.program == "grep" or bool(read.options & SHOW_DOTTED))


def _filters(command: SimpleCommand) -> bool:
    allowed = LINE_FILTERS.get(command.program)
    if allowed is None or command.patterns:
        return False
    read = read_words(command.argv[1:], patterns=frozenset(), table=option_table(PROGRAMS[command.program]))
    return read is not None and read.options <= allowed and not read.paths


def _starts(command: SimpleCommand) -> tuple[Operand, ...]:
    """The starting points of the names that a command lists."""
    found = _looks(command) or ()
    return tuple(path for look in found for path in look.words.paths) or (Operand(text="."),)


def _with_places(words: Words, places: tuple[Operand, ...]) -> Words:
    """`words` with the starting points of the names in place of the names."""
    return replace(words, paths=(*(path for path in words.paths if path.text != NAME), *places))


# -------------------------------------------------------------- programs with a language of their own

_Reader = Callable[[Sequence[str | None], frozenset[int]], Words | None]


def _date(words: Sequence[str | None], patterns: frozenset[int]) -> Words | None:
    read = read_words(words, patterns=patterns, table=_DATE)
    sets_the_clock = read is None or any(not path.text.startswith(("+", "-")) for path in read.paths)
    return None if sets_the_clock else Words(paths=())


def _any_words(words: Sequence[str | None], patterns: frozenset[int]) -> Words:
    """The files among words without further meaning: matches of a wildcard, and names passed on."""
    return Words(
        paths=tuple(
            Operand(text=word or "", pattern=index in patterns)
            for index, word in enumerate(words)
            if index in patterns or word == NAME
        )
    )


def _printf(words: Sequence[str | None], patterns: frozenset[int]) -> Words | None:
    rest = words[1:] if words[:1] == ("--",) else words
    if not rest or rest[0] is None or rest[0].startswith("-") or patterns or not _PRINTF_FORMAT.fullmatch(rest[0]):
        return None
    return Words(paths=_any_words(rest[1:], frozenset()).paths, texts=(rest[0],))


def _test(words: Sequence[str | None], patterns: frozenset[int]) -> Words | None:
    if patterns or any(word is None for word in words):
        return None
    known = [word or "" for word in words]
    if known[:1] == ["!"]:
        known = known[1:]
    if len(known) == 2 and known[0] in _FILE_TESTS:
        return Words(paths=(Operand(text=known[1]),))
    if (len(known) == 2 and known[0] in _TEXT_TESTS) or (len(known) == 3 and known[1] in _COMPARISONS):
        return Words(paths=())
    return None


def _bracket(words: Sequence[str | None], patterns: frozenset[int]) -> Words | None:
    return _test(words[:-1], patterns) if words[-1:] == ("]",) else None


def _command(words: Sequence[str | None], patterns: frozenset[int]) -> Words | None:
    asks = words[:1] in {("-v",), ("-V",)} and not patterns and None not in words
    return Words(paths=()) if asks else None


def _processes(words: Sequence[str | None], patterns: frozenset[int]) -> Words | None:
    return (
        Words(paths=()) if not patterns and all(word in _PROCESSES for word in words[:1]) and len(words) <= 1 else None
    )


_SPECIAL: Mapping[str, _Reader] = {
    "date": _date,
    "printf": _printf,
    "test": _test,
    "[": _bracket,
    "command": _command,
    "ps": _processes,
    "sed": lambda words, patterns: sed_words(words, patterns=patterns),
    "awk": lambda words, patterns: awk_words(words, patterns=patterns),
    "gawk": lambda words, patterns: awk_words(words, patterns=patterns),
    "mawk": lambda words, patterns: awk_words(words, patterns=patterns),
    "jq": lambda words, patterns: jq_words(words, patterns=patterns),
}
_OPENING: Mapping[str, Callable[[SimpleCommand], tuple[Look, ...] | None]] = {
    **dict.fromkeys((*_WRAPPERS, "env"), _wrapped),
    **dict.fromkeys(("bash", "sh"), _shell),
    "find": _found,
    "git": _git,
}
