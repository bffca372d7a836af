"""`python -m tests.recorded`: record the conversations again. Look at the diff before keeping it."""

from pathlib import Path

import anyio

from tests.recorded.conversation import FAMILIES, HELD, hold, service

HERE = Path(__file__).parent


async def main() -> None:
    """Hold each conversation and write it down."""
    for name, family in FAMILIES.items():
        file = HERE / f"{name}.jsonl"
        file.unlink(missing_ok=True)
        with service(family) as url:
            held = await hold(name, url=url, file=file)
        print(f"{name}.jsonl: {file.stat().st_size} bytes{'' if held == HELD else f', held otherwise: {held}'}")


anyio.run(main)
