"""Words of a command that lead to files from which other programs run commands.

Options that write have a thousand names (`-o`, `-O`, `-P`, `--output=`, `cf`, a last operand), so any word counts,
except those that only exclude something, and those that a program runs or adds to a commit.
"""

import re
from collections.abc import Iterator
from itertools import chain

from claw_acp.security.command_paths import Places, named_paths
from claw_acp.security.guarded import guarded
from claw_acp.security.shell_command import SimpleCommand, names

MOST_WORDS = 200

_LEAVES_OUT = re.compile(r"--?[\w-]*(exclude|ignore|skip|omit|deselect|prune|not)[\w-]*")
_LEAVES_OUT_BY_LETTER = {"zip": "-x", "tree": "-I", "fd": "-E", "fdfind": "-E"}
_FIND_TESTS = names("-path -ipath -wholename -iwholename -name -iname -regex -iregex")
_RUN_THEIR_FIRST = names(
    """source . python python2 python3 node nodejs ruby perl php lua sh bash zsh dash ksh deno tsx ts-node cd pushd
    popd"""
)
_MAKE_ENVIRONMENTS = names("venv virtualenv")
_GIT_OPTIONS = re.compile(r"(-o|--output|--output-directory|--separate-git-dir|--git-dir|--work-tree)")
_GIT_TAKES_FILES = names("archive bundle clone init mv checkout restore worktree format-patch apply am")


def guarded_word(command: SimpleCommand, *, places: Places) -> str | None:
    """The reason a command that does not only read may change a guarded file through a word, or None."""
    words = command.argv[1:]
    if len(words) > MOST_WORDS:
        return "it names more files than can be looked at"
    patterns = {index - 1 for index in command.patterns}
    chosen = list(_git_targets(words) if command.program == "git" else _targets(command))
    pairs = chain.from_iterable(
        named_paths((words[index],), patterns=frozenset({0} if index in patterns else ()), places=places)
        for index in chosen
    )
    found = [(text, path) for text, path in pairs if text.casefold() != "head"]
    here = () if command.program in {"git", "cd", "pushd", "popd"} else places.bases
    literal = [base / text for text, _ in found for base in places.bases]
    return guarded(*(path for _, path in found), *literal, *here, context=places.context)


def _targets(command: SimpleCommand) -> Iterator[int]:
    """Positions of the words that may be files to write."""
    words, program = command.argv[1:], command.program
    left_out = _LEAVES_OUT_BY_LETTER.get(program)
    first = program.rstrip("0123456789.") in _RUN_THEIR_FIRST or program in _RUN_THEIR_FIRST
    environment = False
    for index, word in enumerate(words):
        before = words[index - 1] if index else program
        environment = environment or (word in _MAKE_ENVIRONMENTS or program == "virtualenv")
        if word is None or word in _MAKE_ENVIRONMENTS or before is None:
            continue
        if _LEAVES_OUT.match(word) or _LEAVES_OUT.fullmatch(before) or before == left_out or word.startswith("!"):
            continue
        if program in {"find", "gfind"} and before in _FIND_TESTS:
            continue
        if environment and not word.startswith("-"):
            continue  # `python3 -m venv .venv`
        if first and not word.startswith("-"):
            first = False  # it is run, or entered
            continue
        yield index


def _git_targets(words: tuple[str | None, ...]) -> Iterator[int]:
    takes = any(word in _GIT_TAKES_FILES for word in words[:4])
    for index, word in enumerate(words):
        before = words[index - 1] if index else None
        if word is None:
            continue
        valued = _GIT_OPTIONS.match(word) or (before and _GIT_OPTIONS.fullmatch(before))
        if valued or (takes and not word.startswith("-") and before not in {"-m", "--message"}):
            yield index
