"""The checks of the machine itself: Python, directories, programs."""

import os
import platform
import shutil
import stat
import sys
from pathlib import Path

from claw_acp.cli.doctor.check import Check
from claw_acp.config.credential_store import keyring_name
from claw_acp.config.locations import HOME_VARIABLE, Locations

OLDEST_PYTHON = (3, 11)
KEYRING_TIMEOUT = 5.0  # seconds for the keyring to say what it is


def python_check() -> Check:
    """The interpreter."""
    detail = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info[:2] < OLDEST_PYTHON:
        return Check(level="fail", subject="python", detail=detail, advice="install Python 3.11 or newer")
    return Check(level="ok", subject="python", detail=detail)


def directory_checks(locations: Locations) -> list[Check]:
    """The checks of whether each directory can be written, now or once it is created."""
    directories = {
        "config": locations.config_dir,
        "data": locations.data_dir,
        "state": locations.state_dir,
        "cache": locations.cache_dir,
    }
    return [_directory(f"{name} directory", path) for name, path in directories.items()]


def keyring_check() -> Check:
    """The check of where `claw-acp login` stores keys."""
    name = keyring_name(within=KEYRING_TIMEOUT)
    detail = name or "none that works here; `claw-acp login` asks whether to encrypt a key, or to keep it as it is"
    return Check(level="ok", subject="keyring", detail=detail)


def program_checks() -> list[Check]:
    """Optional programs that tools use."""
    return [
        _program("git", without="projects have no history to show", advice="install git"),
        _program("rg", without="searching uses the built-in search", advice="install ripgrep for large projects"),
    ]


def _program(name: str, *, without: str, advice: str) -> Check:
    path = shutil.which(name)
    if path is None:
        return Check(level="warn", subject=name, detail=f"not found; {without}", advice=advice)
    return Check(level="ok", subject=name, detail=path)


def _directory(subject: str, path: Path) -> Check:
    existing = path
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not (existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)):
        return Check(
            level="fail",
            subject=subject,
            detail=f"{path} cannot be written",
            advice=f"allow writing to {existing}, or set {HOME_VARIABLE} to a directory you can write to",
        )
    if existing != path:
        return Check(level="ok", subject=subject, detail=f"{path} (made when it is needed)")
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        return Check(
            level="warn", subject=subject, detail=f"{path} can be read by others", advice=f"run: chmod 700 '{path}'"
        )
    return Check(level="ok", subject=subject, detail=str(path))
