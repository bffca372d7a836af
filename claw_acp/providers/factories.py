"""Providers in one line, for programs that use this package as a library.

    provider = create_provider("groq", key)
    provider = create_resilient_provider("groq/llama-4", key, fallback=("anthropic",))
    provider = create_routed_provider({"fast": "groq", "reasoning": "anthropic"})

They use the same configuration as those of the server: `config.toml`, then the vendors' variables. A key given here
comes before all others. A key in a keyring, or from a command, is read at once, which may take a moment. Close a
provider with `aclose`.
"""

import os
from collections.abc import Mapping, Sequence

from claw_acp.config.load import load_settings
from claw_acp.config.locations import find_locations
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider import Provider
from claw_acp.core.value import replace
from claw_acp.providers.assembly import plain, resilient
from claw_acp.providers.selection.resolve import resolve, unread_of
from claw_acp.providers.selection.resolved_model import ResolvedModel
from claw_acp.providers.selection.router import Router


def create_provider(name: str, key: str | None = None, *, settings: Settings | None = None) -> Provider:
    """The provider of a known or configured service, without retries.

    Args:
        name: A name of `claw-acp providers list`; a model may follow: `groq/llama-4`.
        key: Its key; None: the one in the configuration or the environment.
        settings: The configuration; None: this user's.

    Raises:
        AuthRequired: There is no key, or it is another vendor's.
        ConfigError: There is no such service, or it is not configured completely.
    """
    return plain(_resolved(name, key, settings=settings or user_settings(), secrets=SecretCache()).setup)


def create_resilient_provider(
    model: str, key: str | None = None, *, fallback: Sequence[str] = (), settings: Settings | None = None
) -> Provider:
    """A provider that retries, with other keys and models, until one answers.

    Args:
        model: `provider/model`, or a provider alone for its best model; requests name this model, or none.
        key: The first key to use; None: as for `create_provider`.
        fallback: Models that answer when it cannot, after the configured ones: `provider/model` each.
        settings: As for `create_provider`.

    Raises:
        AuthRequired, ConfigError: As for `create_provider`, of any that is named.
    """
    known, secrets = settings or user_settings(), SecretCache()
    chosen = _resolved(model, key, settings=known, secrets=secrets)
    further = (_resolved(each, None, settings=known, secrets=secrets).targets for each in fallback)
    fallbacks = (*chosen.fallbacks, *(target for targets in further for target in targets))
    return resilient(replace(chosen, fallbacks=fallbacks))


def create_routed_provider(
    routes: Mapping[str, str], *, usual: str | None = None, settings: Settings | None = None
) -> Provider:
    """A provider that chooses the model by a request's `hint:NAME`.

    Args:
        routes: `provider/model` by name.
        usual: The model for requests without a hint; None: the first of the routes.
        settings: As for `create_provider`.

    Raises:
        AuthRequired, ConfigError: As for `create_provider`, of any that is named.
    """
    known, secrets = settings or user_settings(), SecretCache()
    resolved = {name: _resolved(model, None, settings=known, secrets=secrets) for name, model in routes.items()}
    first = _resolved(usual, None, settings=known, secrets=secrets) if usual else next(iter(resolved.values()))
    return Router(
        first.target,
        routes={name: model.target for name, model in resolved.items()},
        providers={model.target: resilient(model) for model in (first, *resolved.values())},
    )


def user_settings(environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings of this user outside any project."""
    return load_settings(locations=find_locations(environ), environ=environ, cwd=None)


def _resolved(model: str, key: str | None, *, settings: Settings, secrets: SecretCache) -> ResolvedModel:
    resolved = resolve(settings, model=model, key=key)
    for reference in unread_of(resolved):
        secrets.fetch(reference, settings.environ)
        resolved = resolve(replace(settings, secrets=secrets.known), model=model, key=key)
    return resolved
