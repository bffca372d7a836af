"""Images among files: recognised by their first bytes."""

from pathlib import Path

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})
MAX_BYTES = 5_000_000

_SIGNATURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}


def may_be_picture(path: Path) -> bool:
    """Whether the name is that of an image models can see."""
    return path.suffix.lower() in SUFFIXES


def media_type(data: bytes) -> str | None:
    """`image/png` and so on; None when the bytes are no such image."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for signature, kind in _SIGNATURES.items() if data.startswith(signature)), None)
