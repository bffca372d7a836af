"""Scripts of sed, awk and jq that only transform their input."""

import re
from collections.abc import Sequence
from typing import Final

from claw_acp.security.read_only.options import Operand, Words, option_table, read_words
from claw_acp.security.shell_command import names

# -------------------------------------------------------------- sed

_SED_OPTIONS = option_table(
    "-nErsuz -e:! --expression=! --quiet --silent --regexp-extended --separate --unbuffered : text,path"
)
_BRACKETS = r"\[\^?(?:\[:[a-z]+:\]|[A-Za-z0-9_ .*+-])+\]"  # others may hide a mark: inside, it is a letter
_SED_ADDRESS = rf"(?:\d++(?:~\d++)?|\$|/(?:\\[^\n]|{_BRACKETS}|[^/\\\n\[])++/I?|\+\d++)"
_SED_PATTERN = rf"(?:\\[^\n]|{_BRACKETS}|(?!(?P=mark))[^\\\n\[])*+"
_SED_TEXT = r"(?:\\[^\n]|(?!(?P=mark))[^\\\n])*+"
_SED_COMMAND = re.compile(
    rf"[ \t]*+(?:{_SED_ADDRESS}(?:[ \t]*+,[ \t]*+{_SED_ADDRESS})?[ \t]*+!?[ \t]*+)?"
    rf"(?:[pdqQ=lnNDPGHghx]|s(?P<mark>[/|#,@!%]){_SED_PATTERN}(?P=mark){_SED_TEXT}(?P=mark)[gpiIM\d]*+)?"
    r"[ \t]*+(?:[;\n]|\Z)"
)


def sed_words(words: Sequence[str | None], *, patterns: frozenset[int]) -> Words | None:
    """Return the arguments of `sed`, parsed; None where a script may write a file or run a program."""
    read = read_words(words, patterns=patterns, table=_SED_OPTIONS)
    if read is None:
        return None
    scripts = list(read.texts)
    for index, word in enumerate(words):
        if word in {"-e", "--expression"}:
            scripts.append(words[index + 1] or "\0")
        elif word and word.startswith("--expression="):
            scripts.append(word.partition("=")[2])
        elif word and re.match(r"-[nErsuz]*e.", word):
            scripts.append(word.partition("e")[2])
        elif word and re.fullmatch(r"-[nErsuz]+e", word):
            scripts.append(words[index + 1] or "\0")
    return read if scripts and all(map(_harmless_sed, scripts)) else None


def _harmless_sed(script: str) -> bool:
    position = 0
    while position < len(script):
        found = _SED_COMMAND.match(script, position)
        if found is None or found.end() == position:
            return False
        position = found.end()
    return True


# -------------------------------------------------------------- awk

_AWK_FUNCTIONS: Final = names(
    """length substr split gsub sub match sprintf tolower toupper index int sqrt log exp sin cos atan2 rand srand gensub
    strftime systime strtonum and or xor lshift rshift compl asort asorti mktime"""
)
_AWK_FORBIDDEN: Final = names(
    "system getline close fflush ENVIRON ARGV ARGC PROCINFO SYMTAB FUNCTAB function func include load namespace eval"
)
_AWK_KEYWORDS: Final = names(
    """print printf if else while for do in next nextfile exit delete return break continue switch case default BEGIN
    END BEGINFILE ENDFILE"""
)
_AWK_TOKEN = re.compile(
    r"""(?P<blank>[ \t]+|\#[^\n]*)|(?P<text>"(?:\\[^\n]|[^"\\\n])*")|(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<number>[0-9.]+)|(?P<end>[;{}\n])|(?P<slash>/)|(?P<operator>&&|\|\||\+\+|--|[-+*%^=!<>]=|[-+*%^=!<>~?:,$()\[\]])""",
    re.VERBOSE,
)
_AWK_REGEX = re.compile(rf"/(?:\\[^\n]|{_BRACKETS}|[^/\\\n\[])*+/")
_AWK_BEFORE_PATTERN: Final = frozenset({"", "{", "}", "(", ",", "~", "!", "&&", "||", ";", "\n"})
_AWK_VALUE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=[^\0]*")


