"""The database file: opening, refusing, sharing, failing."""

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from claw_acp.core.errors import StoreError
from claw_acp.store.database import Database, Statement, storable
from claw_acp.store.failures import StoreRefused
from claw_acp.store.migrations import APPLICATION_ID, VERSION

INSERT = (
    "INSERT INTO session (id, cwd, additional_directories, title, mode, model, created_at, updated_at) "
    "VALUES (?, '/', '[]', NULL, 'ask', 'm', 1.0, 1.0)"
)


def insert(*ids: str) -> Statement:
    return Statement(INSERT, [(each,) for each in ids])


def names(directory: Path) -> list[str]:
    return sorted(entry.name for entry in directory.iterdir())


def run_python(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout


def run_together(script: str, *, count: int) -> list[int]:
    """Exit codes of `count` processes of one script, each given its number, let go at the same moment."""
    children = [
        subprocess.Popen([sys.executable, "-c", script, str(number)], stdin=subprocess.PIPE) for number in range(count)
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.write(b"go\n")
        child.stdin.close()
    return [child.wait() for child in children]


async def ids(database: Database) -> list[str]:
    return [row[0] for row in await database.read("SELECT id FROM session ORDER BY id")]


async def test_a_new_database_is_private_and_in_todays_shape(tmp_path: Path) -> None:
    path = tmp_path / "home" / "claw.db"
    async with Database.opened(path) as database:
        await database.transact([insert("a")])
        modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in path.parent.iterdir()}
        pragmas = {name: (await database.read(f"PRAGMA {name}"))[0][0] for name in ("journal_mode", "user_version")}
        health = await database.check_health()
    assert modes == {"claw.db": 0o600, "claw.db-wal": 0o600, "claw.db-shm": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert pragmas == {"journal_mode": "wal", "user_version": VERSION}
    assert (health.problems, health.version) == ((), VERSION)
    assert health.size > 0


async def test_what_was_written_is_there_after_opening_again(tmp_path: Path) -> None:
    for known in ("a", "b"):
        async with Database.opened(tmp_path / "claw.db") as database:
            await database.transact([insert(known)])
    async with Database.opened(tmp_path / "claw.db") as database:
        assert await ids(database) == ["a", "b"]


async def test_a_transaction_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    async with Database.opened(tmp_path / "claw.db") as database:
        assert await database.transact([insert("a", "b"), Statement("DELETE FROM session WHERE id = 'b'")]) == [2, 1]
        with pytest.raises(StoreRefused, match="UNIQUE"):
            await database.transact([insert("c"), insert("a")])
        with pytest.raises(StoreRefused, match="FOREIGN KEY"):
            await database.transact([Statement("INSERT INTO event VALUES ('gone', 1, 'text', '', '{}')")])
        with pytest.raises(StoreRefused):
            await database.transact([insert("d"), insert("\ud800")])
        assert await ids(database) == ["a"]


async def test_a_cancelled_transaction_is_whole_and_the_connection_goes_on(tmp_path: Path) -> None:
    async with Database.opened(tmp_path / "claw.db") as database:
        for turn in range(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(database.transact, [insert(f"{turn}-a"), insert(f"{turn}-b")])
                await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
        found = await ids(database)
    assert {each[:-2] for each in found if each.endswith("a")} == {each[:-2] for each in found if each.endswith("b")}


@pytest.mark.parametrize(
    "content", [b"not a database, but long enough to look at" * 99, b"SQLite format 3\x00" + b"\xff" * 4096, b"x"]
)
async def test_a_damaged_file_is_refused_and_left_as_it_was(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "claw.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"claw\.db is damaged .* left as it is.* CLAW_ACP_HOME"):
        async with Database.opened(path):
            pass
    assert path.read_bytes() == content
    assert names(tmp_path) == ["claw.db"]


async def test_a_schema_cut_short_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "claw.db"
    async with Database.opened(path):
        pass
    content = path.read_bytes()[:4096]
    damaged = content[:200] + b"\xff" * (len(content) - 200)
    path.write_bytes(damaged)
    with pytest.raises(StoreError, match="damaged"):
        async with Database.opened(path):
            pass
    assert path.read_bytes() == damaged


async def test_an_empty_file_becomes_a_database(tmp_path: Path) -> None:
    (tmp_path / "claw.db").touch()
    async with Database.opened(tmp_path / "claw.db") as database:
        assert await ids(database) == []


def write_foreign(path: Path, *, version: int, application: int, crashed: bool) -> bytes:
    """A database made by someone else; a crashed one still has its write-ahead log beside it."""
    script = f"""
import os, sqlite3
connection = sqlite3.connect({str(path)!r}, isolation_level=None)
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("PRAGMA user_version = {version}")
connection.execute("PRAGMA application_id = {application}")
connection.execute("CREATE TABLE theirs (x)")
if {crashed}:
    os._exit(0)
connection.close()
"""
    run_python(script)
    return path.read_bytes()


@pytest.mark.parametrize("crashed", [False, True])
async def test_a_database_of_a_newer_version_is_refused_and_left_as_it_was(tmp_path: Path, *, crashed: bool) -> None:
    path = tmp_path / "claw.db"
    before = write_foreign(path, version=VERSION + 1, application=APPLICATION_ID, crashed=crashed)
    with pytest.raises(StoreError, match=r"newer claw-acp .*update, or set CLAW_ACP_HOME to another place"):
        async with Database.opened(path):
            pass
    assert path.read_bytes() == before


async def test_a_database_of_another_program_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "claw.db"
    before = write_foreign(path, version=0, application=0, crashed=False)
    with pytest.raises(StoreError, match="left as it is"):
        async with Database.opened(path):
            pass
    assert path.read_bytes() == before


async def test_a_crashed_database_of_ours_opens_with_all_that_was_committed(tmp_path: Path) -> None:
    path = tmp_path / "claw.db"
    async with Database.opened(path):
        pass
    script = f"""
import os, sqlite3
connection = sqlite3.connect({str(path)!r}, isolation_level=None)
connection.execute({INSERT!r}, ("kept",))
connection.execute("BEGIN")
connection.execute({INSERT!r}, ("not committed",))
os._exit(0)
"""
    run_python(script)
    async with Database.opened(path) as database:
        assert await ids(database) == ["kept"]


@pytest.mark.parametrize("place", ["a directory", "below a file", "nowhere"])
async def test_a_place_that_cannot_hold_a_file_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    path = {
        "a directory": tmp_path,
        "below a file": tmp_path / "file" / "claw.db",
        "nowhere": Path("/proc/self/no/claw.db"),
    }[place]
    with pytest.raises(StoreError, match=r"cannot be opened for writing .* CLAW_ACP_HOME") as caught:
        async with Database.opened(path):
            pass
    assert str(path) in caught.value.message


def open_as_nobody(path: Path) -> str:
    """What opening says to a user without rights; root has all of them, so it steps down first."""
    script = f"""
import anyio, os, urllib.parse  # which pathlib imports late, when that user may no longer read the interpreter
from pathlib import Path
from claw_acp.core.errors import StoreError
from claw_acp.store.database import Database, Statement
async def main():
    if os.geteuid() == 0:
        os.setuid(65534)
    try:
        async with Database.opened(Path({str(path)!r})) as database:
            await database.transact([Statement({INSERT!r}, [("x",)])])
            print("written")
    except StoreError as error:
        print(error)
anyio.run(main)
"""
    return run_python(script)


@pytest.mark.parametrize("existing", [False, True])
async def test_a_directory_without_write_permission_is_a_clear_error(tmp_path: Path, *, existing: bool) -> None:
    home = tmp_path / "home"
    home.mkdir()
    if existing:
        async with Database.opened(home / "claw.db"):
            pass
        (home / "claw.db").chmod(0o444)
    outer = [parent for parent in home.parents if parent.stat().st_uid == os.geteuid() and parent != Path("/")]
    modes = [(parent, parent.stat().st_mode) for parent in outer]
    home.chmod(0o555)
    try:
        for parent, mode in modes:
            parent.chmod(mode | 0o011)
        said = open_as_nobody(home / "claw.db")
    finally:
        home.chmod(0o755)
        for parent, mode in modes:
            parent.chmod(mode)
    assert "claw.db cannot be opened for writing" in said
    assert "CLAW_ACP_HOME" in said


async def test_a_full_disk_is_a_clear_error_and_later_writes_work(tmp_path: Path) -> None:
    async with Database.opened(tmp_path / "claw.db") as database:
        pages = (await database.read("PRAGMA page_count"))[0][0]
        await database.read(f"PRAGMA max_page_count = {pages + 1}")
        with pytest.raises(StoreError, match=r"disk of the session store .* is full"):
            await database.transact([insert("a"), Statement(INSERT, [("b" * 100_000,)])])
        assert await ids(database) == []
        await database.read("PRAGMA max_page_count = 1000000")
        await database.transact([insert("a")])
        assert await ids(database) == ["a"]


async def test_a_file_damaged_later_is_told_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "claw.db"
    async with Database.opened(path) as database:
        await database.transact([insert(*(f"{number:05}" for number in range(5000)))])
    with path.open("r+b") as file:
        file.seek(4096 * 20)
        file.write(b"\xff" * 4096 * 5)
    async with Database.opened(path) as database:
        assert (await database.check_health()).problems
        with pytest.raises(StoreError, match="damaged"):
            await database.read("SELECT sum(length(id)), max(model) FROM session")


async def test_many_processes_may_make_the_same_database_at_once(tmp_path: Path) -> None:
    path = tmp_path / "home" / "claw.db"
    script = f"""
import anyio, sys
from pathlib import Path
from claw_acp.store.database import Database, Statement
async def main():
    sys.stdin.readline()
    async with Database.opened(Path({str(path)!r})) as database:
        for number in range(20):
            await database.transact([Statement({INSERT!r}, [(f"{{sys.argv[1]}}-{{number}}",)])])
anyio.run(main)
"""
    assert run_together(script, count=6) == [0] * 6
    async with Database.opened(path) as database:
        assert len(await ids(database)) == 120


async def test_a_database_that_another_process_is_just_making_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "claw.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA user_version = 0")
    other.execute("BEGIN IMMEDIATE")  # SQLite refuses the switch to WAL at once, whatever the timeout
    found: list[list[str]] = []

    async def open_and_read() -> None:
        async with Database.opened(path) as database:
            found.append(await ids(database))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(open_and_read)
        for _ in range(100):
            await anyio.to_thread.run_sync(path.stat)
        assert found == []
        other.execute("COMMIT")
        other.close()
    assert found == [[]]


async def test_a_lock_held_by_another_process_does_not_stop_readers(tmp_path: Path) -> None:
    path = tmp_path / "claw.db"
    async with Database.opened(path) as database:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        other.execute(INSERT, ("theirs",))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(database.transact, [insert("ours")])
            async with Database.opened(path) as reader:
                assert await ids(reader) == []
            other.execute("COMMIT")
            other.close()
        assert await ids(database) == ["ours", "theirs"]


def test_lone_surrogates_are_the_text_that_cannot_be_stored() -> None:
    assert storable("ä😀\0")
    assert not storable("\ud800")
