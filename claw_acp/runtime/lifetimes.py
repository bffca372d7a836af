"""When the engine comes up, and who waits for it."""

import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import anyio

from claw_acp.core.errors import ClawError, StoreError
from claw_acp.runtime.engine import Engine

log = logging.getLogger(__name__)


class EngineHouse:
    """Keeps one engine for a process. `keep` runs beside the connections; they ask `engine` when they need it."""

    def __init__(self, open_engine: Callable[[], AbstractAsyncContextManager[Engine]]) -> None:
        self._open_engine = open_engine
        self._engine: Engine | None = None
        self._failure: ClawError | None = None
        self._attempted = anyio.Event()
        self._again = anyio.Event()

    async def engine(self) -> Engine:
        """The engine; waits while it starts. After a failure each call makes it try again.

        Raises:
            ClawError: It could not start.
        """
        if self._engine is not None:
            return self._engine  # without a pause: a cancel right behind a prompt must find it in its session
        if self._attempted.is_set():
            self._attempted = anyio.Event()
            self._again.set()
        await self._attempted.wait()
        if self._engine is None:
            raise self._failure or ClawError("the engine has ended")
        return self._engine

    async def keep(self) -> None:
        """Start the engine and keep it until cancelled; after a failure wait for someone to want it again."""
        while True:
            try:
                async with self._open_engine() as self._engine:
                    self._attempted.set()
                    await anyio.sleep_forever()
            except (ClawError, OSError) as trouble:
                log.error("engine did not start", extra={"reason": str(trouble)})  # noqa: TRY400 - no traceback needed
                self._engine = None
                self._failure = trouble if isinstance(trouble, ClawError) else StoreError(f"cannot start: {trouble}")
                self._again = anyio.Event()
                self._attempted.set()
                await self._again.wait()
