"""The backend `markdown`: MEMORY.md and HISTORY.md in a directory, with an index below it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from claw_acp.config.locations import private_directory
from claw_acp.contracts.memory import Memory, MemoryBackend, MemorySetup
from claw_acp.core.value import replace
from claw_acp.memory import sqlite_backend
from claw_acp.memory.markdown_memory import MarkdownMemory

DIRECTORY: Final = "memory"
INDEX: Final = ".index"


@asynccontextmanager
async def opened(setup: MemorySetup) -> AsyncGenerator[Memory]:
    """See `MemoryBackend`."""
    directory = private_directory(setup.directory) / DIRECTORY
    index = private_directory(directory) / INDEX
    seen = index / "seen.json"
    if not (index / sqlite_backend.FILE).exists():
        seen.unlink(missing_ok=True)  # it was about another index
    async with sqlite_backend.opened(replace(setup, directory=index)) as memory:
        yield MarkdownMemory(directory, index=memory, seen=seen)


if TYPE_CHECKING:
    _conforms: MemoryBackend = opened
