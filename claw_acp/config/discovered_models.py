"""Models found at run time: model servers on this machine, and the models that providers list."""

from collections.abc import Mapping

from claw_acp.contracts.provider import ModelInfo, ModelReference
from claw_acp.core.value import Value, replace


class FoundServer(Value):
    """A model server that answered on this machine.

    Attributes:
        name: Its provider in the table of services.
        base_url: Its address, without a trailing slash.
        models: Its models; empty if it has none, or lists them only with a key.
        locked: Whether it requires a key.
    """

    name: str
    base_url: str
    models: tuple[ModelInfo, ...] = ()
    locked: bool = False


class DiscoveredModels(Value):
    """All models and facts found so far.

    Attributes:
        servers: The servers that answered the last search, by provider.
        lists: The models that services list, best first, by provider and base URL.
        reference: Published facts about models; None: none are cached.
        blind: Models that refused an image, by provider, base URL and name.
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
        """The facts about a model: from the provider's own list, else published ones; None: nothing is known."""
        own = next((info for info in self.listed(provider, base_url) if info.id == model), None)
        known = None if self.reference is None else self.reference.about(base_url, model)
        info = known if own is None else own.over(known)
        if (provider, base_url, model) in self.blind:
            return replace(info or ModelInfo(id=model), images=False)
        return info


NOTHING_DISCOVERED = DiscoveredModels()
