"""The head of a `SKILL.md`: YAML between two lines of `---`.

Heads of plain `key: text` lines, as most are, are read without a YAML parser, which takes longer to load than a hundred
skills to read. What people write is not always YAML: `description: Use when: asked` is read as it was meant.

Values are texts, lists and tables, nothing else: what YAML makes of numbers, dates, tags and merged keys is where a
stranger's head gets its size.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, cast

from claw_acp.registry.reference import Ref

_PARSE: Final[Ref[Callable[..., tuple[dict[str, object], str]]]] = Ref("frontmatter:parse")
_HANDLER: Final[Ref[Callable[[], object]]] = Ref("frontmatter:YAMLHandler")
_LOADER: Final[Ref[type]] = Ref("yaml:BaseLoader")  # in Python: the one in C does not survive what is nested too deeply
_FAULT: Final[Ref[type[Exception]]] = Ref("yaml:YAMLError")

LONGEST: Final = 8 * 1024  # characters
MOST_BRACKETS: Final = 100  # the reader takes a second for some thousands
_PLAIN: Final = r"([A-Za-z][\w-]*): +(?:([A-Za-z](?:[^:#\n]|:(?=\S)|(?<=\S)#)*)|\"([^\"\\]+)\")"
_NOTHING: Final = ("", "~", "null")
"""Values that stand for none."""
_ENTRY: Final = r"([A-Za-z][\w-]*):[ \t]+([^\s\"'>|].*)"


class BadHead(ValueError):
    """The head cannot be read; the text says why."""


def split_skill(text: str) -> tuple[Mapping[str, object], str]:
    """The entries of a head, and the text below it.

    Raises:
        BadHead: There is no head, it does not end, or it cannot be read.
    """
    first, *lines = text.split("\n")
    if first.rstrip() != "---":
        raise BadHead("it does not begin with a head between two lines of ---")
    end = next((number for number, line in enumerate(lines) if line.rstrip() == "---"), None)
    if end is None:
        raise BadHead("the head that begins in line 1 has no closing line of ---")
    head = [line.rstrip() for line in lines[:end]]
    body = "\n".join(lines[end + 1 :]).strip()
    plain = _plain(head)
    entries = _yaml(head) if plain is None else plain
    return {key: value for key, value in entries.items() if value not in _NOTHING}, body


def _plain(lines: list[str]) -> Mapping[str, object] | None:
    """The entries of a head that needs no YAML; None for all others."""
    entries: dict[str, object] = {}
    for line in lines:
        found = re.fullmatch(_PLAIN, line)
        if found is None or found[1] in entries:
            return None
        entries[found[1]] = found[2] or found[3]
    return entries


def _yaml(lines: list[str]) -> Mapping[str, object]:
    if sum(map(len, lines)) > LONGEST:
        raise BadHead(f"its head is longer than {LONGEST // 1024} KiB")
    if sum(line.count("[") + line.count("{") for line in lines) > MOST_BRACKETS:
        raise BadHead("its head has too many brackets")
    try:
        return _loaded(lines)
    except BadHead:
        quoted = [_quoted(line) for line in lines]
        if quoted == lines:
            raise
        return _loaded(quoted)


def _loaded(lines: list[str]) -> Mapping[str, object]:
    text = "\n".join(["---", *lines, "---", ""])
    try:
        head, _ = _PARSE.load()(text, handler=_Handler.of(_LOADER.load()))
    except (_FAULT.load(), ValueError, TypeError, RecursionError, OverflowError) as error:
        reason = " ".join(str(error).split())
        raise BadHead(f"its head is no YAML: {reason[:200] or type(error).__name__}") from error
    return {str(key): value for key, value in head.items()}


class _Handler:
    """Makes the library's reader of YAML use one loader."""

    @staticmethod
    def of(loader: type) -> object:
        """The library's handler with this loader."""
        handler: Any = _HANDLER.load()()
        load = cast("Callable[..., object]", handler.load)
        handler.load = partial(load, Loader=loader)
        return handler


def _quoted(line: str) -> str:
    """An entry whose value is put in quotes, as it is no YAML without: it has colons, or begins with a bracket."""
    found = re.fullmatch(_ENTRY, line)
    if found is None or not (": " in found[2] or found[2].endswith(":") or found[2][0] in "[{@`*&!%"):
        return line
    return f"{found[1]}: {json.dumps(found[2], ensure_ascii=False)}"
