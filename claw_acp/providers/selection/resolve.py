"""From a model's name, a route, or the usable providers of this machine to the model that answers."""

import logging
from collections.abc import Mapping, Sequence
from functools import partial

from anyio import to_thread

from claw_acp.config.key_reference import KeyReference
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.core.errors import AuthRequired, ClawError, ConfigError
from claw_acp.core.value import replace
from claw_acp.providers.registry.keys import FoundKey, find_key, misplaced_keys, require_key
from claw_acp.providers.registry.profiles import ProviderProfile, provider_profiles
from claw_acp.providers.registry.services import OFFLINE
from claw_acp.providers.selection.available_models import usable
from claw_acp.providers.selection.resolved_model import ResolvedModel
from claw_acp.providers.selection.route_rules import AUTO, DEFAULT, HINT, no_such_route, rules_of
from claw_acp.providers.selection.targets import named_model, targets_of

OFFLINE_NOTICE = (
    "No model is set up, so the built-in offline assistant answers: it does simple file work and needs no network. "
    "To use a model, run `claw-acp login`, set ANTHROPIC_API_KEY or OPENAI_API_KEY, or add a provider to config.toml, "
    "and start a new session. `claw-acp doctor` shows what was found."
)

log = logging.getLogger(__name__)


def no_model_notice(settings: Settings) -> str:
    """The reason the offline assistant answers: a key is in the wrong place, or there is none."""
    return " ".join([*misplaced_keys(provider_profiles(settings), settings=settings), OFFLINE_NOTICE])


def resolve(settings: Settings, *, model: str | None, key: str | None = None) -> ResolvedModel:
    """Resolve `model` (None: the configured one, else the first usable provider, else offline).

    This never waits: keys in a keyring or from a command may be `unread`.

    Raises:
        AuthRequired: The named provider has no usable key; the text says which variable to set.
        ConfigError: There is no such provider or route, or it is not configured completely.
    """
    wanted = model or settings.model
    if wanted is None:
        return _first_usable(settings)
    if wanted == HINT + AUTO:
        return _by_rules(settings)
    if wanted.startswith(HINT):
        return _route(wanted.removeprefix(HINT), settings=settings)
    return _named(wanted, settings=settings, key=key)


async def resolve_ready(settings: Settings, *, model: str | None, secrets: SecretCache) -> ResolvedModel:
    """The same with all keys and headers: `secrets` reads those in a keyring or from a command now, in a thread.

    Raises:
        AuthRequired: As for `resolve`, or the key could not be read. Fallbacks without a key are left out.
        ConfigError: As for `resolve`.
    """
    resolved = resolve(settings, model=model)
    wanted = unread_of(resolved)
    if not wanted:
        return resolved
    failures = await to_thread.run_sync(partial(_fetch, wanted, settings.environ, secrets), abandon_on_cancel=True)
    return _ready(resolve(replace(settings, secrets=secrets.known), model=model), failures)


def unread_of(resolved: ResolvedModel) -> Sequence[KeyReference]:
    """All unread keys and headers, each once."""
    routes = [route for route in resolved.routes.values() if isinstance(route, ResolvedModel)]
    own = (reference for target in resolved.targets for reference in target.unread)
    below = (reference for route in routes for reference in unread_of(route))
    return tuple(dict.fromkeys([*own, *below]))


def _fetch(
    wanted: Sequence[KeyReference], environ: Mapping[str, str], secrets: SecretCache
) -> Mapping[KeyReference, ConfigError]:
    """Read all of them; returns the failures."""
    failures: dict[KeyReference, ConfigError] = {}
    for reference in wanted:
        try:
            secrets.fetch(reference, environ)
        except ConfigError as error:
            failures[reference] = error
    return failures


