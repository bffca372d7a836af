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


def tidy(connection: sqlite3.Connection, *, now: float) -> int:
    """Remove what is old beyond use; returns how many entries."""
    stale = entries(connection, "superseded_by IS NOT NULL AND category <> ? AND timestamp < ?", (CORE, now - AUDIT))
    crowded = connection.execute(
        "SELECT namespace FROM memory WHERE category <> ? GROUP BY namespace HAVING count(*) > ?", (CORE, MOST_FADING)
    ).fetchall()
    for (namespace,) in crowded:
        stale += entries(
            connection,
            "namespace = ? AND category <> ? AND timestamp < ? AND id NOT IN "
            "(SELECT id FROM memory WHERE namespace = ? AND category <> ? ORDER BY timestamp DESC LIMIT ?)",
            (namespace, CORE, now - YOUNG, namespace, CORE, MOST_FADING),
        )
    return sum(remove(connection, entry.id) for entry in stale)
