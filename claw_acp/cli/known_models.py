"""The models that a running agent would find, for commands: model servers on this machine, and cached lists."""

import anyio

from claw_acp.cli.current_settings import locations_here, settings_here
from claw_acp.config.discovered_models import NOTHING_DISCOVERED, DiscoveredModels
from claw_acp.config.settings import Settings
from claw_acp.core.value import replace
from claw_acp.providers.catalog.listings import Catalog
from claw_acp.providers.catalog.reference import KeptReference
from claw_acp.providers.registry.local_servers import find_servers
from claw_acp.providers.selection.available_models import usable


def settings_found_here() -> Settings:
    """The settings for the current directory, with the models found on this machine. Asks no remote service."""
    settings = settings_here()
    discovered = (
        DiscoveredModels(servers=anyio.run(find_servers, settings)) if settings.local_servers else NOTHING_DISCOVERED
    )
    return with_kept(replace(settings, discovered=discovered))


def with_kept(settings: Settings) -> Settings:
    """The settings with the cached model lists and published facts."""
    catalog = Catalog(locations_here().cache_dir / "models")
    kept = {
        (profile.name, profile.base_url): catalog.read(profile.name, profile.base_url) for profile in usable(settings)
    }
    lists = {place: listing.models for place, listing in kept.items() if listing is not None}
    kept_reference = KeptReference(locations_here().cache_dir / "reference")
    reference = kept_reference if kept_reference.built and settings.model_reference != "off" else None
    return replace(settings, discovered=replace(settings.discovered, lists=lists, reference=reference))
