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
from claw_acp.core.value import Record, Value
from claw_acp.memory.normalizing import is_storable

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


class _Part(Record):
    """Lines of a file: a list item with what is indented below it, or what stands between items."""

    namespace: str
    lines: list[str]
    item: bool = False


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


def edited(name: str, text: str, entries: Sequence[MemoryEntry]) -> str:
    """The text of a file with these entries: what says the same already stays to the letter, as do notes between them.

    Entries that the file does not have stand at the end of their namespace.
    """
    left = {entry.id: entry for entry in entries}
    parts: list[_Part] = []
    for part in _parts(text or f"{_TITLES[name]}\n"):
        found = _entry(part.namespace, _dedented(part.lines)) if part.item else None
        if found is None or not is_storable(found.key, found.content):
            parts.append(part)
        elif (entry := _meant(found, left)) is not None:
            item = _item(left.pop(entry.id))
            same = part.lines == item.lines or found == _read_again(item)
            parts.append(part if same else item)
    for entry in sorted(left.values(), key=lambda entry: (entry.namespace, entry.timestamp, entry.id)):
        _add(parts, entry)
    return "\n".join("\n".join(part.lines) for part in parts).rstrip("\n") + "\n"


def _meant(found: ReadEntry, entries: Mapping[str, MemoryEntry]) -> MemoryEntry | None:
    """The entry of an item: that with its id, or for a new one that which says the same."""
    if (known := entries.get(found.id or "")) is not None:
        return known
    alike = (entry for entry in entries.values() if (entry.namespace, entry.key) == (found.namespace, found.key))
    return next((entry for entry in alike if entry.content.split() == found.content.split()), None)


def _read_again(item: _Part) -> ReadEntry:
    return _entry(item.namespace, _dedented(item.lines))


def _item(entry: MemoryEntry) -> _Part:
    return _Part(namespace=entry.namespace, lines=_line(entry).split("\n"), item=True)


def _add(parts: list[_Part], entry: MemoryEntry) -> None:
    """Put a new item behind the last one of its namespace, or below a heading of its own."""
    new = _item(entry)
    within = [at for at, part in enumerate(parts) if part.namespace == entry.namespace]
    items = [at for at in within if parts[at].item]
    if items:
        parts.insert(items[-1] + 1, new)
    elif within and any(line.startswith("## ") for line in parts[within[-1]].lines):
        parts.insert(within[-1] + 1, new)
    else:
        blank = [""] if not parts or parts[-1].lines[-1] else []
        parts += [_Part(namespace=entry.namespace, lines=[*blank, f"## {entry.namespace}", ""]), new]


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
    return ((part.namespace, _dedented(part.lines)) for part in _parts(text) if part.item)


def _dedented(lines: Sequence[str]) -> list[str]:
    return [lines[0], *(line.removeprefix(_INDENT) if line.strip() else "" for line in lines[1:])]


def _parts(text: str) -> Iterator[_Part]:
    """The list items, and what stands between them, in order."""
    namespace, parts = DEFAULT_NAMESPACE, list[_Part]()
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.startswith("## "):
            namespace = line.removeprefix("## ").strip() or DEFAULT_NAMESPACE
        last = parts[-1] if parts else None
        below = last is not None and last.item and (line.startswith(_INDENT) or not line.strip())
        beside = last is not None and not last.item and last.namespace == namespace
        if line.startswith("- "):
            parts.append(_Part(namespace=namespace, lines=[line], item=True))
        elif last is not None and (below or beside):
            last.lines.append(line)
        else:
            parts.append(_Part(namespace=namespace, lines=[line]))
    for part in parts:
        yield from _apart(part)


def _apart(part: _Part) -> Iterator[_Part]:
    """A part, and apart from it the blank lines at the end of an item."""
    end = len(part.lines)
    while part.item and not part.lines[end - 1].strip():
        end -= 1
    yield _Part(namespace=part.namespace, lines=part.lines[:end], item=part.item)
    if end < len(part.lines):
        yield _Part(namespace=part.namespace, lines=part.lines[end:])


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
