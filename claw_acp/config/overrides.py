"""What a client sets about providers, for as long as this process lives: nothing of it is ever written down."""

from collections.abc import Mapping

from claw_acp.core.secret import Secret
from claw_acp.core.value import Value

Headers = tuple[tuple[str, Secret], ...]
"""Names in lower case, with values that may be keys."""


class ProviderOverride(Value):
    """Where requests to one provider go, in the place of everything else that is configured for it.

    Attributes:
        kind: The wire family.
        base_url: The service's address, without a trailing slash.
        headers: Sent with each request; they carry the authorization, if any is needed.
    """

    kind: str
    base_url: str
    headers: Headers = ()


class ProviderOverrides(Value):
    """By provider; one that is None has been switched off."""

    by_provider: Mapping[str, ProviderOverride | None] = {}

    def with_provider(self, name: str, override: ProviderOverride | None) -> "ProviderOverrides":
        """These, with another one for one provider."""
        return ProviderOverrides(by_provider={**self.by_provider, name: override})

    def of(self, name: str) -> ProviderOverride | None:
        """What is set for a provider."""
        return self.by_provider.get(name)

    def off(self, name: str) -> bool:
        """Whether a provider is switched off."""
        return name in self.by_provider and self.by_provider[name] is None


NOTHING_SET = ProviderOverrides()
