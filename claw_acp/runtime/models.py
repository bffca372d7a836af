"""The providers in use: one for each distinct setup, so that connections stay open from turn to turn."""

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from claw_acp.contracts.provider import Provider
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.clock import Clock
from claw_acp.providers.resolve import ModelChoice

LAST_WORDS = 1.0  # seconds a provider has to let go of its connections
KEPT = 8  # providers whose connections are kept; a client may set a new token every few minutes


class ProviderPool:
    """Makes providers on first use and closes them at the end, or when many others were used since."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._providers: dict[ProviderSetup, Provider] = {}  # the one used longest ago stands first
        self._users: Counter[ProviderSetup] = Counter()

    def get(self, choice: ModelChoice) -> Provider:
        """The provider of a choice.

        Raises:
            ConfigError: It cannot be made.
        """
        provider = self._providers.pop(choice.setup, None) or choice.make_provider(clock=self._clock)
        self._providers[choice.setup] = provider
        return provider

    @asynccontextmanager
    async def lent(self, choice: ModelChoice) -> AsyncGenerator[Provider]:
        """The provider of a choice, sure to stay open inside the block.

        Raises:
            ConfigError: It cannot be made.
        """
        provider = self.get(choice)
        self._users[choice.setup] += 1
        try:
            yield provider
        finally:
            self._users[choice.setup] -= 1
            await self._close_spare()

    async def _close_spare(self) -> None:
        idle = [setup for setup in self._providers if not self._users[setup]]
        for setup in idle[: max(0, len(self._providers) - KEPT)]:
            del self._users[setup]
            provider = self._providers.pop(setup)
            with anyio.move_on_after(LAST_WORDS, shield=True):
                await provider.aclose()

    async def aclose(self) -> None:
        """Close all of them."""
        for provider in self._providers.values():
            await provider.aclose()
        self._providers.clear()
