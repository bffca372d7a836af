"""Which files may be images that models can see."""

from pathlib import Path

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})
MAX_BYTES = 5_000_000


def may_be_picture(path: Path) -> bool:
    """Whether the name is that of an image models can see."""
    return path.suffix.lower() in SUFFIXES
