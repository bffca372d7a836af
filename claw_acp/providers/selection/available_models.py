"""The models to choose from: those of every usable provider."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from claw_acp.config.settings import Settings
from claw_acp.core.errors import ClawError
from claw_acp.providers.binary import PLUGIN_DEFAULT
from claw_acp.providers.registry.keys import find_key
from claw_acp.providers.registry.profiles import ProviderProfile, provider_profiles
from claw_acp.providers.registry.services import OFFLINE, services_with_key
from claw_acp.providers.selection.route_rules import offered_routes

OWN_CHOICE: Final = "The program's own choice"
"""The description of a plugin's default model if the plugin lists none."""


class OfferedModel(NamedTuple):
    """One entry of a model picker."""

    value: str
    name: str
    description: str


def available_models(settings: Settings) -> list[OfferedModel]:
    """Routes, then the models of every usable provider, for a picker; `offline/assistant` is the last."""
    offered = [offer for profile in usable(settings) for offer in _offers(profile)]
    configured = settings.model
    if configured and "/" in configured and all(offer.value != configured for offer in offered):
        offered.insert(0, model_in_use(configured, about="Configured model"))
    routes = [OfferedModel(hint, hint, about) for hint, about in offered_routes(settings).items()]
    return [*routes, *offered]


def model_in_use(name: str, *, about: str = "") -> OfferedModel:
    """The picker entry of a model `provider/model` that is in use but not on offer."""
    provider, _, own = name.partition("/")
    return OfferedModel(name, _label(provider, own), OWN_CHOICE if own == PLUGIN_DEFAULT else about)


def _label(provider: str, model: str) -> str:
    """The label of a model. Editors show it without its provider, which is added to names that are unclear alone."""
    if provider == OFFLINE.name:
        return f"Offline {model}"
    return f"{provider}'s own choice" if model == PLUGIN_DEFAULT else model


def _offers(profile: ProviderProfile) -> Iterator[OfferedModel]:
    known = {model: role.description for model, role in profile.roles.items()}
    listed = {model.id: model for model in profile.listed}
    usual = f"{profile.name} on this machine" if profile.found else f"Provider {profile.name}"
    for model in profile.models:
        info = listed.get(model)
        window = f", {info.context_window:,} tokens" if info and info.context_window else ""
        about = OWN_CHOICE if model == PLUGIN_DEFAULT else known.get(model, usual) + window
        yield OfferedModel(f"{profile.name}/{model}", _label(profile.name, model), about)


def usable(settings: Settings) -> Iterator[ProviderProfile]:
    """Completely configured providers that have a key, or need none; broken ones are skipped."""
    named = (settings.model or "").partition("/")[0]
    profiles = provider_profiles(settings)
    likely = services_with_key(settings.environ).union(
        settings.providers,
        settings.logins,
        settings.discovered.servers,
        settings.overrides.by_provider,
        {named, OFFLINE.name},
    )
    for profile in (profiles[name] for name in profiles if name in likely):
        try:
            profile.check()
            key = find_key(profile, settings=settings, named=profile.name == named)
        except ClawError:
            continue  # `doctor` and `providers list` show why
        configured = (profile.name in settings.providers or profile.overridden) and not profile.needs_key
        configured = configured or (profile.found is not None and not profile.found.locked)
        has_key = key is not None and not profile.local  # the key of a server on this machine does not say that it runs
        if has_key or configured or profile.name == OFFLINE.name:
            yield profile
