"""The settings for inspecting commands: those of the current directory."""

import os
from pathlib import Path

from claw_acp.audit.log import AuditLog
from claw_acp.config.load import load_settings
from claw_acp.config.locations import Locations, find_locations
from claw_acp.config.settings import Settings
from claw_acp.core.clock import SYSTEM_CLOCK


def locations_here() -> Locations:
    """The directories in use."""
    return find_locations(os.environ)


def settings_here() -> Settings:
    """The settings for work in the current directory."""
    return load_settings(locations=locations_here(), environ=os.environ, cwd=_current_directory())


def settings_of(directory: Path) -> Settings:
    """The settings for work in a directory."""
    return load_settings(locations=locations_here(), environ=os.environ, cwd=directory)


def audit_here() -> AuditLog:
    """The audit log, with the user's settings."""
    settings = load_settings(locations=locations_here(), environ=os.environ, cwd=None)
    return AuditLog(locations_here(), section=settings.audit, clock=SYSTEM_CLOCK)


def _current_directory() -> Path | None:
    try:
        return Path.cwd()
    except FileNotFoundError:  # it was removed under our feet
        return None
