"""What was chosen to answer: the way to a model, those who answer when it cannot, and where routes lead."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from claw_acp.config.key_reference import KeyReference
from claw_acp.contracts.provider import ChatOptions
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.errors import ClawError
from claw_acp.core.value import Value, made_by, replace
from claw_acp.providers.reliable_course import RETRIES
from claw_acp.providers.route_rules import Rule, pick_route


class Way(Value):
    """One key of one provider, and one model.

    Attributes:
        provider_name: As configured: what stands before the `/`.
        model: The model's own name, for `ChatRequest.model`.
        setup: What the provider is made from; equal setups can share one provider.
        options: The configured sampling, for `ChatRequest.options`.
        retries: How often a failed request is tried again before another way is taken.
        unread: Keys and headers that have not been read yet (see `resolve_ready`).
    """

    provider_name: str
    model: str
    setup: ProviderSetup
    options: ChatOptions
    retries: int = RETRIES
    unread: tuple[KeyReference, ...] = ()

    @property
    def answering(self) -> str:
        """`provider/model`."""
        return f"{self.provider_name}/{self.model}"


class ModelChoice(Way):
    """A model that can be asked.

    Attributes:
        notice: Something the user should be told about this choice, or None.
        key_source: Where the key is, for people; None without one.
        others: The ways to take when this one fails, in their order: keys, then models, then providers.
        hint: `hint:NAME` when a route was chosen.
        configured: Where a person named this model in the configuration; empty: nowhere.
        replaced: Why this model answers and not the one that was named; empty: it is the one.
        sees: Whether it is configured as the model for pictures, whatever is known of it.
        rules: For `hint:auto`, which message goes to which route.
        routes: For `hint:auto`, where those routes lead, or why they cannot be used.
    """

    notice: str | None = None
    key_source: str | None = None
    others: tuple[Way, ...] = ()
    hint: str = ""
    configured: str = ""
    replaced: str = ""
    sees: bool = False
    rules: Sequence[Rule] = ()
    routes: "Mapping[str, ModelChoice | ClawError]" = made_by(default_factory=lambda: NO_ROUTES)

    @property
    def name(self) -> str:
        """What was chosen, as sessions keep it: `provider/model`, or `hint:NAME`."""
        return self.hint or self.answering

    @property
    def asked(self) -> str:
        """What `ChatRequest.model` is to be."""
        return self.hint or self.model

    @property
    def setups(self) -> Sequence[ProviderSetup]:
        """What the providers of all ways are made from, each once; the first is its own."""
        return tuple(dict.fromkeys([self.setup, *(way.setup for way in self.others)]))

    @property
    def keys(self) -> Sequence[ProviderSetup]:
        """The set-ups of the chosen provider, one for each of its keys."""
        return tuple(setup for setup in self.setups if setup.name == self.setup.name)

    @property
    def secrets(self) -> Sequence[str]:
        """What nobody may ever see of any of them."""
        return tuple(secret for setup in self.setups for secret in setup.secrets)

    def for_message(self, text: str) -> "ModelChoice":
        """The choice for what a person said; another one only for `hint:auto`.

        Raises:
            AuthRequired: The route has no usable key.
            ConfigError: It leads nowhere.
        """
        if not (self.rules or self.routes):
            return self
        picked = pick_route(text, rules=self.rules, routes=self.routes)
        if picked is None:
            return replace(self, hint="", rules=(), routes=NO_ROUTES)
        found = self.routes[picked]
        if isinstance(found, ClawError):
            raise found
        return found


NO_ROUTES: Mapping[str, ModelChoice | ClawError] = MappingProxyType({})