def awk_words(words: Sequence[str | None], *, patterns: frozenset[int]) -> Words | None:
    """Return the arguments of `awk`, parsed; None where its program may write, run or read something else."""
    index = 0
    while index < len(words) and (words[index] or "").startswith("-"):
        word = words[index] or ""
        if word in {"-F", "-v"}:
            value = words[index + 1] if index + 1 < len(words) else None
            if value is None or (word == "-v" and not _harmless_awk_value(value)):
                return None
            index += 2
        elif word.startswith("-F") and index not in patterns:
            index += 1
        else:
            return None
    rest, wild = words[index:], frozenset(position - index for position in patterns)
    if not rest or rest[0] is None or any(word is None for word in rest) or 0 in wild or not _harmless_awk(rest[0]):
        return None
    files = [Operand(text=word or "", pattern=place in wild) for place, word in enumerate(rest) if place > 0]
    if any("=" in file.text and not _harmless_awk_value(file.text) for file in files):
        return None
    return Words(paths=tuple(file for file in files if file.text != "-"), texts=(rest[0],))


def _harmless_awk_value(value: str) -> bool:
    return bool(_AWK_VALUE.fullmatch(value)) and value.partition("=")[0] not in _AWK_FORBIDDEN


def _harmless_awk(program: str) -> bool:
    """Return whether a program neither redirects nor pipes, and calls only pure functions.

    A `>` is certainly a comparison in parentheses and outside all braces. A `/` certainly begins a pattern after an
    operator, and certainly divides after a number, an element or a variable; elsewhere programs disagree.
    """
    position, braces, parentheses, previous, kind_before = 0, 0, 0, "", ""
    while position < len(program):
        found = _AWK_TOKEN.match(program, position)
        if found is None:
            return False
        kind, text, position = found.lastgroup or "", found[0], found.end()
        if kind == "blank":
            continue
        if kind == "slash" and previous in _AWK_BEFORE_PATTERN:
            pattern = _AWK_REGEX.match(program, found.start())
            if pattern is None:
                return False
            position, previous, kind_before = pattern.end(), "/", "pattern"
            continue
        if kind == "slash" and not _may_be_divided(kind_before, previous):
            return False
        if kind == "name" and (text in _AWK_FORBIDDEN or not _known_call(text, program, position)):
            return False
        if min(braces, parentheses) < 0 or (text == ">" and braces and not parentheses):
            return False
        braces += (text == "{") - (text == "}")
        parentheses += (text == "(") - (text == ")")
        previous, kind_before = text, kind
    return not braces and not parentheses


def _may_be_divided(kind: str, text: str) -> bool:
    names_a_value = kind == "name" and text not in _AWK_KEYWORDS and text not in _AWK_FUNCTIONS
    return kind == "number" or names_a_value or text == "]"


def _known_call(name: str, program: str, position: int) -> bool:
    calls = program[position : position + 1] == "("
    return not calls or name in _AWK_FUNCTIONS or name in _AWK_KEYWORDS


# -------------------------------------------------------------- jq

_JQ_OPTIONS = option_table(
    "-rcensSajMCR --raw-output --compact-output --exit-status --null-input --slurp --sort-keys --ascii-output "
    "--join-output "
    "--monochrome-output --color-output --raw-input --tab --indent= --raw-output0 --stream --seq : text,path"
)
_JQ_DANGER = re.compile(
    r"(?<![.\w])env\b|\.\.\s*env|\$(?!(?!ENV\b|__)[A-Za-z_])|\b(?:import|include|input_filename|modulemeta|get_search_list)\b"
)


def jq_words(words: Sequence[str | None], *, patterns: frozenset[int]) -> Words | None:
    """Return the arguments of `jq`, parsed; None where its filter may read the environment or other files."""
    kept: list[str | None] = []
    index = 0
    while index < len(words):  # `--arg NAME TEXT` is harmless wherever it stands
        if words[index] in {"--arg", "--argjson"} and index + 2 < len(words) and not patterns & {index + 1, index + 2}:
            if words[index + 1] is None or words[index + 2] is None:
                return None
            index += 3
            continue
        kept.append(words[index])
        index += 1
    if len(kept) < len(words) and patterns:
        return None  # their positions would be others
    read = read_words(kept, patterns=patterns, table=_JQ_OPTIONS)
    if read is None or not read.texts or any(_JQ_DANGER.search(text) for text in read.texts):
        return None
    return read
