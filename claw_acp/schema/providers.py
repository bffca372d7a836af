"""Where the agent's model requests go (unstable): what a client can see of it, and set for this process."""

from collections.abc import Mapping
from typing import Annotated, TypeAlias

from claw_acp.core.value import made_by
from claw_acp.schema.base import Array, Items, Known, Wire

LlmProtocol: TypeAlias = Annotated[str, Known(values=("anthropic", "openai", "azure", "vertex", "bedrock"))]
"""The API that requests are written in."""


class ProviderCurrentConfig(Wire):
    """What is in force for a provider, without anything secret."""

    api_type: LlmProtocol
    base_url: str


class ProviderInfo(Wire):
    """A provider that can be set; without `current` it is switched off. One that is `required` cannot be."""

    provider_id: str
    supported: Items[LlmProtocol]
    required: bool
    current: ProviderCurrentConfig | None = None


class ListProvidersRequest(Wire):
    """Which providers can be set?"""


class ListProvidersResponse(Wire):
    """All that can be set, also those that are switched off."""

    providers: Array[ProviderInfo]


class SetProviderRequest(Wire):
    """Send the requests of a provider elsewhere. It replaces everything: headers left out are none."""

    provider_id: str
    api_type: LlmProtocol
    base_url: str
    headers: Mapping[str, str] = made_by(default_factory=dict[str, str])

    hidden = ("headers",)


class SetProviderResponse(Wire):
    """The next request will go there."""


class DisableProviderRequest(Wire):
    """Send nothing to a provider any more, until it is set again."""

    provider_id: str


class DisableProviderResponse(Wire):
    """The provider is switched off."""
