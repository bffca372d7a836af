"""The schema of the memories' database. Released steps are never edited."""

import sqlite3
from typing import Final

from claw_acp.store.migrations import Schema

_INDEX: Final = (
    # What can be recalled: replaced entries are not in the index.
    """
    CREATE VIEW recallable (rowid, scope, words) AS
        SELECT number, scope, words FROM memory WHERE superseded_by IS NULL
    """,
    """
    CREATE VIRTUAL TABLE memory_words USING fts5
        (scope, words, content = 'recallable', tokenize = 'porter unicode61 remove_diacritics 2')
    """,
)
_NO_INDEX: Final = (
    "DROP TABLE IF EXISTS memory_words",
    "DROP VIEW IF EXISTS recallable",
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
        scope         TEXT NOT NULL,            -- the namespace as one word, for the index
        words         TEXT NOT NULL             -- what is indexed of key and content
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

MEMORIES: Final = Schema(application_id=0x434C4D45, steps=((*_ENTRIES, *_INDEX),), store="store of memories")
"""The database of memories ("CLME")."""


def rebuild_index(connection: sqlite3.Connection) -> None:
    """Build the search index anew from the entries."""
    for statement in (*_NO_INDEX, *_INDEX):
        connection.execute(statement)
    connection.execute("INSERT INTO memory_words (memory_words) VALUES ('rebuild')")
