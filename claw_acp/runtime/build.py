"""Builds the engine: the one place where the parts are put together."""

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import anyio

from claw_acp.config.locations import find_locations, private_directory
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.runtime.engine import Engine
from claw_acp.session.journal import Journal
from claw_acp.session.session import CLEANUP_TIMEOUT
from claw_acp.workspace.process_host import ProcessHost


@asynccontextmanager
async def open_engine(
    *, environ: Mapping[str, str] = os.environ, clock: Clock = SYSTEM_CLOCK
) -> AsyncGenerator[Engine]:
    """The engine, for as long as the block runs; leaving it cancels turns, kills programs and commits the journal.

    Raises:
        ConfigError: The directories cannot be made.
        StoreError: The journal cannot be opened.
    """
    locations = find_locations(environ)
    private_directory(locations.data_dir)
    async with (
        Journal.opened(locations.database, clock=clock) as journal,
        ProcessHost() as processes,
        anyio.create_task_group() as tasks,
    ):
        engine = Engine(
            journal=journal, processes=processes, locations=locations, environ=environ, clock=clock, tasks=tasks
        )
        try:
            yield engine
        finally:
            with anyio.move_on_after(CLEANUP_TIMEOUT, shield=True):
                await engine.aclose()
            tasks.cancel_scope.cancel()
