"""The schema of the memories' database. Released steps are never edited."""

import sqlite3
from typing import Final

from claw_acp.store.migrations import Schema

_INDEX: Final = (
    # What can be recalled: replaced entries are not in the index.
    """
    CREATE VIEW recallable (rowid, words) AS
        SELECT number, words FROM memory WHERE superseded_by IS NULL
    """,
    """
    CREATE VIRTUAL TABLE memory_words USING fts5
        (words, content = 'recallable', tokenize = 'porter unicode61 remove_diacritics 2')
    """,
)
_ENTRIES: Final = (
    """
    CREATE TABLE memory (
        number        INTEGER PRIMARY KEY,      -- the index knows it by this
        id            TEXT NOT NULL UNIQUE,
        key           TEXT NOT NULL,
        content       TEXT NOT NULL,
        category      TEXT NOT NULL,
        timestamp     REAL NOT NULL,            -- seconds since the epoch
        session_id    TEXT,
        namespace     TEXT NOT NULL,
        importance    REAL,
        superseded_by TEXT,
        source        TEXT NOT NULL,            -- person, agent, stranger
        words         TEXT NOT NULL             -- what is indexed: words of key and content behind the namespace's sign
    )
    """,
    "CREATE INDEX memory_by_namespace ON memory (namespace, superseded_by, category, timestamp)",
    "CREATE INDEX memory_by_key ON memory (namespace, key)",
    "CREATE INDEX memory_by_session ON memory (session_id) WHERE session_id IS NOT NULL",
    # By the hash of a text and the model: what was embedded once is never asked for again.
    """
    CREATE TABLE memory_vector (
        hash   TEXT NOT NULL,
        model  TEXT NOT NULL,
        vector BLOB NOT NULL,                   -- 32-bit floats, of length one
        PRIMARY KEY (model, hash)
    ) WITHOUT ROWID
    """,
)
_VECTORS: Final = (
    "DROP TABLE memory_vector",  # by hash: unused until now
    """
    CREATE TABLE memory_vector (
        number INTEGER PRIMARY KEY,             -- of the entry
        model  TEXT NOT NULL,
        vector BLOB NOT NULL                    -- 32-bit floats, little-endian, of length one
    )
    """,
    # Apart from the vectors, so that a search reads 48 bytes of an entry and not two thousand.
    """
    CREATE TABLE memory_sign (
        namespace TEXT NOT NULL,
        number    INTEGER NOT NULL,
        model     TEXT NOT NULL,
        signs     BLOB NOT NULL,                -- a bit for each number of the vector
        PRIMARY KEY (namespace, number)
    ) WITHOUT ROWID
    """,
    """
    CREATE TRIGGER memory_without_vector AFTER DELETE ON memory BEGIN
        DELETE FROM memory_vector WHERE number = old.number;
        DELETE FROM memory_sign WHERE namespace = old.namespace AND number = old.number;
    END
    """,
)

MEMORIES: Final = Schema(application_id=0x434C4D45, steps=((*_ENTRIES, *_INDEX), _VECTORS), store="store of memories")
"""The database of memories ("CLME")."""


_EMPTY_INDEX: Final = (
    "DELETE FROM memory_words_data",
    "DELETE FROM memory_words_idx",
    "DELETE FROM memory_words_docsize",
    "DELETE FROM memory_words_config",
    "INSERT INTO memory_words_config VALUES ('version', 4)",
    "INSERT INTO memory_words_data VALUES (1, x''), (10, x'00000000000000')",  # averages and structure of a new one
    "INSERT INTO memory_words (memory_words) VALUES ('rebuild')",
)


def rebuild_index(connection: sqlite3.Connection) -> None:
    """Build the search index anew from the entries, inside a transaction."""
    # Emptied by hand: SQLite reads a damaged index before it drops or builds it, and fails.
    for statement in _EMPTY_INDEX:
        connection.execute(statement)


def is_index_sound(connection: sqlite3.Connection) -> bool:
    """Return whether the search index has what the entries have, inside a transaction. Reads all of both."""
    try:
        connection.execute("INSERT INTO memory_words (memory_words, rank) VALUES ('integrity-check', 1)")
    except (sqlite3.Error, MemoryError):  # a damaged index may have sizes in it that no memory holds
        return False
    return True
