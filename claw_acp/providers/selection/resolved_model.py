"""A resolved model: its target, its fallbacks, and its routes."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.errors import ClawError
from claw_acp.core.value import Value, made_by, replace
from claw_acp.providers.selection.route_rules import RouteRule, pick_route
from claw_acp.providers.selection.target import Target


class ResolvedModel(Value):
    """A resolved model.

    Attributes:
        target: The model itself, with the first key.
        fallbacks: The targets to ask when it fails, in order: keys, then models, then providers.
        label: `hint:NAME` when a route was chosen; sessions keep it, requests never carry it.
        notice: A notice for the user about this model, or None.
        key_source: The source of the key, for people; None without one.
        configured: The place in the configuration that names this model; empty: none.
        replaced: Why this model answers instead of the one that was named; empty: it is that one.
        sees: Whether it is the configured model for images, whatever is known about it.
        rules: For `hint:auto`, the rules that choose a route.
        routes: For `hint:auto`, the models of those routes, or why they cannot be used.
    """

    target: Target
    fallbacks: tuple[Target, ...] = ()
    label: str = ""
    notice: str | None = None
    key_source: str | None = None
    configured: str = ""
    replaced: str = ""
    sees: bool = False
    rules: Sequence[RouteRule] = ()
    routes: "Mapping[str, ResolvedModel | ClawError]" = made_by(default_factory=lambda: NO_ROUTES)

    @property
    def name(self) -> str:
        """The name for sessions: `provider/model`, or `hint:NAME`."""
        return self.label or self.target.name

    @property
    def setup(self) -> ProviderSetup:
        """The provider and the first key."""
        return self.target.setup

    @property
    def targets(self) -> Sequence[Target]:
        """The target, then its fallbacks."""
        return (self.target, *self.fallbacks)

    @property
    def setups(self) -> Sequence[ProviderSetup]:
        """The setups of all targets, each once; the first is its own."""
        return tuple(dict.fromkeys(target.setup for target in self.targets))

    @property
    def keys(self) -> Sequence[ProviderSetup]:
        """The setups of the chosen provider, one for each of its keys."""
        return tuple(setup for setup in self.setups if setup.name == self.setup.name)

    @property
    def secrets(self) -> Sequence[str]:
        """The secrets of every target."""
        return tuple(secret for setup in self.setups for secret in setup.secrets)

    def with_model(self, model: str) -> "ResolvedModel":
        """The same with another model of its provider, under each of its keys."""
        name = self.target.name
        chosen, *others = (replace(each, model=model) if each.name == name else each for each in self.targets)
        return replace(self, target=chosen, fallbacks=tuple(others))

    def for_message(self, text: str) -> "ResolvedModel":
        """The model for a user message; a different one only for `hint:auto`.

        Raises:
            AuthRequired: The route has no usable key.
            ConfigError: The route cannot be resolved.
        """
        if not (self.rules or self.routes):
            return self
        picked = pick_route(text, rules=self.rules, routes=self.routes)
        if picked is None:
            return replace(self, label="", rules=(), routes=NO_ROUTES)
        found = self.routes[picked]
        if isinstance(found, ClawError):
            raise found
        return found


NO_ROUTES: Mapping[str, ResolvedModel | ClawError] = MappingProxyType({})
