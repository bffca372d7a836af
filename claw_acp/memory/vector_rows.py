"""The vectors of entries in the database. What is there is derived: whatever is missing is made again."""

import sqlite3
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from claw_acp.core.value import Value
from claw_acp.memory.vectors import SAMPLE, nearest, signs_of, similar

LONGEST_TEXT: Final = 2_000  # characters of an entry that are embedded: most models read no further


class Missing(Value):
    """An entry without a vector: its row, its id, and the text to embed."""

    number: int
    id: str
    text: str


def without_vector(
    connection: sqlite3.Connection, *, model: str, most: int, refused: AbstractSet[int]
) -> Sequence[Missing]:
    """The newest entries that can be recalled and have no vector of a model, but those that were refused."""
    rows = connection.execute(
        "SELECT number, id, substr(key || ': ' || content, 1, ?) FROM memory WHERE superseded_by IS NULL AND number "
        "NOT IN (SELECT number FROM memory_vector WHERE model = ?) ORDER BY number DESC LIMIT ?",
        (LONGEST_TEXT, model, most + len(refused)),
    )
    found = [Missing(number=number, id=entry_id, text=text) for number, entry_id, text in rows if number not in refused]
    return found[:most]


def put_vectors(
    connection: sqlite3.Connection, given: Sequence[Missing], vectors: Sequence[bytes], *, model: str
) -> None:
    """Store the vectors of entries that are still as they were, and remove those of another length."""
    other = "model = ? AND length(vector) <> ?"
    if connection.execute(f"DELETE FROM memory_vector WHERE {other}", (model, len(vectors[0]))).rowcount:  # noqa: S608
        connection.execute("DELETE FROM memory_sign WHERE number NOT IN (SELECT number FROM memory_vector)")
    for entry, vector in zip(given, vectors, strict=True):
        found = connection.execute(
            "SELECT namespace FROM memory WHERE number = ? AND id = ? AND superseded_by IS NULL "
            "AND substr(key || ': ' || content, 1, ?) = ?",
            (entry.number, entry.id, len(entry.text), entry.text),
        ).fetchone()
        if found is not None:
            connection.execute("REPLACE INTO memory_vector VALUES (?, ?, ?)", (entry.number, model, vector))
            signs = (found[0], entry.number, model, signs_of(vector))
            connection.execute("REPLACE INTO memory_sign VALUES (?, ?, ?, ?)", signs)


def vector_hits(
    connection: sqlite3.Connection, query: bytes, *, model: str, namespaces: Sequence[str], among: int = 100
) -> Sequence[int]:
    """The numbers of the entries that mean something near, nearest first, at most `among`.

    No namespaces: all of them.
    """
    where = f"namespace IN ({', '.join('?' * len(namespaces))})" if namespaces else "1"
    rows: list[tuple[int, bytes]] = connection.execute(
        f"SELECT number, signs FROM memory_sign WHERE {where} AND model = ?",  # noqa: S608 - question marks
        [*namespaces, model],
    ).fetchall()
    sample = [number for number, _ in rows[:: len(rows) // SAMPLE + 1]]
    wanted = {*nearest(query, rows), *sample}
    vectors = connection.execute(
        "SELECT number, vector FROM memory_vector WHERE model = ? "  # noqa: S608 - question marks
        f"AND number IN ({', '.join('?' * len(wanted))})",
        [model, *wanted],
    )
    return similar(query, dict(vectors.fetchall()), sample=sample, among=len(rows))[:among]
