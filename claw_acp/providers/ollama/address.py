"""The address of an Ollama server in all its usual forms: `OLLAMA_HOST` is more than a URL."""

from urllib.parse import urlsplit

USUAL_PORT = 11_434
USUAL_ADDRESS = f"http://127.0.0.1:{USUAL_PORT}"

_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - told to a server to listen to all


def ollama_address(written: str) -> str:
    """The base URL for a host, `host:port`, `:port` or URL, without a trailing slash.

    The port is 11434 unless a scheme implies another (https://github.com/ollama/ollama/blob/main/envconfig/config.go).
    Addresses of all interfaces mean this machine to a client. Anything else is left unchanged: the first request
    reports it.
    """
    text = written.strip().strip("\"'").strip().rstrip("/").removesuffix("/v1").removesuffix("/api")
    if not text:
        return USUAL_ADDRESS
    schemed = "://" in text
    bare = not schemed and text.count(":") > 1 and not text.startswith("[")
    try:
        parts = urlsplit(text if schemed else f"http://[{text}]" if bare else f"http://{text}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return text
    host = _EVERYWHERE.get(host, host)
    if port is None and not schemed:
        port = USUAL_PORT
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}{'' if port is None else f':{port}'}{parts.path}"
