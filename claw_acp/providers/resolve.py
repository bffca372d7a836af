"""Which model answers: from a name, or from what can be used on this machine."""

from functools import partial
from typing import cast

from anyio import to_thread

from claw_acp.config.finding import did_you_mean
from claw_acp.config.key_reference import KeyReference
from claw_acp.config.provider_section import Options
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider import ChatOptions, Provider
from claw_acp.contracts.provider_setup import ProviderFactory, ProviderSetup
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.core.errors import AuthRequired, ConfigError
from claw_acp.core.value import Value, replace
from claw_acp.providers.cards import Card, provider_cards
from claw_acp.providers.keys import FoundKey, find_key, require_key
from claw_acp.providers.known import OFFLINE, SERVICES
from claw_acp.providers.offers import usable
from claw_acp.providers.retry import RetryingProvider
from claw_acp.providers.setups import setup_of
from claw_acp.registry.entry_points import discover, load_extension
from claw_acp.registry.reference import Ref

OFFLINE_NOTICE = (
    "No model is set up, so the built-in offline assistant answers: it does simple file work and needs no network. "
    "To use a model, run `claw-acp login`, set ANTHROPIC_API_KEY or OPENAI_API_KEY, or add a provider to config.toml, "
    "and start a new session. `claw-acp doctor` shows what was found."
)


class ModelChoice(Value):
    """A model that can be asked.

    Attributes:
        provider_name: As configured: what stands before the `/`.
        model: The model's own name, for `ChatRequest.model`.
        setup: What the provider is made from; equal setups can share one provider.
        options: The configured sampling, for `ChatRequest.options`.
        notice: Something the user should be told about this choice, or None.
        key_source: Where the key is, for people; None without one.
        unread: Where the key is as long as it has not been read (see `resolve_ready`).
    """

    provider_name: str
    model: str
    setup: ProviderSetup
    options: ChatOptions
    notice: str | None = None
    key_source: str | None = None
    unread: KeyReference | None = None

    @property
    def name(self) -> str:
        """`provider/model`."""
        return f"{self.provider_name}/{self.model}"

    def make_provider(self, *, clock: Clock = SYSTEM_CLOCK) -> Provider:
        """A new provider; its wire family is imported now. Close it with `aclose`.

        Raises:
            ConfigError: There is no such wire family, or it cannot be loaded, or its setup is wrong.
        """
        assert self.unread is None, "the key is still to be read: see resolve_ready"
        provider = factory_of(self.setup)(replace(self.setup, clock=clock))
        return provider if self.setup.kind in {"offline", "scripted"} else RetryingProvider(provider, clock=clock)


def resolve(settings: Settings, *, model: str | None) -> ModelChoice:
    """The choice for `model` (None: the configured one, else the first provider that can be used, else offline).

    Raises:
        AuthRequired: The named provider has no usable key; the text says which variable to set.
        ConfigError: There is no such provider, or it is not configured completely.
    """
    cards = provider_cards(settings)
    wanted = model or settings.model
    if wanted is None:
        return _firstusable(settings)
    provider_name, slash, model_name = wanted.partition("/")
    card = cards.get(provider_name)
    if card is None or (slash and not model_name):
        raise ConfigError(_no_such_model(wanted, providers=list(cards)))
    card.check()
    if not model_name:
        if not card.models:
            raise ConfigError(f'"{wanted}" names no model; write {provider_name}/NAME, or list models in config.toml')
        model_name = card.models[0]
    return _choice(card, model=model_name, key=require_key(card, settings=settings), settings=settings)


async def resolve_ready(settings: Settings, *, model: str | None) -> ModelChoice:
    """The same with its key: one in a keyring or from a command is read now, in a thread.

    Raises:
        AuthRequired: As for `resolve`, or the key could not be read.
        ConfigError: As for `resolve`.
    """
    choice = resolve(settings, model=model)
    if choice.unread is None:
        return choice
    fetch = partial(settings.keys.fetch, choice.unread, settings.environ)
    try:
        await to_thread.run_sync(fetch, abandon_on_cancel=True)
    except ConfigError as error:
        raise AuthRequired(f'there is no key for "{choice.provider_name}": {error.message}') from error
    return resolve(settings, model=model)


def factory_of(setup: ProviderSetup) -> ProviderFactory:
    """What makes providers of the setup's wire family.

    Raises:
        ConfigError: There is no such family, or it cannot be loaded.
    """
    families = discover("providers")
    reference = families.get(setup.kind)
    if reference is None:
        hint = did_you_mean(setup.kind, families) or f"there are {', '.join(families) or 'none'}"
        raise ConfigError(f'[providers.{setup.name}] has the unknown kind "{setup.kind}"; {hint}')
    factory = load_extension(cast("Ref[ProviderFactory]", reference), kind="providers", name=setup.kind)
    if factory is None:
        raise ConfigError(f'the provider kind "{setup.kind}" ({reference.text}) cannot be loaded; the log says why')
    return factory


def _firstusable(settings: Settings) -> ModelChoice:
    # What a client has set up for this process comes before what was there anyway.
    for card in sorted(usable(settings), key=lambda card: not card.overridden):
        if card.models and card.name != OFFLINE.name:
            key = find_key(card, settings=settings, named=False)
            return _choice(card, model=card.models[0], key=key, settings=settings)
    offline = provider_cards(settings)[OFFLINE.name]
    return replace(_choice(offline, model=offline.models[0], key=None, settings=settings), notice=OFFLINE_NOTICE)


def _choice(card: Card, *, model: str, key: FoundKey | None, settings: Settings) -> ModelChoice:
    return ModelChoice(
        provider_name=card.name,
        model=model,
        setup=setup_of(card, key=key.secret if key else None, settings=settings),
        options=_chat_options(card.section.options),
        key_source=key.source if key else None,
        unread=key.slow if key and key.secret is None else None,
    )


def _chat_options(options: Options) -> ChatOptions:
    return ChatOptions(
        max_tokens=options.max_tokens,
        temperature=options.temperature,
        top_p=options.top_p,
        stop=options.stop,
        effort=options.effort,
    )


def _no_such_model(wanted: str, *, providers: list[str]) -> str:
    provider, slash, _ = wanted.partition("/")
    if not slash:
        for service in SERVICES.values():
            if any(model.id == wanted for model in service.models):
                return f'the model "{wanted}" lacks its provider; write {service.name}/{wanted}'
        return f'the model "{wanted}" lacks its provider; write PROVIDER/{wanted} (there are {", ".join(providers)})'
    if provider in providers:
        return f'"{wanted}" names no model; write {provider}/NAME'
    hint = did_you_mean(provider, providers) or f"there are {', '.join(providers)}"
    return f'there is no provider "{provider}"; {hint} A new one needs [providers.{provider}] in config.toml'
