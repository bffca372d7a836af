"""Entries as rows of the database, and what the search index has of them."""

import sqlite3
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Final

from claw_acp.contracts.memory import MemoryEntry, MemoryFilter
from claw_acp.core.value import replace
from claw_acp.memory.search_words import indexed_text

_FIELDS: Final = (
    "id", "key", "content", "category", "timestamp", "session_id", "namespace", "importance", "superseded_by", "source",
)  # fmt: skip
COLUMNS: Final = ", ".join(_FIELDS)
_MARKS: Final = ", ".join(["?"] * (len(_FIELDS) + 1))


def sign_of(namespace: str) -> str:
    """The letters before each word of a namespace in the index.

    So a search visits the entries of its own namespaces alone, however many others there are.
    """
    return f"s{blake2b(namespace.encode(errors='surrogatepass'), digest_size=6).hexdigest()}"


def entry_of(row: Sequence[Any]) -> MemoryEntry:
    """The entry in a row of `COLUMNS`."""
    return MemoryEntry(**dict(zip(_FIELDS, row, strict=True)))


def entries(connection: sqlite3.Connection, where: str, params: Sequence[object] = ()) -> list[MemoryEntry]:
    """The entries that a condition (with order and limit) chooses."""
    rows = connection.execute(f"SELECT {COLUMNS} FROM memory WHERE {where}", params)  # noqa: S608 - texts of ours
    return [entry_of(row) for row in rows]


def insert(connection: sqlite3.Connection, entry: MemoryEntry) -> None:
    """Add an entry to the table and, if it is recallable, to the index."""
    words = indexed_text(f"{entry.key} {entry.content}", sign=sign_of(entry.namespace))
    values = [getattr(entry, field) for field in _FIELDS]
    added = connection.execute(
        f"INSERT INTO memory ({COLUMNS}, words) VALUES ({_MARKS})",  # noqa: S608 - names and question marks
        [*values, words],
    )
    if entry.superseded_by is None:
        connection.execute("INSERT INTO memory_words (rowid, words) VALUES (?, ?)", (added.lastrowid, words))


def remove(connection: sqlite3.Connection, entry_id: str) -> bool:
    """Remove an entry from table and index; False if there is none."""
    _unindex(connection, entry_id)
    return connection.execute("DELETE FROM memory WHERE id = ?", (entry_id,)).rowcount > 0


def supersede(connection: sqlite3.Connection, old: MemoryEntry, *, by: str) -> None:
    """Mark an entry as replaced."""
    remove(connection, old.id)
    insert(connection, replace(old, superseded_by=by))


def condition(chosen: MemoryFilter) -> tuple[str, list[object]]:
    """A filter as an SQL condition with its parameters."""
    parts, params = (["1"] if chosen.superseded else ["superseded_by IS NULL"]), list[object]()
    if chosen.namespaces:
        parts.append(f"namespace IN ({', '.join('?' * len(chosen.namespaces))})")
        params += chosen.namespaces
    given = {
        "key = ?": chosen.key,
        "category = ?": chosen.category,
        "session_id = ?": chosen.session_id,
        "timestamp >= ?": chosen.since,
        "timestamp <= ?": chosen.until,
    }
    parts += [part for part, value in given.items() if value is not None]
    params += [value for value in given.values() if value is not None]
    return " AND ".join(parts), params


def _unindex(connection: sqlite3.Connection, entry_id: str) -> None:
    connection.execute(
        "INSERT INTO memory_words (memory_words, rowid, words) "
        "SELECT 'delete', number, words FROM memory WHERE id = ? AND superseded_by IS NULL",
        (entry_id,),
    )
