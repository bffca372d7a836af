"""The providers in use: one for each distinct setup, so that connections stay open from turn to turn."""

from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial

import anyio

from claw_acp.contracts.provider import Provider
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.clock import Clock
from claw_acp.providers.assembly import MakePlain, plain, resilient
from claw_acp.providers.fallback.plan import Health
from claw_acp.providers.fallback.succession import Successions
from claw_acp.providers.selection.resolved_model import ResolvedModel

CLOSE_TIMEOUT = 1.0  # seconds a provider has to let go of its connections
KEPT = 8  # providers whose connections are kept; a client may set a new token every few minutes


class ProviderPool:
    """Makes providers on first use and closes them at the end, or when many others were used since.

    Args:
        clock: Time and randomness for waits.
        make: Makes a provider with one key; None: `assembly.plain`.
        successions: The successors of retired models; None: none yet.

    Attributes:
        health: The keys and models that cool down after failures, for all sessions.
        successions: The retired models, for all sessions.
    """

    def __init__(self, *, clock: Clock, make: MakePlain | None = None, successions: Successions | None = None) -> None:
        self.health = Health()
        self.successions = successions or Successions(clock=clock)
        self._clock = clock
        self._make = make or partial(plain, clock=clock)
        self._providers: dict[ProviderSetup, Provider] = {}  # the one used longest ago stands first
        self._users: Counter[ProviderSetup] = Counter()

    def get(self, choice: ResolvedModel) -> Provider:
        """The provider of a choice, including its fallbacks.

        Raises:
            ConfigError: It cannot be made.
        """
        return resilient(choice, make=self._plain, health=self.health, clock=self._clock, successions=self.successions)

    @asynccontextmanager
    async def lent(self, choice: ResolvedModel) -> AsyncGenerator[Provider]:
        """The provider of a choice; it and its fallbacks stay open inside the block.

        Raises:
            ConfigError: It cannot be made.
        """
        provider = self.get(choice)
        setups = choice.setups
        self._users.update(setups)
        try:
            yield provider
        finally:
            self._users.subtract(setups)
            await self._close_spare()

    def _plain(self, setup: ProviderSetup) -> Provider:
        provider = self._providers.pop(setup, None) or self._make(setup)
        self._providers[setup] = provider
        return provider

    async def _close_spare(self) -> None:
        idle = [setup for setup in self._providers if not self._users[setup]]
        spare = idle[: max(0, len(self._providers) - KEPT)]
        for setup in spare:
            del self._users[setup]
        await _close([self._providers.pop(setup) for setup in spare])

    async def aclose(self) -> None:
        """Close all providers."""
        providers = list(self._providers.values())
        self._providers.clear()
        await _close(providers)


async def _close(providers: Sequence[Provider]) -> None:
    """Close providers concurrently, each within `CLOSE_TIMEOUT`."""
    if not providers:
        return
    with anyio.move_on_after(CLOSE_TIMEOUT, shield=True):
        async with anyio.create_task_group() as tasks:
            for provider in providers:
                tasks.start_soon(provider.aclose)
