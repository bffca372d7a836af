"""The providers in use: one for each distinct setup, so that connections stay open from turn to turn."""

from claw_acp.contracts.provider import Provider
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.clock import Clock
from claw_acp.providers.resolve import ModelChoice


class ProviderPool:
    """Makes providers on first use and closes them at the end."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._providers: dict[ProviderSetup, Provider] = {}

    def get(self, choice: ModelChoice) -> Provider:
        """The provider of a choice.

        Raises:
            ConfigError: It cannot be made.
        """
        provider = self._providers.get(choice.setup)
        if provider is None:
            provider = self._providers[choice.setup] = choice.make_provider(clock=self._clock)
        return provider

    async def aclose(self) -> None:
        """Close all of them."""
        for provider in self._providers.values():
            await provider.aclose()
        self._providers.clear()
