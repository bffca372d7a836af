"""When the engine comes up, and who waits for it."""

import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import anyio

from claw_acp.core.errors import ClawError
from claw_acp.runtime.engine import Engine

log = logging.getLogger(__name__)


class EngineHouse:
    """Keeps one engine for a process. `keep` runs beside the connections; they ask `engine` when they need it."""

    def __init__(self, open_engine: Callable[[], AbstractAsyncContextManager[Engine]]) -> None:
        self._open_engine = open_engine
        self._engine: Engine | None = None
        self._failure: ClawError | None = None
        self._wanted = anyio.Event()
        self._settled = anyio.Event()

    async def engine(self) -> Engine:
        """The engine; waits while it starts.

        Raises:
            ClawError: It could not start; the next call makes it try again.
        """
        if self._engine is None:
            self._wanted.set()
            await self._settled.wait()
        if self._engine is None:
            failure = self._failure
            assert failure is not None
            self._settled = anyio.Event()
            raise failure
        return self._engine

    async def keep(self) -> None:
        """Start the engine, keep it until cancelled; after a failure wait for someone to want it again."""
        while True:
            try:
                async with self._open_engine() as self._engine:
                    self._settled.set()
                    await anyio.sleep_forever()
            except ClawError as failure:
                log.error("engine did not start", extra={"reason": failure.message})  # noqa: TRY400 - no traceback needed
                self._failure = failure
                self._wanted = anyio.Event()
                self._settled.set()
                await self._wanted.wait()
