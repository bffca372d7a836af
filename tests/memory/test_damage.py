"""Memories after damage, a kill, and with two programs at once."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from claw_acp.memory.sqlite_backend import FILE, opened
from tests.memory.support import TestClock, setup_of

WRITER = """
import anyio, sys
from pathlib import Path
from claw_acp.memory.{backend}_backend import opened
from tests.memory.support import setup_of
from claw_acp.core.clock import SYSTEM_CLOCK
async def main():
    async with opened(setup_of(Path(sys.argv[1]), clock=SYSTEM_CLOCK)) as memory:
        number = 0
        while True:
            await memory.store("fact %d" % number, "Machine number %d is called n%d." % (number, number))
            print(number, flush=True)
            number += 1
anyio.run(main)
"""


def started(directory: Path, *, backend: str = "sqlite") -> subprocess.Popen[str]:
    """A program that stores memories, and says the number of each once it is kept, until it is killed."""
    root, program = Path(__file__).parents[2], WRITER.format(backend=backend)
    return subprocess.Popen(
        [sys.executable, "-c", program, str(directory)], stdout=subprocess.PIPE, text=True, cwd=root
    )


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE memory_words_data SET block = randomblob(20)",
        "UPDATE memory_words_data SET block = x'ffffffffffffffffffff'",
        "UPDATE memory_words_data SET block = x''",
        "UPDATE memory_words_data SET block = substr(block, 1, 9) || x'ffffff7f'",
        "DELETE FROM memory_words_data",
        "DELETE FROM memory_words_config",
        "DELETE FROM memory_words_docsize",
        "UPDATE memory_words_idx SET term = x'ff', pgno = 1 << 30",
    ],
)
async def test_an_index_that_is_damaged_in_any_way_is_built_again(tmp_path: Path, damage: str) -> None:
    setup = setup_of(tmp_path, clock=TestClock())
    async with opened(setup) as memory:
        await memory.store("deploy", "Deploys run on Fridays.")
    with contextlib.closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute(damage)
        connection.commit()
    async with opened(setup) as memory:
        await memory.recall("deploys")  # what is not seen to be damaged finds nothing
        assert await memory.health_check() == ()
        assert [entry.key for entry in await memory.recall("deploys")] == ["deploy"]
        await memory.store("lint", "The linter is ruff.")
        assert [entry.key for entry in await memory.recall("linter")] == ["lint"]


async def test_a_file_that_is_no_database_is_moved_aside_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE).write_bytes(b"not a database" * 1000)
    async with opened(setup_of(tmp_path)) as memory:
        await memory.store("deploy", "Deploys run on Fridays.")
        assert await memory.count() == 1
    (aside,) = [path async for path in anyio.Path(tmp_path).glob(f"{FILE}.damaged-*")]
    assert (await aside.read_bytes()).startswith(b"not a database")
    assert "moved aside" in caplog.text


async def test_nothing_that_was_stored_is_lost_by_a_kill_while_another_program_writes(tmp_path: Path) -> None:
    child = started(tmp_path)
    assert child.stdout is not None
    async with opened(setup_of(tmp_path)) as memory:
        for number in range(20):
            await anyio.to_thread.run_sync(child.stdout.readline)
            await memory.store(f"own {number}", f"Colour {number} is c{number}.")
        os.kill(child.pid, signal.SIGKILL)
        told = [19, *map(int, child.stdout.read().split())]
        child.wait()
        child.stdout.close()
        kept = {entry.key for entry in await memory.list(limit=100_000)}
        assert kept >= {f"fact {number}" for number in range(max(told) + 1)} | {f"own {number}" for number in range(20)}
        assert [entry.key for entry in await memory.recall("n7")] == ["fact 7"]
        assert await memory.health_check() == ()
