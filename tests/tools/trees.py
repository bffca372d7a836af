"""Files on disk in one line."""

from collections.abc import Mapping
from pathlib import Path


def plant(root: Path, files: Mapping[str, str]) -> None:
    """Create files with their directories."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
