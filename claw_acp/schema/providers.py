"""The destinations of the agent's model requests (unstable): listed by a client, and set for this process."""

from collections.abc import Mapping
from typing import Annotated, TypeAlias

from claw_acp.core.value import made_by
from claw_acp.schema.base import Array, Items, Known, Wire

LlmProtocol: TypeAlias = Annotated[str, Known(values=("anthropic", "openai", "azure", "vertex", "bedrock"))]
"""The API format of requests."""


class ProviderCurrentConfig(Wire):
    """The settings in force for a provider, without secrets."""

    api_type: LlmProtocol
    base_url: str


class ProviderInfo(Wire):
    """A provider that can be set; without `current` it is disabled. A `required` one cannot be disabled."""

    provider_id: str
    supported: Items[LlmProtocol]
    required: bool
    current: ProviderCurrentConfig | None = None


class ListProvidersRequest(Wire):
    """List the providers that can be set."""


class ListProvidersResponse(Wire):
    """All providers that can be set, disabled ones included."""

    providers: Array[ProviderInfo]


class SetProviderRequest(Wire):
    """Send the requests of a provider elsewhere. This replaces all settings: headers left out are removed."""

    provider_id: str
    api_type: LlmProtocol
    base_url: str
    headers: Mapping[str, str] = made_by(default_factory=dict[str, str])

    hidden = ("headers",)


class SetProviderResponse(Wire):
    """The next request will go there."""


class DisableProviderRequest(Wire):
    """Disable a provider until it is set again."""

    provider_id: str


class DisableProviderResponse(Wire):
    """The provider is disabled."""
