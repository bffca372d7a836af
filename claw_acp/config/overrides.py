"""The provider overrides of a client, in memory only, until the process ends."""

from collections.abc import Mapping

from claw_acp.core.secret import Secret
from claw_acp.core.value import Value

Headers = tuple[tuple[str, Secret], ...]
"""Lower-case names, with values that may be keys."""


class ProviderOverride(Value):
    """The destination of requests to one provider, overriding its configuration.

    Attributes:
        kind: The wire family.
        base_url: The service's address, without a trailing slash.
        headers: Sent with each request; they carry the authorization, if any is needed.
    """

    kind: str
    base_url: str
    headers: Headers = ()


class ProviderOverrides(Value):
    """Overrides by provider; None means disabled."""

    by_provider: Mapping[str, ProviderOverride | None] = {}

    def with_provider(self, name: str, override: ProviderOverride | None) -> "ProviderOverrides":
        """A copy with another override for one provider."""
        return ProviderOverrides(by_provider={**self.by_provider, name: override})

    def of(self, name: str) -> ProviderOverride | None:
        """The override of a provider."""
        return self.by_provider.get(name)

    def off(self, name: str) -> bool:
        """Return whether a provider is disabled."""
        return name in self.by_provider and self.by_provider[name] is None


NOTHING_SET = ProviderOverrides()
