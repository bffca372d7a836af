"""Finding the program of a plugin the way the system will, without running it."""

import os
from importlib import import_module
from pathlib import Path

from claw_acp.config.provider_section import ProviderSection


def missing_program(section: ProviderSection, *, path: str | None) -> str | None:
    """Why the program cannot be started, and what to do; None when it exists. Reads the disk a few times.

    Args:
        section: The provider's section.
        path: The PATH of our environment; one in the provider's `env` overrides it.
    """
    command = section.command or ""
    if section.cwd is not None and not section.cwd.is_dir():
        return f"there is no directory {section.cwd} to run it in; fix cwd"
    if os.sep not in command:
        return _not_on_path(command, path=_own_path(section, path))
    file = (section.cwd or Path()) / command
    if not file.exists():
        return f"there is no file {command}; fix command"
    if not file.is_file():
        return f"{command} is no file; fix command"
    if not os.access(file, os.X_OK):
        return f"{command} is not executable; run chmod +x {command}"
    return None


def _not_on_path(command: str, *, path: str | None) -> str | None:
    if path is not None and import_module("shutil").which(command, path=path) is None:
        return f"there is no program {command} on the PATH; write its whole path, or install it"
    return None


def _own_path(section: ProviderSection, path: str | None) -> str | None:
    """The PATH of its process; None while it is a reference that was not read."""
    own = section.env.get("PATH")
    if own is None:
        return path or os.defpath
    return None if own.is_kept else own.before + own.reference.resolve({}).reveal()
