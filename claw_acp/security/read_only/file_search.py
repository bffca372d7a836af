"""`find` and `xargs`: the files they search, and the names they pass to other programs."""

import re
from collections.abc import Mapping, Sequence

from claw_acp.core.value import Value
from claw_acp.security.read_only.options import Operand
from claw_acp.security.shell_command import names

_ALONE = names(
    """-empty -executable -readable -writable -true -false -not -a -and -o -or -prune -print -print0 -quit -depth -xdev
    -mount -ls -daystart ! ( ) ,"""
)
_WITH_TEXT = names(
    """-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -size -mtime -mmin -atime -amin
    -ctime -cmin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -printf -regextype -used"""
)
_WITH_PATH = names("-newer -anewer -cnewer -samefile")
_ALTERNATIVES = names("-o -or ! -not ( ) ,")  # what stands in such an expression need not hold for all
_ACTIONS = names("-print -print0 -ls -printf -quit -prune")
_SIMPLE_GLOB = re.compile(r"[\w.*?-]+", re.ASCII)
_XARGS_FLAGS = names("-0 -r -t -0r -r0 --null --no-run-if-empty --verbose")
_XARGS_VALUED = names("-n -P -L --max-args --max-procs --max-lines")

NAME = "\0"
"""Stands for a name that a program gets. It can be no program, option, script or part of a word."""

MOST_RUNS = 32  # commands that one `find` may name, for each of the places where it begins


class Fed(Value):
    """Names that one program passes to another.

    Attributes:
        split: Whether blanks and quotes in a name split it into several words.
        regular: Whether none of them is a link.
        globs: Patterns for their last part.
        dotted: Whether they may be below directories whose names begin with a dot.
        tracked: Whether they are exactly those in git's index.
    """

    split: bool = True
    regular: bool = False
    globs: tuple[str, ...] = ()
    dotted: bool = True
    tracked: bool = False


class Search(Value):
    """A `find` that only reads.

    Attributes:
        starts: Its starting points.
        files: Other files it reads.
        commands: The commands it runs, with NAME in place of `{}`.
        prints_names: Whether its output is only the names.
        found: The facts about the names.
    """

    starts: tuple[Operand, ...]
    files: tuple[Operand, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    prints_names: bool = True
    found: Fed = Fed()


def read_find(words: Sequence[str | None], *, patterns: frozenset[int]) -> Search | None:
    """The search of the words of `find`; None if it may do more than read."""
    if any(word is None for word in words):
        return None
    known = [word or "" for word in words]
    index = 1 if known[:1] in (["-P"], ["-H"]) else 0
    starts: list[Operand] = []
    while index < len(known) and not known[index].startswith("-") and known[index] not in {"!", "(", ")", ","}:
        starts.append(Operand(text=known[index], pattern=index in patterns))
        index += 1
    if patterns & frozenset(range(index, len(known))):
        return None  # the shell would make something else of them
    return _expression(known, index, starts=tuple(starts) or (Operand(text="."),))


def _expression(words: Sequence[str], index: int, *, starts: tuple[Operand, ...]) -> Search | None:
    files: list[Operand] = []
    commands: list[tuple[str, ...]] = []
    prints_names, acted, sure, regular = True, False, True, False
    globs: list[str] = []
    while index < len(words):
        word = words[index]
        value = words[index + 1] if index + 1 < len(words) else ""
        index += 1
        sure = sure and word not in _ALTERNATIVES
        if word in _ALONE:
            prints_names = prints_names and word != "-ls"
            acted = acted or word in _ACTIONS
        elif word in _WITH_TEXT and index < len(words):
            prints_names = prints_names and word != "-printf"
            if not acted:  # what stands behind an action does not limit it
                regular = regular or (word, value) == ("-type", "f")
                globs += [value] if word == "-name" and _SIMPLE_GLOB.fullmatch(value) else []
            index += 1
        elif word in _WITH_PATH and index < len(words):
            files.append(Operand(text=value))
            index += 1
        elif word == "-exec":
            end = next((place for place in range(index, len(words)) if words[place] in {";", "+"}), None)
            if end is None or any("{}" in text and text != "{}" for text in words[index:end]):
                return None
            commands.append(_with_name(words[index:end], times=2 if words[end] == "+" else 1))
            acted, index = True, end + 1
        else:
            return None
    if len(commands) * len(starts) > MOST_RUNS:
        return None
    found = Fed(regular=regular, globs=tuple(globs)) if sure else Fed()
    lists = prints_names and not commands
    return Search(starts=starts, files=tuple(files), commands=tuple(commands), prints_names=lists, found=found)


def _with_name(words: Sequence[str], *, times: int) -> tuple[str, ...]:
    """A command with NAME in place of `{}`, twice if it gets many names at once."""
    return tuple(text for word in words for text in ([NAME] * times if word == "{}" else [word]))


def read_xargs(words: Sequence[str | None]) -> tuple[str, ...] | None:
    """The command that `xargs` runs, with NAME in place of its input; None if that is unknown."""
    if any(word is None for word in words):
        return None
    known = [word or "" for word in words]
    index, placeholder = 0, ""
    while index < len(known) and known[index].startswith("-"):
        word = known[index]
        if word in _XARGS_FLAGS or word.startswith(("--max-args=", "--max-procs=", "--max-lines=")):
            index += 1
        elif word in _XARGS_VALUED or word == "-I":
            placeholder = known[index + 1] if word == "-I" and index + 1 < len(known) else placeholder
            index += 2
        elif word[:2] in {"-n", "-P", "-L"} and word[2:].isdecimal():
            index += 1
        elif word == "-d" and known[index + 1 : index + 2] == ["\\n"]:
            index += 2
        elif word[:2] == "-I":
            placeholder = word[2:]
            index += 1
        else:
            return None
    command = known[index:]
    if not placeholder:
        return (*(command or ["echo"]), NAME, NAME)
    if any(placeholder in word and word != placeholder for word in command) or not command:
        return None
    return tuple(NAME if word == placeholder else word for word in command)


NAME_LISTERS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "rg": (
        names("-l --files --files-with-matches --files-without-match"),
        names(
            "-i -s -S -w -x -F -e -t -T -g -u -. -d --ignore-case --case-sensitive --smart-case --word-regexp --regexp "
            "--fixed-strings --type --type-not --glob --iglob --hidden --no-ignore --unrestricted --max-depth --sort"
        ),
    ),
    "grep": (
        names("-l -L --files-with-matches --files-without-match"),
        names("-r -i -w -x -E -F -e -s -I -n --recursive --ignore-case --include --exclude --exclude-dir --regexp"),
    ),
    **dict.fromkeys(
        ("fd", "fdfind"),
        (
            frozenset[str](),
            names("-e -t -E -g -i -s -d -H -I --extension --type --exclude --glob --hidden"),
        ),
    ),
}
"""Programs that print only names of files, with the options that cause it (one of them), and other permitted ones."""

SHOW_DOTTED = names("-. -u -H -g --hidden --unrestricted --glob --iglob")
"""Options with which these also list files below directories whose names begin with a dot."""

LINE_FILTERS: Mapping[str, frozenset[str]] = {
    "grep": names("-v -i -E -F -w -x -q -e --invert-match --ignore-case --extended-regexp --fixed-strings --regexp"),
    "sort": names("-u -r -n -z -f --unique --reverse --zero-terminated"),
    "uniq": frozenset(),
    "head": names("-n -z --lines --zero-terminated"),
    "tail": names("-n -z --lines --zero-terminated"),
}
"""Programs that remove or sort lines, with the options that leave the lines themselves unchanged."""
