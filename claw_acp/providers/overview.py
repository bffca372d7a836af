"""All providers with what each one has and lacks, for the command line."""

from claw_acp.config.settings import Settings
from claw_acp.core.errors import ClawError
from claw_acp.core.value import Value
from claw_acp.providers.cards import Card, provider_cards
from claw_acp.providers.keys import find_key


class ProviderState(Value):
    """One provider.

    Attributes:
        name: As configured.
        kind: The wire family, empty when the configuration forgot it.
        base_url: The address in force, and where it came from; empty when there is none.
        key_source: Where the key was found (a variable's name, a reference), never the key; None without one.
        models: The models it offers.
        ready: Whether it can be asked now.
        problem: What is wrong or missing, None when ready.
        configured: Whether the user's file mentions it.
    """

    name: str
    kind: str
    base_url: str
    base_url_origin: str
    key_source: str | None
    models: tuple[str, ...]
    ready: bool
    problem: str | None
    configured: bool


def provider_states(settings: Settings) -> list[ProviderState]:
    """Every known and configured provider, in the order in which one is chosen."""
    return [_state(card, settings=settings) for card in provider_cards(settings).values()]


def _state(card: Card, *, settings: Settings) -> ProviderState:
    key_source: str | None = None
    problem: str | None = None
    # Generic keys serve a provider that a model's name asks for; here that is the configured one.
    named = (settings.model or "").partition("/")[0] == card.name
    try:
        card.check()
        found = find_key(card, settings=settings, named=named)
        key_source = found.source if found else None
    except ClawError as error:
        problem = error.message
    else:
        if found is None and card.needs_key:
            problem = f"no key; set {card.service.key_variable}" if card.service else "no key"
    return ProviderState(
        name=card.name,
        kind=card.kind,
        base_url=card.base_url,
        base_url_origin=card.base_url_origin.text(),
        key_source=key_source,
        models=card.models,
        ready=problem is None,
        problem=problem,
        configured=card.name in settings.providers,
    )
