"""SQLite's errors, as errors a person can act on."""

import sqlite3
from pathlib import Path
from typing import Final

from claw_acp.core.errors import StoreError

_PRIMARY_CODE: Final = 0xFF  # an extended result code carries its primary code in the low byte


class StoreRefused(StoreError):
    """The store works, but these rows cannot be stored: they contradict others or are too large."""

    code = -31023


class StoreDamaged(StoreError):
    """The file is no sound database: something in it, or all of it."""


def result_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code; 0 when Python raised the error before SQLite was asked."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & _PRIMARY_CODE


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another process held the database just then."""
    return result_code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def unusable(path: Path) -> StoreDamaged:
    """The error for a file that is no healthy database."""
    return StoreDamaged(
        f"{path} is damaged or is not a database; it was left as it is. Move it away to start over, "
        "restore it from a backup, or set CLAW_ACP_HOME to another place"
    )


def store_error(error: sqlite3.Error, *, path: Path, store: str) -> StoreError:
    """The error for a person: what happened to the database at `path`, a `store` of some kind, and what to do."""
    match result_code(error):
        case sqlite3.SQLITE_CONSTRAINT | sqlite3.SQLITE_TOOBIG:
            return StoreRefused(f"the {store} {path} refused a row: {error}")
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return unusable(path)
        case sqlite3.SQLITE_FULL:
            return StoreError(f"the disk of the {store} {path} is full ({error}); free some space and try again")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreError(f"the {store} {path} is held by another process; try again when it is done")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN:
            return unwritable(path, store, cause=str(error))
        case sqlite3.SQLITE_IOERR:
            return StoreError(
                f"the {store} {path} cannot be read or written ({error}); "
                "check its disk, the space left there, and the limit of file sizes (ulimit -f)"
            )
        case _ if isinstance(error, (sqlite3.DataError, sqlite3.InterfaceError, sqlite3.ProgrammingError)):
            return StoreRefused(f"the {store} {path} refused a row: {error}")
        case _:
            return StoreError(f"the {store} {path} failed: {error}")


def unwritable(path: Path, store: str, *, cause: str) -> StoreError:
    """The error for a place that cannot be written."""
    return StoreError(
        f"the {store} {path} cannot be opened for writing ({cause}); "
        "give it write permission or set CLAW_ACP_HOME to another place"
    )
