"""The targets of a model in the order of attempts: its keys, other models, then other providers."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from claw_acp.config.diagnostic import did_you_mean
from claw_acp.config.provider_section import Options
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider import ChatOptions
from claw_acp.core.errors import ClawError, ConfigError
from claw_acp.providers.models.lineage import lineage
from claw_acp.providers.registry.keys import FoundKey, further_keys, require_key
from claw_acp.providers.registry.profiles import ProviderProfile, provider_profiles
from claw_acp.providers.registry.services import SERVICES
from claw_acp.providers.selection.setups import setup_of, unread_texts
from claw_acp.providers.selection.target import Target

_LISTED = "`claw-acp providers list` shows all that there are"

DEPTH = 3  # steps from the chosen provider to one that answers in its place

log = logging.getLogger(__name__)


def named_model(wanted: str, *, profiles: Mapping[str, ProviderProfile]) -> tuple[ProviderProfile, str]:
    """The provider of `provider/model`, or of `provider` alone, and the model's own name.

    Raises:
        ConfigError: There is no such provider, or it is not configured completely.
    """
    provider_name, slash, model_name = wanted.partition("/")
    profile = profiles.get(provider_name)
    if profile is None or (slash and not model_name):
        raise ConfigError(_no_such_model(wanted, providers=list(profiles)))
    profile.check()
    if not model_name:
        if not profile.models:
            raise ConfigError(f'"{wanted}" names no model; write {provider_name}/NAME, or list models in config.toml')
        model_name = profile.models[0]
    return profile, profile.named(model_name)


def targets_of(profile: ProviderProfile, model: str, *, key: FoundKey | None, settings: Settings) -> Sequence[Target]:
    """Every target, the chosen one first. Unusable others are left out, with a line in the log.

    Raises:
        ConfigError: The chosen one is unusable.
    """
    return list(_Walk(settings).through(profile, model, key=key, depth=0))


class _Walk:
    """Walks from provider to provider, depth first; each model of each is visited once, so cycles end."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._met: set[tuple[str, str]] = set()

    @cached_property
    def _cards(self) -> Mapping[str, ProviderProfile]:
        return provider_profiles(self._settings)

    def through(self, profile: ProviderProfile, model: str, *, key: FoundKey | None, depth: int) -> Iterator[Target]:
        settings = self._settings
        keys = [key, *further_keys(profile, settings=settings)]
        for name in (model, *profile.section.fallback_models):
            if (profile.name, name) not in self._met:
                self._met.add((profile.name, name))
                for each in keys:
                    yield _target(profile, name, key=each, settings=settings)
        if depth < DEPTH:
            for wanted in profile.section.fallback:
                yield from self._fallback(wanted, depth=depth + 1)

    def _fallback(self, wanted: str, *, depth: int) -> Iterator[Target]:
        try:
            profile, model = named_model(wanted, profiles=self._cards)
            if (profile.name, model) in self._met:
                return
            key = require_key(profile, settings=self._settings)
            targets = list(self.through(profile, model, key=key, depth=depth))
        except ClawError as error:
            log.info("fallback left out", extra={"fallback": wanted, "reason": error.message})
            return
        yield from targets


def _target(profile: ProviderProfile, model: str, *, key: FoundKey | None, settings: Settings) -> Target:
    unread = (key.slow,) if key and key.slow and key.secret is None else ()
    return Target(
        model=model,
        setup=setup_of(profile, key=key.secret if key else None, settings=settings),
        options=_chat_options(profile.section.options),
        retries=profile.section.retries,
        unread=(*unread, *unread_texts(profile, settings=settings)),
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
            if any(lineage(wanted).family in role.of for role in service.roles):
                return f'the model "{wanted}" lacks its provider; write {service.name}/{wanted}'
        return f'the model "{wanted}" lacks its provider; write PROVIDER/{wanted} ({_LISTED})'
    if provider in providers:
        return f'"{wanted}" names no model; write {provider}/NAME'
    hint = did_you_mean(provider, providers) or f"{_LISTED}."
    return f'there is no provider "{provider}"; {hint} A new one needs [providers.{provider}] in config.toml'
