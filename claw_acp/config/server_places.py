"""Where model servers on this machine are looked for: `CLAW_ACP_LOCAL_SERVERS`, and addresses as people write them."""

from collections.abc import Mapping
from urllib.parse import urlsplit

LOCAL_SERVERS = "CLAW_ACP_LOCAL_SERVERS"
"""`off`, `on`, or where they are: `ollama=127.0.0.1:1234,vllm=:8001`; then no others are looked for."""

_NOWHERE = frozenset({"off", "0", "no", "false", "none"})
_USUAL = frozenset({"on", "1", "yes", "true", ""})
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


def looks_for_servers(text: str) -> bool:
    """Whether the variable has servers looked for at all.

    Raises:
        ValueError: It says something else.
    """
    named_places(text)
    return text.strip().lower() not in _NOWHERE


def named_places(text: str) -> Mapping[str, str]:
    """Where the variable has servers looked for, by their names; empty: at the ports that they use by themselves.

    Raises:
        ValueError: It says something else.
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
