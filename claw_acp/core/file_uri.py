"""Paths in `file:` addresses."""

from urllib.parse import unquote, urlsplit


def path_of(uri: str) -> str:
    """The path in a `file:` URI, however it is escaped."""
    return unquote(urlsplit(uri).path)
