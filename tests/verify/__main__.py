"""`python -m tests.verify [FAULT...]`: try each fault alone, which takes minutes, and print what found it."""

import sys
import tempfile
from functools import partial
from pathlib import Path

import anyio

from tests.verify.checker import checked, failed, faulty
from tests.verify.faults import FOUND_BY

AT_ONCE = 3


async def main(names: list[str]) -> int:
    """Try them; 1 when one was not found as the table says."""
    wrong: list[str] = []
    limiter = anyio.CapacityLimiter(AT_ONCE)

    async def try_one(name: str) -> None:
        async with limiter:
            with tempfile.TemporaryDirectory() as folder:
                found = failed(await checked(faulty(name), Path(folder)))
        fine = found.keys() == set(FOUND_BY[name])
        print(f"{'ok' if fine else 'WRONG':<6}{name}: {', '.join(found)}", flush=True)
        if not fine:
            wrong.append(name)

    async with anyio.create_task_group() as tasks:
        for name in names or FOUND_BY:
            tasks.start_soon(try_one, name)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(anyio.run(partial(main, sys.argv[1:])))
