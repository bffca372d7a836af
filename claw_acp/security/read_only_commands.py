"""Commands that only look: which ones, and with which arguments they still do."""

import re
from collections.abc import Callable, Mapping, Sequence

from claw_acp.core.value import Value
from claw_acp.security.shell_command import SimpleCommand, names
from claw_acp.security.shell_wrappers import git_arguments, is_system_program

_HARMLESS_ENV = re.compile(
    r"(CI|NO_COLOR|FORCE_COLOR|CLICOLOR|TERM|COLUMNS|LINES|TZ|LANG|LC_\w+|DEBUG|NODE_ENV|RAILS_ENV|RUST_LOG|RUST_BACKTRACE"
    r"|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONHASHSEED|PYTHONIOENCODING|PYTHONUTF8)=.*|(GIT_)?PAGER=cat",
    re.DOTALL,
)
_LOCAL_VARIABLE = re.compile(r"(?!(?:http|https|ftp|no|all)_proxy|\w*path=|prompt=)[a-z][a-z0-9_]*=.*", re.DOTALL)
_SED_SCRIPT = re.compile(
    r"((\d+|\$)(,(\d+|\$|\+\d+))?)?[pdq=]|s([/|#,])(\\.|(?!\5)[^\n;\\])*\5(\\.|(?!\5)[^\n;\\])*\5[gpiI\d]*|/[^/\n;]*/[pd]"
)
_AWK_DANGER = re.compile(r"system|getline|[|>@]|ENVIRON|ARGV|ARGC", re.IGNORECASE)
_JQ_DANGER = re.compile(r"\$ENV|\benv\b|input_filename|@file|\bimport\b|\binclude\b")


class Look(Value):
    """A program that only reads, and what would make it do more.

    Attributes:
        long: Long options (as far as they can be abbreviated) that write or run something.
        short: Letters of short options that do.
        texts: How many of the first words are not paths (the pattern of grep).
        most: The most words besides options; more would be an output file. -1 is no limit.
        paths: Whether its words are paths at all.
        wild: Whether a file whose name looks like an option can do no harm.
    """

    long: tuple[str, ...] = ()
    short: str = ""
    texts: int = 0
    most: int = -1
    paths: bool = True
    wild: bool = True


_FILES = Look()
_TEXT = Look(paths=False)
_GREP = Look(texts=1)
_PROGRAMS: Mapping[str, Look] = {
    **dict.fromkeys(
        names(
            """ls cat head tail wc stat du df cut nl od hexdump strings realpath readlink md5sum sha1sum sha256sum
            sha512sum cksum b2sum fold expand rev tac paste join comm cmp cd test [ sha224sum zcat fmt pr shasum"""
        ),
        _FILES,
    ),
    **dict.fromkeys(names("grep egrep fgrep zgrep"), _GREP),
    **dict.fromkeys(
        names(
            "pwd true false : tr basename dirname whoami id uname uptime nproc arch tty groups logname cal seq sleep"
        ),
        _TEXT,
    ),
    "echo": Look(paths=False),
    "printf": Look(paths=False, short="v"),
    "which": Look(paths=False),
    "type": Look(paths=False),
    "hostname": Look(most=0, long=("--file", "--boot"), short="Fb"),
    "file": Look(long=("--compile", "--magic-file"), short="Cm", wild=False),
    "date": Look(long=("--set",), short="s", wild=False),
    "rg": Look(texts=1, long=("--pre", "--hostname-bin", "--search-zip"), short="z", wild=False),
    "sort": Look(long=("--output", "--compress-program", "--temporary-directory"), short="oT", wild=False),
    "uniq": Look(most=1, wild=False),
    "xxd": Look(most=1, long=("--revert",), short="r", wild=False),
    "tree": Look(long=("--output",), short="oR", wild=False),
    "fd": Look(texts=1, long=("--exec", "--exec-batch"), short="xX", wild=False),
    "diff": Look(wild=False),
    "column": Look(wild=False),
}
_VERSIONED = names(
    """python python3 node npm pnpm yarn go rustc cargo ruby java javac gcc g++ clang make cmake docker git uv pip pip3
    deno bun php perl tsc bash zsh rg fd jq kubectl terraform helm poetry ruff pytest mypy pyright black eslint
    prettier"""
)
_VERSION_WORDS = frozenset({"--version", "-V", "version", "-version"})
_GIT_LOOKS = names(
    """status diff log show blame annotate shortlog describe rev-parse rev-list ls-files ls-tree cat-file name-rev
    merge-base diff-tree diff-index for-each-ref show-ref count-objects whatchanged grep version cherry"""
)
_GIT_DANGER = (
    "--output",
    "--ext-diff",
    "--textconv",
    "--open-files-in-pager",
    "--filters",
    "--upload-pack",
    "--paginate",
)
_GIT_BEFORE = frozenset({"--no-pager", "--no-optional-locks", "-P", "--literal-pathspecs"})
_FIND_ACTIONS = ("-exec", "-ok", "-delete", "-fprint", "-fls")


