"""Image types, recognised by their first bytes."""

_SIGNATURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}


def media_type(data: bytes) -> str | None:
    """The media type, `image/png` and so on; None when the bytes are no image that models can see."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for signature, kind in _SIGNATURES.items() if data.startswith(signature)), None)
