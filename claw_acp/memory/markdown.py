"""Memories as Markdown that a person can read and edit: a heading for each namespace, a list item for each entry.

    ## project:/home/ann/shop

    - **deploy**: Deploys run with `make ship`. <!-- id=mem_01… at=2026-11-23T10:00:00.000Z by=person -->
      Further lines are indented.

What the comment says is kept; an item without one is a new entry.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from typing import Final, cast
from urllib.parse import quote, unquote

from claw_acp.contracts.memory import CORE, DEFAULT_NAMESPACE, MemoryEntry, MemorySource
from claw_acp.core.clock import iso_time
from claw_acp.core.value import Value

CORE_FILE: Final = "MEMORY.md"
OTHERS_FILE: Final = "HISTORY.md"
_TITLES: Final = {CORE_FILE: "# Memory", OTHERS_FILE: "# History"}
_INDENT: Final = "  "
_SOURCES: Final = frozenset({"person", "agent", "stranger"})
_KEY_WORDS: Final = 6  # of a text without a key, that name it


class ReadEntry(Value):
    """An entry as a file has it; None: the file does not say."""

    id: str | None
    key: str
    content: str
    namespace: str
    category: str
    timestamp: float | None
    session_id: str | None
    importance: float | None
    superseded_by: str | None
    source: MemorySource


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    key = re.compile(r"- (?:\*\*([^*\n]+)\*\*: ?)?")
    comment = re.compile(r" ?<!-- ([a-z_]+=[^ ]*(?: [a-z_]+=[^ ]*)*) ?-->$")
    return key, comment


def written(entries: Sequence[MemoryEntry]) -> Mapping[str, str]:
    """The text of each file, by its name; both are there, even if they are empty."""
    core = [entry for entry in entries if entry.category == CORE]
    others = [entry for entry in entries if entry.category != CORE]
    return {CORE_FILE: _file(CORE_FILE, core), OTHERS_FILE: _file(OTHERS_FILE, others)}


def read(text: str) -> Sequence[ReadEntry]:
    """The entries of a file, which may have been written by hand: whatever is no list item is passed over."""
    return [_entry(namespace, lines) for namespace, lines in _items(text)]


def _file(name: str, entries: Sequence[MemoryEntry]) -> str:
    parts = [_TITLES[name]]
    ordered = sorted(entries, key=lambda entry: (entry.namespace, entry.timestamp, entry.id))
    for namespace, group in groupby(ordered, key=lambda entry: entry.namespace):
        parts += [f"## {namespace}", "\n".join(map(_line, group))]
    return "\n\n".join(parts) + "\n"


def _line(entry: MemoryEntry) -> str:
    spoken = iso_time(entry.timestamp)
    facts = {
        "id": entry.id,
        "at": spoken if _moment(spoken) == entry.timestamp else repr(entry.timestamp),
        "by": entry.source,
        "category": None if entry.category == CORE else entry.category,
        "importance": entry.importance,
        "session": entry.session_id,
        "superseded_by": entry.superseded_by,
    }
    comment = " ".join(f"{name}={quote(str(fact), safe=':')}" for name, fact in facts.items() if fact is not None)
    first, *more = entry.content.split("\n")
    below = "".join(f"\n{_INDENT}{line}" if line else "\n" for line in more)
    return f"- **{entry.key}**: {first} <!-- {comment} -->{below}"


def _items(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each list item as its lines, the further ones without their indent, and the namespace above it."""
    namespace, item, blank = DEFAULT_NAMESPACE, list[str](), 0
    for line in text.replace("\r\n", "\n").split("\n"):
        if item and line.startswith(_INDENT):
            item += [*[""] * blank, line.removeprefix(_INDENT)]
            blank = 0
        elif item and not line.strip():
            blank += 1
        else:
            if item:
                yield namespace, item
            item, blank = ([line] if line.startswith("- ") else []), 0
            if line.startswith("## "):
                namespace = line.removeprefix("## ").strip() or DEFAULT_NAMESPACE
    if item:
        yield namespace, item


def _entry(namespace: str, lines: Sequence[str]) -> ReadEntry:
    start, end = _patterns()
    head = start.match(lines[0])
    assert head is not None  # the dash is there
    key = head[1]
    texts = [lines[0][head.end() :], *lines[1:]]
    at = next((at for at in (0, -1) if end.search(texts[at])), None)  # who adds lines may push it to the end
    comment = ""
    if at is not None and (found := end.search(texts[at])):
        comment, texts[at] = found[1], texts[at][: found.start()]
    content = "\n".join(texts)
    pairs = (pair.partition("=") for pair in comment.split())
    facts = {name: unquote(fact) for name, _, fact in pairs}
    source = facts.get("by", "person")
    return ReadEntry(
        id=facts.get("id"),
        key=key or " ".join(content.split()[:_KEY_WORDS]),
        content=content,
        namespace=namespace,
        category=facts.get("category", CORE),
        timestamp=_moment(facts.get("at", "")),
        session_id=facts.get("session"),
        importance=_number(facts.get("importance", "")),
        superseded_by=facts.get("superseded_by"),
        source=cast("MemorySource", source) if source in _SOURCES else "person",
    )


def _moment(text: str) -> float | None:
    if (seconds := _number(text)) is not None:
        return seconds
    try:
        return datetime.fromisoformat(text).astimezone(UTC).timestamp()
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < 1e11 else None