def harmless_assignment(assignment: str | None) -> bool:
    """Whether `NAME=value` cannot change what programs do: a known harmless name, or a variable of the line's own."""
    if assignment is None:
        return False
    return bool(_HARMLESS_ENV.fullmatch(assignment) or _LOCAL_VARIABLE.fullmatch(assignment))


def looks_only(command: SimpleCommand) -> tuple[str | None, ...] | None:
    """The words of a read-only command that may be paths; None when the command may do more than read.

    Redirections and the paths themselves are not judged here.
    """
    argv = command.argv
    if not all(harmless_assignment(assignment) for assignment in command.env_prefix):
        return None
    if not argv:
        return ()
    if command.elevated or not is_system_program(argv[0]):
        return None
    words = argv[1:]
    if command.program in _VERSIONED and len(words) == 1 and words[0] in _VERSION_WORDS:
        return ()
    special = _SPECIAL.get(command.program)
    if special is not None:
        return special(command)
    look = _PROGRAMS.get(command.program)
    return None if look is None else _plain_look(look, words, command=command)


def usually_looks(program: str) -> bool:
    """Whether a program is one that only reads with ordinary arguments."""
    return program in _PROGRAMS or program in _SPECIAL


def _plain_look(look: Look, words: Sequence[str | None], *, command: SimpleCommand) -> tuple[str | None, ...] | None:
    if any(word is None for word in words):
        return None
    known = [word or "" for word in words]
    if any(_is_dangerous(word, long=look.long, short=look.short) for word in known):
        return None
    if not look.wild and any(known[index - 1][:1] in "*?[" for index in command.patterns):
        return None
    plain = [word for word in known if not word.startswith("-") or word == "-"]
    if look.most >= 0 and len(plain) > look.most:
        return None
    if not look.paths:
        return ()
    skip = 0 if _gives_pattern(known) else look.texts
    return _without_first(known, skip)


def _gives_pattern(words: Sequence[str]) -> bool:
    return any(re.match(r"-[a-zA-Z]*[ef]|--(regexp|file|files)", word) for word in words)


def _without_first(words: Sequence[str], skip: int) -> tuple[str, ...]:
    """`words` with the first `skip` that are not options emptied, so that positions stay the same."""
    kept: list[str] = []
    for word in words:
        if skip and not word.startswith("-"):
            skip -= 1
            kept.append("-")
        else:
            kept.append(word)
    return tuple(kept)


def _is_dangerous(word: str, *, long: Sequence[str], short: str) -> bool:
    if word.startswith("--"):
        name = word.split("=", 1)[0]
        return len(name) > 2 and any(option.startswith(name) for option in long)
    return word.startswith("-") and any(letter in short for letter in word[1:])


def _look_find(command: SimpleCommand) -> tuple[str | None, ...] | None:
    words = command.argv[1:]
    if any(word is None or word.startswith(_FIND_ACTIONS) for word in words) or _starts_wild(command):
        return None
    return words


def _look_sed(command: SimpleCommand) -> tuple[str | None, ...] | None:
    words = [word or "\0" for word in command.argv[1:]]
    if _starts_wild(command):
        return None
    script: str | None = None
    paths: list[str] = []
    position = 0
    while position < len(words):
        word = words[position]
        if word in {"-n", "-E", "-r", "-nE", "-En", "-nr", "--quiet", "--silent", "--regexp-extended", "--"}:
            pass
        elif word.startswith("-"):
            return None
        elif script is None:
            script = word
            paths.append("-")
            position += 1
            continue
        paths.append(word)
        position += 1
    if script is None or not all(_SED_SCRIPT.fullmatch(part.strip()) for part in script.split(";") if part.strip()):
        return None
    return None if "\0" in "".join(words) else tuple(paths)


