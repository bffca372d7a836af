"""Addresses of model servers as people write them: a host, a port, both, or a whole address."""

from urllib.parse import urlsplit

_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - what a server listens on is nothing to connect to


def local_address(text: str, usual: str) -> str:
    """The base URL that `text` stands for, with what it leaves out taken from `usual`, as `OLLAMA_HOST` has it.

    Raises:
        ValueError: It is no address.
    """
    own = urlsplit(usual)
    has_scheme = "://" in text
    parts = urlsplit(text if has_scheme else f"//{text}", scheme=own.scheme)
    if parts.scheme not in {"http", "https"} or parts.username is not None or parts.query:
        raise ValueError("must be HOST:PORT, or an address with http:// or https://")
    host = parts.hostname or own.hostname or ""
    host = _EVERYWHERE.get(host, host)
    port = parts.port or ({"http": 80, "https": 443}[parts.scheme] if has_scheme else own.port)
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}:{port}{parts.path.rstrip('/') or own.path}"
