import os
import sys
from pathlib import Path

import pytest

from claw_acp.core.errors import ToolError
from claw_acp.tools.search.process import run_search

LOOP = "import os, sys\nprint(os.getpid(), flush=True)\nwhile True: pass\n"


async def test_a_search_that_never_ends_is_stopped_at_the_limit_and_its_process_is_gone(tmp_path: Path) -> None:
    rows: list[str] = []

    def take(row: str) -> bool:
        rows.append(row)
        return True

    end = await run_search([sys.executable, "-c", LOOP], cwd=tmp_path, take=take, time_limit=1.0)
    assert (end.code, end.late) == (None, True)
    with pytest.raises(ProcessLookupError):
        os.kill(int(rows[0]), 0)


async def test_enough_ends_the_search(tmp_path: Path) -> None:
    endless = "while True: print('x')"
    rows: list[str] = []

    def take(row: str) -> bool:
        rows.append(row)
        return len(rows) < 10

    end = await run_search([sys.executable, "-c", endless], cwd=tmp_path, take=take)
    assert (len(rows), end.code, end.late) == (10, None, False)


async def test_a_row_without_end_ends_the_search(tmp_path: Path) -> None:
    endless = "import sys\nwhile True: sys.stdout.write('x' * 1000)"
    assert (await run_search([sys.executable, "-c", endless], cwd=tmp_path, take=lambda _: True)).code is None


async def test_only_the_beginning_of_complaints_is_kept_and_all_of_them_read(tmp_path: Path) -> None:
    loud = "import sys\nsys.stderr.write('no' * 500_000)\nsys.exit(2)"
    end = await run_search([sys.executable, "-c", loud], cwd=tmp_path, take=lambda _: True)
    assert (end.code, len(end.complaint)) == (2, 4_000)


async def test_a_program_that_cannot_start_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"could not be started \(/nonexistent/rg\)"):
        await run_search(["/nonexistent/rg"], cwd=tmp_path, take=lambda _: True)
