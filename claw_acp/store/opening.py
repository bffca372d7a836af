"""Opening a database file: is it ours, is it sound, is its schema current. Blocks: for worker threads.

Nothing is written before the file is known to be ours: a refused file stays unchanged, byte for byte.
"""

import contextlib
import os
import sqlite3
from pathlib import Path
from typing import Final

from claw_acp.core.errors import StoreError
from claw_acp.core.private_directory import make_private
from claw_acp.store.failures import result_code, unusable, unwritable
from claw_acp.store.migrations import SESSIONS, Schema

BUSY_TIMEOUT: Final = 5.0  # seconds to wait for another process's transaction, which takes milliseconds
_FILE_MODE: Final = 0o600
_DIRECTORY_MODE: Final = 0o700
_SMALLEST: Final = 512  # bytes: one page of the smallest kind
_PRAGMAS: Final = (
    "PRAGMA journal_mode = WAL",
    # A killed process loses nothing; only a power cut may cost the last transactions. No fsync a commit.
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
    # The system keeps the file's pages; SQLite's own copies (2 MB by default) would only be counted as ours.
    "PRAGMA cache_size = -256",
)

_WITHOUT_WAITING: Final = "PRAGMA synchronous = OFF"
"""For a file that is just made: it holds nothing that a power cut could cost, and waiting for the disk takes long."""


def open_file(path: Path, *, schema: Schema = SESSIONS) -> sqlite3.Connection:
    """A connection in autocommit mode to the database at `path`, created or migrated as needed.

    Raises:
        StoreError: The place cannot be written; the file is not ours, or was written by a newer version.
        sqlite3.Error: Any error of SQLite; a busy one may be tried again.
    """
    created = _create(path, schema)
    if not created:
        _inspect(path, schema)
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
    try:
        if created:
            connection.execute(_WITHOUT_WAITING).close()
        for pragma in _PRAGMAS:
            connection.execute(pragma).close()
        while _version(connection) < schema.version:
            _migrate(connection, schema)
    except BaseException:
        connection.close()
        raise
    return connection


def _create(path: Path, schema: Schema) -> bool:
    """Create an empty file only its owner can read (SQLite gives its companions the same mode); False if it exists.

    An existing file is never opened here: closing it would drop the locks SQLite holds on it in this process.
    """
    try:
        make_private(path.parent)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, _FILE_MODE))
    except FileExistsError as error:
        if not path.is_file():
            raise unwritable(path, schema.store, cause="it or its directory is not what it should be") from error
        return False
    except OSError as error:
        raise unwritable(path, schema.store, cause=error.strerror or str(error)) from error
    return True


def _inspect(path: Path, schema: Schema) -> None:
    """Check an existing file in read-only mode (a writing connection would merge the log into it).

    Raises:
        StoreError: It is not ours to write.
    """
    if 0 < path.stat().st_size < _SMALLEST:
        raise unusable(path)  # SQLite would take it for an empty one
    with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        try:
            tables: int = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            version = _version(connection)
            application: int = connection.execute("PRAGMA application_id").fetchone()[0]
        except sqlite3.OperationalError as error:
            if result_code(error) in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}:
                return  # its last writer was killed: only a writing connection can tidy up, and it will tell the rest
            raise
    if version > schema.version:
        raise StoreError(
            f"{path} was written by a newer claw-acp (version {version}, this one knows {schema.version}); "
            "update, or set CLAW_ACP_HOME to another place"
        )
    if tables and application != schema.application_id:
        raise unusable(path)


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _migrate(connection: sqlite3.Connection, schema: Schema) -> None:
    """Run one step, unless another process ran it while we waited for the lock."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection)
        if version < schema.version:
            for statement in schema.steps[version]:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {schema.application_id}")
            connection.execute(f"PRAGMA user_version = {version + 1}")
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # the first error is the one to tell
            connection.execute("ROLLBACK")
        raise
