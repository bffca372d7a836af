"""The skills that a session in a directory would have."""

from pathlib import Path

from claw_acp.cli.current_settings import locations_here, settings_of
from claw_acp.registry.entry_points import TOOLS, discover
from claw_acp.security.trust_store import TrustStore
from claw_acp.skills.catalog import Catalog, make_catalog
from claw_acp.skills.folders import SkillFolders, folders_for
from claw_acp.skills.tool import NAME


def skills_of(directory: Path) -> Catalog:
    """The skills for work in a directory, with those that cannot be used."""
    settings, locations = settings_of(directory), locations_here()
    folders = folders_for(
        [directory], config_dir=locations.config_dir, environ=settings.environ, more=settings.skills.folders
    )
    found = SkillFolders(lambda: folders).look()
    store = TrustStore(locations.trust_file)
    return make_catalog(
        found.skills,
        troubles=found.troubles,
        trusted=lambda files: [file for file in files if store.trusts(file)],
        environ=settings.environ,
        tools={NAME, *discover(*TOOLS)},
        disabled=settings.skills.disabled,
    )