def _ready(resolved: ResolvedModel, failures: Mapping[KeyReference, ConfigError]) -> ResolvedModel:
    """The model without unread keys and headers."""
    if unread := resolved.target.unread:
        error = failures.get(unread[0])
        reason = error.message if error else "it changed while it was read; try again"
        raise AuthRequired(f'there is no key for "{resolved.target.provider}": {reason}') from error
    for target in resolved.fallbacks:
        if target.unread:
            log.info("fallback left out", extra={"fallback": target.name, "reason": "its key cannot be read"})
    routes: dict[str, ResolvedModel | ClawError] = {}
    for name, route in resolved.routes.items():
        try:
            routes[name] = _ready(route, failures) if isinstance(route, ResolvedModel) else route
        except AuthRequired as error:
            routes[name] = error
    fallbacks = tuple(target for target in resolved.fallbacks if not target.unread)
    return replace(resolved, fallbacks=fallbacks, routes=routes)


def _named(wanted: str, *, settings: Settings, key: str | None = None) -> ResolvedModel:
    profiles = provider_profiles(settings)
    profile, model = named_model(wanted, profiles=profiles)
    found = require_key(profile, settings=settings, given=key)
    resolved = _resolved(profile, model=model, key=found, settings=settings)
    configured = wanted == settings.model and "/" in wanted
    return replace(resolved, configured=settings.origin("model").text() if configured else "")


def _route(name: str, *, settings: Settings) -> ResolvedModel:
    wanted = settings.routes.get(name)
    if wanted is None:
        raise ConfigError(no_such_route(name, settings.routes))
    if wanted.startswith(HINT):
        raise ConfigError(f'the route "{name}" leads to {wanted}; a route leads to provider/model')
    try:
        return replace(_named(wanted, settings=settings), label=HINT + name)
    except AuthRequired as error:
        raise AuthRequired(f'the route "{name}" leads to {wanted}, but {error.message}') from error
    except ConfigError as error:
        raise ConfigError(f'the route "{name}" leads to {wanted}, but {error.message}') from error


def _by_rules(settings: Settings) -> ResolvedModel:
    """Resolve `hint:auto`: the model if no rule matches, and the routes of the rules."""
    rules = rules_of(settings)
    wanted = dict.fromkeys([*(rule.route for rule in rules), *({DEFAULT} & settings.routes.keys())])
    routes: dict[str, ResolvedModel | ClawError] = {}
    for name in wanted:
        try:
            routes[name] = _route(name, settings=settings)
        except ClawError as error:
            routes[name] = error
    usual = routes.get(DEFAULT) or _usual(settings)
    if isinstance(usual, ClawError):
        raise usual
    return replace(usual, label=HINT + AUTO, rules=rules, routes=routes)


def _usual(settings: Settings) -> ResolvedModel:
    configured = settings.model
    if configured is None or configured.startswith(HINT):
        return _first_usable(settings)
    return _named(configured, settings=settings)


def _first_usable(settings: Settings) -> ResolvedModel:
    # What a client has set up for this process comes before what was there anyway.
    for profile in sorted(usable(settings), key=lambda profile: not profile.overridden):
        if profile.models and profile.name != OFFLINE.name:
            key = find_key(profile, settings=settings, named=False)
            resolved = _resolved(profile, model=profile.models[0], key=key, settings=settings)
            return (
                replace(resolved, notice=_local_notice(resolved.name, profile.base_url)) if profile.found else resolved
            )
    offline = provider_profiles(settings)[OFFLINE.name]
    return replace(
        _resolved(offline, model=offline.models[0], key=None, settings=settings), notice=no_model_notice(settings)
    )


def _local_notice(model: str, address: str) -> str:
    return (
        f"No model is set up, so {model} answers, of the model server found at {address}. "
        "To use another model, choose one, run `claw-acp login`, or set `model` in config.toml."
    )


def _resolved(profile: ProviderProfile, *, model: str, key: FoundKey | None, settings: Settings) -> ResolvedModel:
    target, *fallbacks = targets_of(profile, model, key=key, settings=settings)
    return ResolvedModel(target=target, fallbacks=tuple(fallbacks), key_source=key.source if key else None)
