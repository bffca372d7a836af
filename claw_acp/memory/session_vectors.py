"""The vectors of memories, made in the background of a session where a service for them is configured."""

from collections.abc import Awaitable, Callable
from typing import Final

import anyio
from anyio.abc import TaskGroup

from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ConfigError, StoreError
from claw_acp.memory.embedding_endpoint import EmbeddingEndpoint
from claw_acp.memory.tools import Opened

MOST: Final = 20_000  # requests in a row: a service of which nothing stays is not asked for ever


class SessionVectors:
    """Makes vectors, one request after the other.

    Args:
        settings: Name the service.
        tasks: Runs the work.
        secrets: Reads its key.
        clock: Time.
        complain: Tells the person that there are none.
    """

    def __init__(
        self, settings: Settings, *, tasks: TaskGroup, secrets: SecretCache, clock: Clock,
        complain: Callable[[StoreError | ConfigError], Awaitable[None]],
    ) -> None:  # fmt: skip
        section = settings.memory.embedding
        self.embedding = EmbeddingEndpoint(section, secrets=secrets, environ=settings.environ, clock=clock)
        self._tasks = tasks
        self._complain = complain
        self._running: anyio.CancelScope | None = None
        self._again = False

    def make(self, opened: Opened) -> None:
        """Make what is missing, unless that is under way; then look once more at its end."""
        self._again = True
        if self._running is None:
            self._running = anyio.CancelScope()
            self._tasks.start_soon(self._run, opened)

    def close(self) -> None:
        """Stop; what is missing then is made another time."""
        if self._running is not None:
            self._running.cancel()

    async def _run(self, opened: Opened) -> None:
        scope = self._running
        assert scope is not None
        try:
            with scope:
                while self._again:
                    self._again = False
                    await self._made(opened)
        except (StoreError, ConfigError) as error:
            await self._complain(error)
        finally:
            self._running = None

    async def _made(self, opened: Opened) -> None:
        async with opened() as memory:
            for _ in range(MOST):
                if not await memory.embed_missing():
                    return
