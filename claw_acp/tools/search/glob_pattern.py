"""Path patterns as shells and editors write them: `*`, `?`, `[a-z]`, `{a,b}` inside a name, `**` across directories."""

import re
from collections.abc import Callable

from claw_acp.core.errors import InvalidArguments

MAX_LENGTH = 500  # characters
MAX_ALTERNATIVES = 64  # patterns that braces stand for
MAX_CROSSINGS = 4  # `**` in one pattern; the time to match grows with their number

_MAGIC = re.compile(r"[*?\[{]")


def split_literal(pattern: str) -> tuple[str, str]:
    """The leading directories that are plain names, and the rest: `src/a/**/*.py` gives `src/a` and `**/*.py`."""
    parts = pattern.split("/")
    plain = 0
    while plain < len(parts) - 1 and not _MAGIC.search(parts[plain]):
        plain += 1
    return "/".join(parts[:plain]) or ("/" if plain else ""), "/".join(parts[plain:])


def matcher(pattern: str) -> Callable[[str], bool]:
    """A test of relative paths with `/` between their parts.

    Raises:
        InvalidArguments: Braces that do not close, or a pattern beyond the bounds.
    """
    if len(pattern) > MAX_LENGTH:
        raise InvalidArguments(f"The glob pattern has {len(pattern)} characters; at most {MAX_LENGTH} are allowed.")
    alternatives = _without_braces(pattern)
    try:
        compiled = re.compile("|".join(f"(?:{_path(alternative)})" for alternative in alternatives), re.DOTALL)
    except re.error as error:
        raise InvalidArguments(f"The glob pattern {pattern!r} has a wrong character range: {error.msg}.") from error
    return lambda path: compiled.fullmatch(path) is not None


def anywhere(pattern: str) -> str:
    """The pattern for a filter: one without a slash is about names at any depth."""
    return pattern if "/" in pattern else f"**/{pattern}"


def _without_braces(pattern: str) -> list[str]:
    """The patterns that one with braces stands for; braces may nest."""
    done: list[str] = []
    pending = [pattern]
    while pending:
        head, brace, tail = pending.pop().partition("{")
        if not brace:
            if "}" in head:
                raise InvalidArguments(f"The braces in the glob pattern {pattern!r} do not match.")
            done.append(head)
            continue
        choices, rest = _choices(tail, pattern)
        pending.extend(f"{head}{choice}{rest}" for choice in choices)
        if len(pending) + len(done) > MAX_ALTERNATIVES:
            raise InvalidArguments(f"The glob pattern {pattern!r} stands for more than {MAX_ALTERNATIVES} patterns.")
    return done


def _choices(text: str, pattern: str) -> tuple[list[str], str]:
    """The alternatives between an opened brace and its end, and the text after it."""
    depth = start = 0
    choices: list[str] = []
    for index, character in enumerate(text):
        if character == "{":
            depth += 1
        elif character == "," and not depth:
            choices.append(text[start:index])
            start = index + 1
        elif character == "}":
            if not depth:
                return [*choices, text[start:index]], text[index + 1 :]
            depth -= 1
    raise InvalidArguments(f"The braces in the glob pattern {pattern!r} do not match.")


def _path(pattern: str) -> str:
    parts = [part for part in pattern.split("/") if part not in {"", "."}]
    kept = [part for index, part in enumerate(parts) if part != "**" or parts[index - 1 : index] != ["**"]]
    if kept.count("**") > MAX_CROSSINGS:
        raise InvalidArguments(f"The glob pattern has more than {MAX_CROSSINGS} times `**`; use a simpler one.")
    *above, last = kept or [""]
    directories = (r"(?:[^/]++/)*" if part == "**" else f"{_name(part)}/" for part in above)
    return "".join(directories) + (".+" if last == "**" else _name(last))


def _name(part: str) -> str:
    """One part of a path as a regular expression.

    Text between two stars is matched at its first place, without backtracking.

    Without that (`(?>...)`), `*a*a*a*a*b` takes minutes on a long name.
    """
    first, *others = [_fixed(piece) for piece in re.split(r"\*+", part)]
    if not others:
        return first
    *inner, last = others
    return first + "".join(f"(?>[^/]*?{piece})" for piece in inner) + f"[^/]*{last}"


def _fixed(piece: str) -> str:
    pieces: list[str] = []
    position = 0
    while position < len(piece):
        character = piece[position]
        position += 1
        if character == "[":
            expression, position = _set(piece, position)
            pieces.append(expression)
        else:
            pieces.append("[^/]" if character == "?" else re.escape(character))
    return "".join(pieces)


def _set(part: str, start: int) -> tuple[str, int]:
    """The character set that begins after `[`, and the position after it; an unclosed bracket is literal."""
    first = start + 1 if part[start : start + 1] in {"!", "^"} else start
    end = part.find("]", first + 1)
    if end < 0:
        return re.escape("["), start
    members = re.sub(r"([\\\[\]&~|^])", r"\\\1", part[first:end]).replace("--", r"\-\-")
    return f"(?!/)[{'^' if first > start else ''}{members}]", end + 1
