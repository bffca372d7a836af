"""The target of a model request: one model of one provider, asked with one key."""

from claw_acp.config.key_reference import KeyReference
from claw_acp.contracts.provider import ChatOptions
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.value import Value, made_by

RETRIES = 2


class Target(Value):
    """One model of one provider, asked with one key.

    Attributes:
        setup: The provider and its key; equal setups can share one provider.
        model: The model's own name, for `ChatRequest.model`.
        options: The configured sampling, for `ChatRequest.options`.
        retries: How often a failed request is repeated before the next target is asked.
        unread: Keys and headers that have not been read yet (see `resolve_ready`).
    """

    setup: ProviderSetup
    model: str
    options: ChatOptions = made_by(default_factory=ChatOptions)
    retries: int = RETRIES
    unread: tuple[KeyReference, ...] = ()

    @property
    def provider(self) -> str:
        """The provider's configured name: the part before the `/`."""
        return self.setup.name

    @property
    def name(self) -> str:
        """`provider/model`, without the key."""
        return f"{self.provider}/{self.model}"
