"""Removes what a deleted session leaves outside the journal."""

import logging
from typing import Final

from anyio import to_thread

from claw_acp.agent.large_results import remove_results
from claw_acp.config.locations import Locations
from claw_acp.config.settings import Settings
from claw_acp.contracts.memory import CONVERSATION, MemoryFilter
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ConfigError, StoreError
from claw_acp.memory.opening import opened_memory

log = logging.getLogger(__name__)

_MOST: Final = 100_000


async def remove_remains(session_id: str, *, settings: Settings, locations: Locations, clock: Clock) -> None:
    """Remove the results of a session, and what left its conversation. Notes that were kept in it stay."""
    await to_thread.run_sync(lambda: remove_results(locations.results_dir, session=session_id))
    if not (locations.memory_database.exists() or locations.memory_dir.exists()):
        return
    chosen = MemoryFilter(session_id=session_id, category=CONVERSATION, superseded=True)
    try:
        async with opened_memory(settings, locations, clock=clock) as memory:
            for entry in await memory.list(chosen, limit=_MOST):
                await memory.forget(entry.id)
    except (StoreError, ConfigError) as error:
        log.warning("a deleted conversation stays in memory", extra={"session": session_id, "reason": error.message})
