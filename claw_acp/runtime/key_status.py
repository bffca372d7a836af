"""The keys that services have refused."""

from collections.abc import Callable

from claw_acp.contracts.provider_setup import ProviderSetup


class KeyStatus:
    """The routes to models whose key was refused when it was last used.

    Args:
        on_change: Called when the set has changed.
    """

    def __init__(self, *, on_change: Callable[[], None]) -> None:
        self._refused: frozenset[ProviderSetup] = frozenset()
        self._on_change = on_change

    def is_refused(self, setup: ProviderSetup) -> bool:
        """Return whether the key was refused when it was last used."""
        return setup in self._refused

    def record(self, setup: ProviderSetup, *, refused: bool) -> None:
        """Record whether a service accepted the key it was sent."""
        if refused != (setup in self._refused):
            self._refused = self._refused ^ {setup}
            self._on_change()
