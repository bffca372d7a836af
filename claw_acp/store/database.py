"""One SQLite file, used by any number of processes: the only place that knows aiosqlite.

Writing is by whole transactions and reading by single statements; each is one visit to the connection's thread, since
the visits cost more than SQLite does.
"""

import contextlib
import sqlite3
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar, cast

import aiosqlite
import anyio
import anyio.to_thread

from claw_acp.core.errors import StoreError
from claw_acp.core.value import Value
from claw_acp.store.failures import is_busy, result_code, store_error
from claw_acp.store.migrations import SESSIONS, Schema
from claw_acp.store.opening import BUSY_TIMEOUT, open_file

OPEN_LIMIT: Final = 2 * BUSY_TIMEOUT  # seconds until a store that others keep busy is given up
_OPEN_RETRY: Final = 0.01  # seconds; SQLite does not queue for the switch to WAL, which happens once in a file's life
_CLOSE_LIMIT: Final = 1.5  # seconds; the whole program has two
_FETCH: Final = 64  # rows a visit when iterating; we never iterate

SqlValue: TypeAlias = str | int | float | bytes | None
Row: TypeAlias = tuple[Any, ...]
_T = TypeVar("_T")


class Statement:
    """A writing statement, run once for each of `rows` (its parameters)."""

    def __init__(self, sql: str, rows: Sequence[Sequence[SqlValue]] = ((),)) -> None:
        self.sql, self.rows = sql, rows


class Health(Value):
    """The result of a check. `problems` is empty for a sound database; sizes are in bytes."""

    path: Path
    version: int
    size: int
    problems: tuple[str, ...]


class _Connection(aiosqlite.Connection):
    """A connection that can run a whole function in its thread: a transaction in one visit instead of four or more."""

    async def run(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run `work` in the connection's thread. It runs to its end even if the caller is cancelled."""
        done: object = await self._execute(work, self._conn)  # pyright: ignore[reportUnknownMemberType] - unannotated
        return cast("_T", done)


class Database:
    """An open database. Make one with `opened`."""

    def __init__(self, connection: _Connection, *, path: Path, schema: Schema) -> None:
        self._connection = connection
        self._schema = schema
        self.path = path

    @classmethod
    @asynccontextmanager
    async def opened(cls, path: Path, *, schema: Schema = SESSIONS) -> "AsyncGenerator[Database]":
        """Open the database at `path` for the block; a missing one is created (0600, its directory 0700).

        Raises:
            StoreError: It cannot be used; the text says why and what to do. A refused file is left untouched.
        """
        connection = await _connect(path, schema)
        try:
            yield cls(connection, path=path, schema=schema)
        finally:
            with anyio.move_on_after(_CLOSE_LIMIT, shield=True):
                await connection.close()

    async def read(self, sql: str, params: Sequence[SqlValue] = ()) -> list[Row]:
        """All rows of one reading statement.

        Raises:
            StoreError: The store failed.
        """
        return await self._run(partial(_read, sql=sql, params=params))

    async def transact(self, statements: Sequence[Statement]) -> list[int]:
        """Run all statements in one transaction; returns the number of rows that each one changed.

        Raises:
            StoreRefused: A row cannot be stored (it contradicts another, it is too large).
            StoreError: The store failed: full disk, damage, another process that does not release it.
        """
        return await self._run(partial(_transact, statements=statements))

    async def reading(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """The result of a function that reads, with several statements in one visit.

        Raises:
            StoreError: The store failed.
        """
        return await self._run(work)

    async def writing(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """The result of a function that runs as one transaction: what it reads, nobody changes before it writes.

        Raises:
            StoreRefused: A row cannot be stored.
            StoreError: The store failed; nothing was changed.
        """
        return await self._run(partial(_in_transaction, work=work))

    async def check_health(self) -> Health:
        """Read the whole file and check it; takes time in proportion to its size.

        Raises:
            StoreError: It cannot even be checked.
        """
        return await self._run(partial(_check, path=self.path, schema=self._schema))

    async def _run(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        try:
            return await self._connection.run(work)
        except sqlite3.Error as error:
            raise store_error(error, path=self.path, store=self._schema.store) from error
        except (UnicodeEncodeError, OverflowError) as error:
            wrong = sqlite3.DataError(str(error))
            raise store_error(wrong, path=self.path, store=self._schema.store) from error


def storable(text: str) -> bool:
    """Return whether a text column can hold `text`: SQLite stores UTF-8, which has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


async def _connect(path: Path, schema: Schema) -> _Connection:
    # Shielded: a connection whose opening is abandoned halfway would never be closed.
    with anyio.move_on_after(OPEN_LIMIT, shield=True):
        while True:
            try:
                return await _adopt(await anyio.to_thread.run_sync(partial(open_file, path, schema=schema)))
            except sqlite3.Error as error:
                if not is_busy(error):
                    raise store_error(error, path=path, store=schema.store) from error
            await anyio.sleep(_OPEN_RETRY)
    raise StoreError(f"the {schema.store} {path} is held by another process; try again when it is done")


async def _adopt(opened: sqlite3.Connection) -> _Connection:
    """A connection with a thread for `opened`.

    aiosqlite does not open it: its thread cannot be awaited if that fails.
    """
    connection = _Connection(lambda: opened, _FETCH)
    await connection
    return connection


def _read(connection: sqlite3.Connection, *, sql: str, params: Sequence[SqlValue]) -> list[Row]:
    return connection.execute(sql, params).fetchall()


def _transact(connection: sqlite3.Connection, *, statements: Sequence[Statement]) -> list[int]:
    def run(connection: sqlite3.Connection) -> list[int]:
        return [connection.executemany(statement.sql, statement.rows).rowcount for statement in statements]

    return _in_transaction(connection, work=run)


def _in_transaction(connection: sqlite3.Connection, *, work: Callable[[sqlite3.Connection], _T]) -> _T:
    connection.execute("BEGIN IMMEDIATE")  # take the write lock first: upgrading later can fail without waiting
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # SQLite may have rolled back itself; the first error is the one
            connection.execute("ROLLBACK")
        raise
    return result


def _check(connection: sqlite3.Connection, *, path: Path, schema: Schema) -> Health:
    problems: list[str] = []
    try:
        problems += [str(row[0]) for row in connection.execute("PRAGMA quick_check(20)") if row[0] != "ok"]
        if orphans := connection.execute("PRAGMA foreign_key_check").fetchall():
            problems.append(f"{len(orphans)} rows belong to sessions that do not exist")
    except sqlite3.DatabaseError as error:
        if result_code(error) != sqlite3.SQLITE_CORRUPT:
            raise
        problems.append(str(error))
    return Health(path=path, version=schema.version, size=path.stat().st_size, problems=tuple(problems))
