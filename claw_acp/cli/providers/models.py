"""`claw-acp models`: the models of a provider, fetched now."""

import argparse
import json
from collections.abc import Sequence
from functools import partial

import anyio

from claw_acp.cli.known_models import settings_found_here
from claw_acp.cli.terminal.paint import columns
from claw_acp.config.secret_cache import SecretCache
from claw_acp.contracts.provider import ModelInfo
from claw_acp.core.errors import ConfigError
from claw_acp.core.value import as_dict
from claw_acp.providers.checks.probe import listed_models
from claw_acp.providers.models.facts import known_capabilities
from claw_acp.providers.registry.profiles import ProviderProfile, provider_profiles
from claw_acp.providers.selection.available_models import available_models


def main(argv: Sequence[str]) -> int:
    """Print the models of one provider, newest first; without a name those of a picker."""
    parser = argparse.ArgumentParser(prog="claw-acp models", description="List models.")
    parser.add_argument("provider", nargs="?", help="the provider to ask (default: all known models, without asking)")
    parser.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args(argv)
    settings = settings_found_here()
    if options.provider is None:
        offered = available_models(settings)
        lines = columns([(offer.value, offer.description) for offer in offered])
        print(json.dumps([offer._asdict() for offer in offered], indent=2) if options.json else "\n".join(lines))
        return 0
    profile = provider_profiles(settings).get(options.provider)
    if profile is None:
        raise ConfigError(f'there is no provider "{options.provider}"; `claw-acp providers list` shows them all')
    models = anyio.run(partial(listed_models, profile, settings=settings, secrets=SecretCache()))
    if options.json:
        print(json.dumps([as_dict(model) for model in models], indent=2))
    elif models:
        print("\n".join(columns([_row(profile, model) for model in models])))
    else:
        print(f"{profile.name} does not list its models; any name can be typed as {profile.name}/NAME")
    return 0


def _row(profile: ProviderProfile, model: ModelInfo) -> tuple[str, ...]:
    window = model.context_window or known_capabilities(model.id).context_window
    return f"{profile.name}/{model.id}", f"{window:,} tokens" if window else "", model.name or ""