def _look_awk(command: SimpleCommand) -> tuple[str | None, ...] | None:
    words = list(command.argv[1:])
    kept: list[str] = []
    while words and words[0] is not None and words[0].startswith("-"):
        option = words.pop(0) or ""
        kept.append("-")
        if option in {"-F", "-v"} and words:
            words.pop(0)
            kept.append("-")
        elif not option.startswith("-F"):
            return None
    if not words or any(word is None for word in words) or _AWK_DANGER.search(words[0] or "") or _starts_wild(command):
        return None
    return (*kept, "-", *words[1:])


def _look_jq(command: SimpleCommand) -> tuple[str | None, ...] | None:
    words = [word or "\0" for word in command.argv[1:]]
    plain = [word for word in words if not word.startswith("-")]
    if "\0" in "".join(words) or _starts_wild(command) or any(_JQ_DANGER.search(word) for word in plain[:1]):
        return None
    if any(re.match(r"-[a-zA-Z]*[fL]|--(from-file|slurpfile|rawfile|arg)", word) for word in words):
        return None
    return _without_first(words, 1)


def _starts_wild(command: SimpleCommand) -> bool:
    """Whether a wildcard could turn into an option."""
    return any((command.argv[index] or "*")[:1] in "*?[" for index in command.patterns)


def _look_command(command: SimpleCommand) -> tuple[str | None, ...] | None:
    return () if command.argv[1:2] in {("-v",), ("-V",)} else None


def _look_read(command: SimpleCommand) -> tuple[str | None, ...] | None:
    names = [word for word in command.argv[1:] if word is None or not word.startswith("-")]
    options = [word for word in command.argv[1:] if word is not None and word.startswith("-")]
    if all(option == "-r" for option in options) and all(
        name and re.fullmatch(r"[a-z_][a-z0-9_]*", name) for name in names
    ):
        return ()
    return None


def _look_git(command: SimpleCommand) -> tuple[str | None, ...] | None:
    argv = command.argv
    words = git_arguments(argv)[1:]
    before = argv[1 : len(argv) - len(words)]
    if any(word is None for word in argv) or not words or _starts_wild(command):
        return None
    directories = [before[i + 1] for i, word in enumerate(before[:-1]) if word == "-C"]
    rest = [w for i, w in enumerate(before) if w != "-C" and not (i and before[i - 1] == "-C")]
    if any(word not in _GIT_BEFORE for word in rest):
        return None
    subcommand, arguments = words[0] or "", [word or "" for word in words[1:]]
    if any(_is_dangerous(word, long=_GIT_DANGER, short="O" if subcommand == "grep" else "") for word in arguments):
        return None
    if subcommand in _GIT_LOOKS or _git_lists(subcommand, arguments):
        texts = 1 if subcommand == "grep" and not _gives_pattern(arguments) else 0
        head = tuple("-" for _ in range(len(argv) - 1 - len(arguments) - len(directories)))
        return (*directories, *head, *_without_first(arguments, texts))
    return None


def _git_lists(subcommand: str, arguments: Sequence[str]) -> bool:
    """Whether this use of a subcommand that can change things only lists them."""
    first = arguments[0] if arguments else ""
    plain = [word for word in arguments if not word.startswith("-")]
    listing = {"-a", "-r", "-v", "-vv", "--list", "-l", "--show-current", "--all", "--remotes", "--no-color"}
    filters = ("--merged", "--no-merged", "--contains", "--no-contains", "--points-at")
    match subcommand:
        case "branch" | "tag":
            asks = any(word in {"--list", "-l"} or word.startswith(filters) for word in arguments)
            options = [word for word in arguments if word.startswith("-")]
            return all(o in listing or o.startswith((*filters, "--sort=", "--format=")) for o in options) and (
                asks or not plain
            )
        case "remote":
            return not arguments or arguments == ["-v"] or first == "get-url"
        case "stash":
            return first in {"list", "show"}
        case "worktree" | "submodule":
            return first == ("list" if subcommand == "worktree" else "status")
        case "config":
            return first in {"--get", "--get-all", "--list", "-l", "--get-regexp", "list", "get"}
        case "reflog":
            return not arguments or first == "show"
        case _:
            return False


_SPECIAL: Mapping[str, Callable[[SimpleCommand], tuple[str | None, ...] | None]] = {
    "find": _look_find,
    "sed": _look_sed,
    "awk": _look_awk,
    "jq": _look_jq,
    "git": _look_git,
    "command": _look_command,
    "read": _look_read,
}
