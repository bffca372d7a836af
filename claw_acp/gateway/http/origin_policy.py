"""Host and origin policy, which keeps web pages from using a server on this machine."""

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Final

from claw_acp.gateway.http.exchange import Head
from claw_acp.gateway.http.http_error import HttpError

_EXPOSED: Final = "Acp-Connection-Id, Acp-Session-Id"
_ALLOWED: Final = "Authorization, Content-Type, Accept, Acp-Connection-Id, Acp-Session-Id, Acp-Protocol-Version"
METHODS: Final = "GET, POST, DELETE, OPTIONS"
_PREFLIGHT_KEPT: Final = "600"  # seconds

_AUTHORITY: Final = r"(?:\[(?P<six>[0-9a-f:.]{2,45})\]|(?P<name>[a-z0-9._-]{1,253}))(?::[0-9]{0,5})?"
_HOST: Final = re.compile(_AUTHORITY)
_WEB_ORIGIN: Final = re.compile(rf"https?://{_AUTHORITY}")


class OriginPolicy:
    """The host names of the server, and the origins whose pages may use it.

    A foreign page can make its own host name resolve to this machine (DNS rebinding); its requests then carry that
    name, which is refused. IP addresses cannot be rebound. Browsers send the page's origin: local origins are allowed
    where a token is required as well, others only when they are listed.

    Args:
        loopback: Whether the server is reachable only from this machine.
        local_pages: Whether pages of any local server may use it; unsafe without a token, since a development server
            may show foreign code.
        hosts: Further host names of the server.
        origins: Further allowed origins, as browsers write them.
    """

    def __init__(
        self, *, loopback: bool, local_pages: bool, hosts: Iterable[str] = (), origins: Iterable[str] = ()
    ) -> None:
        self._loopback = loopback
        self._local_pages = local_pages
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)

    def check(self, head: Head, *, public: bool = False) -> None:
        """Check the host and origin of a request. What is `public` may be opened by a link from anywhere.

        Raises:
            Refused: 403.
        """
        if not self._is_ours(_name(_HOST, head.headers.get("host", ""))):
            raise HttpError(403, "this is not a name of this server; `--allow-host NAME` adds one")
        origin = head.headers.get("origin")
        # Browsers leave `Origin` out of some requests that pages can cause, but then say this.
        by_page = not public and head.headers.get("sec-fetch-site", "none") != "none"
        if by_page if origin is None else not self._is_welcome(origin, head):
            raise HttpError(403, "pages of that origin may not use this server; `--allow-origin ORIGIN` allows them")

    def answer_headers(self, head: Head) -> Mapping[str, str]:
        """The CORS headers that let an allowed page read responses."""
        origin = head.headers.get("origin")
        if origin is None or not self._is_welcome(origin, head):
            return {}
        return {
            "access-control-allow-origin": origin,
            "access-control-allow-credentials": "true",
            "access-control-expose-headers": _EXPOSED,
            "vary": "Origin",
        }

    def preflight_headers(self) -> Mapping[str, str]:
        """The CORS preflight headers for an allowed page."""
        return {
            "access-control-allow-methods": METHODS,
            "access-control-allow-headers": _ALLOWED,
            "access-control-max-age": _PREFLIGHT_KEPT,
        }

    def _is_ours(self, host: str) -> bool:
        if is_local_name(host) or host in self._hosts:
            return True
        return not self._loopback and _is_address(host)

    def _is_welcome(self, origin: str, head: Head) -> bool:
        if origin.lower() in self._origins:
            return True
        return self._local_pages and (is_local_name(_name(_WEB_ORIGIN, origin)) or _is_own(origin, head))


def _is_own(origin: str, head: Head) -> bool:
    """True for the origin of our own page, under the name by which the client reached this server."""
    return origin.lower().partition("://")[2] == head.headers.get("host", "").lower() and bool(
        _name(_WEB_ORIGIN, origin)
    )


def is_local_name(name: str) -> bool:
    """True for a host name or address that can only be this machine."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _name(form: re.Pattern[str], text: str) -> str:
    """The host of a `Host` header or an origin, without port and brackets; empty when malformed."""
    match = form.fullmatch(text.lower())
    return (match["six"] or match["name"]) if match else ""
