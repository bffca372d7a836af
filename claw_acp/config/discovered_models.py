"""Models discovered while we run: model servers on this machine, and the models that providers list."""

from collections.abc import Mapping

from claw_acp.contracts.provider import ModelInfo, ModelReference
from claw_acp.core.value import Value, replace


class FoundServer(Value):
    """A model server that answered on this machine.

    Attributes:
        name: The provider it is, as in the table of services.
        base_url: Where it is, without a trailing slash.
        models: What it offers; empty while it offers nothing, or keeps that to those who have a key.
        locked: Whether it wants a key first.
    """

    name: str
    base_url: str
    models: tuple[ModelInfo, ...] = ()
    locked: bool = False


class DiscoveredModels(Value):
    """Everything discovered so far.

    Attributes:
        servers: The servers that were there when they were last looked for, by provider.
        lists: The models that services list, best first, by provider and base URL.
        reference: What is published of models by others; None: nothing is kept here.
        blind: Models that refused a picture, by provider, base URL and name.
    """

    servers: Mapping[str, FoundServer] = {}
    lists: Mapping[tuple[str, str], tuple[ModelInfo, ...]] = {}
    reference: ModelReference | None = None
    blind: frozenset[tuple[str, str, str]] = frozenset()

    def listed(self, provider: str, base_url: str) -> tuple[ModelInfo, ...]:
        """The models that a provider itself lists."""
        server = self.servers.get(provider)
        if server is not None and server.base_url == base_url:
            return server.models
        return self.lists.get((provider, base_url), ())

    def about(self, provider: str, base_url: str, model: str) -> ModelInfo | None:
        """What is known of a model: by the provider's own list, else by others; None: nothing."""
        own = next((info for info in self.listed(provider, base_url) if info.id == model), None)
        known = None if self.reference is None else self.reference.about(base_url, model)
        info = known if own is None else own.over(known)
        if (provider, base_url, model) in self.blind:
            return replace(info or ModelInfo(id=model), images=False)
        return info


NOTHING_DISCOVERED = DiscoveredModels()
