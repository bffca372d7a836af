"""The places to look for model servers on this machine: `CLAW_ACP_LOCAL_SERVERS`, and addresses in loose forms."""

from collections.abc import Mapping
from urllib.parse import urlsplit

LOCAL_SERVERS = "CLAW_ACP_LOCAL_SERVERS"
"""`off`, `on`, or addresses: `ollama=127.0.0.1:1234,vllm=:8001`; then no others are searched."""

_NOWHERE = frozenset({"off", "0", "no", "false", "none"})
_USUAL = frozenset({"on", "1", "yes", "true", ""})
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - what a server listens on is nothing to connect to


def local_address(text: str, usual: str) -> str:
    """The base URL of a loosely written address, with missing parts from `usual`, as in `OLLAMA_HOST`.

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


def looks_for_servers(text: str) -> bool:
    """Return whether the variable allows looking for servers at all.

    Raises:
        ValueError: It has an invalid value.
    """
    named_places(text)
    return text.strip().lower() not in _NOWHERE


def named_places(text: str) -> Mapping[str, str]:
    """The addresses of servers in the variable, by name; empty: their default ports.

    Raises:
        ValueError: It has an invalid value.
    """
    if text.strip().lower() in _NOWHERE | _USUAL:
        return {}
    places: dict[str, str] = {}
    for part in text.split(","):
        name, equals, address = (piece.strip() for piece in part.partition("="))
        if not (name and equals and address):
            raise ValueError("must be off, on, or places as in ollama=127.0.0.1:11434,vllm=127.0.0.1:8000")
        local_address(address, "http://127.0.0.1:80")
        places[name] = address
    return places
