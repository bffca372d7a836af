"""What is removed so that memories stay few: never core entries, and nothing young."""

import sqlite3
from typing import Final

from claw_acp.contracts.memory import CORE
from claw_acp.memory.rows import entries, remove

MOST_FADING: Final = 5_000
"""Entries of a namespace that are not core; beyond, the oldest are removed."""

YOUNG: Final = 30 * 86_400.0
"""Seconds for which every entry is kept, however many there are."""

AUDIT: Final = 180 * 86_400.0
"""Seconds for which replaced entries are kept, so that one can see what was believed."""

_AT_ONCE: Final = 100  # entries removed of each kind: whoever stores waits for it


def tidy(connection: sqlite3.Connection, *, now: float) -> int:
    """Remove what is old beyond use; returns how many entries."""
    replaced = "superseded_by IS NOT NULL AND category <> ? AND timestamp < ? LIMIT ?"
    stale = entries(connection, replaced, (CORE, now - AUDIT, _AT_ONCE))
    crowded = connection.execute(
        "SELECT namespace, count(*) FROM memory WHERE category <> ? GROUP BY namespace HAVING count(*) > ?",
        (CORE, MOST_FADING),
    ).fetchall()
    for namespace, count in crowded:
        stale += entries(
            connection,
            "namespace = ? AND category <> ? AND timestamp < ? ORDER BY timestamp LIMIT ?",
            (namespace, CORE, now - YOUNG, min(count - MOST_FADING, _AT_ONCE)),
        )
    return sum(remove(connection, entry.id) for entry in stale)
