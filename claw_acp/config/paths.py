"""Paths as people write them in settings."""

from pathlib import Path


def resolve_path(path: str, *, directory: Path, home: str) -> Path:
    """`path` made absolute: `~/` means `home`, a relative path is taken from `directory`."""
    if home and path.startswith("~/"):
        return Path(home, path.removeprefix("~/"))
    return directory / path
