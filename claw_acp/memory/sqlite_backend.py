"""The backend `sqlite`: opens the file of memories; a damaged one is moved aside."""

import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from claw_acp.config.atomic_file import only_writer
from claw_acp.config.locations import private_directory
from claw_acp.contracts.memory import Memory, MemoryBackend, MemorySetup
from claw_acp.memory.schema import MEMORIES
from claw_acp.memory.sqlite_memory import SqliteMemory
from claw_acp.store.database import Database
from claw_acp.store.failures import StoreDamaged

log = logging.getLogger(__name__)

FILE: Final = "memory.db"


@asynccontextmanager
async def opened(setup: MemorySetup) -> AsyncGenerator[Memory]:
    """See `MemoryBackend`."""
    path = private_directory(setup.directory) / FILE
    async with AsyncExitStack() as stack:
        try:
            database = await stack.enter_async_context(Database.opened(path, schema=MEMORIES))
        except StoreDamaged:
            with only_writer(path):
                await _move_aside_unless_sound(path, now=setup.clock.now())
            database = await stack.enter_async_context(Database.opened(path, schema=MEMORIES))
        yield SqliteMemory(database, setup)


async def _move_aside_unless_sound(path: Path, *, now: float) -> None:
    """Rename the damaged file and its companions, unless another process has done so meanwhile."""
    try:
        async with Database.opened(path, schema=MEMORIES):
            return
    except StoreDamaged:
        aside = path.with_name(f"{path.name}.damaged-{now:.0f}")
    for end in ("-wal", "-shm", ""):
        found = path.with_name(f"{path.name}{end}")
        if found.exists():
            found.rename(aside.with_name(f"{aside.name}{end}"))
    log.warning(
        "the store of memories was damaged: it was moved aside, and a new one begun",
        extra={"path": str(path), "moved_to": str(aside)},
    )


if TYPE_CHECKING:
    _conforms: MemoryBackend = opened
