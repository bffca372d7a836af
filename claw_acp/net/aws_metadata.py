"""One small request to an endpoint that gives credentials to what runs beside it: a container's, or an EC2 instance's.

These endpoints are never behind a proxy and answer at once or not at all, so this is the standard library's client in
a thread, with a short patience.
"""

import ipaddress
from collections.abc import Mapping
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from anyio import to_thread

PATIENCE: Final = 1.0  # seconds until the connection stands, and for each read
REPLY_LIMIT: Final = 64 * 1024  # bytes of a reply

_METADATA_HOSTS: Final = frozenset({"169.254.170.2", "169.254.170.23", "fd00:ec2::23"})


class MetadataReply(NamedTuple):
    """What an endpoint answered."""

    status: int
    text: str


class NoReply(Exception):
    """The endpoint did not answer; the text says why, in words for people."""


async def ask(method: str, url: str, *, headers: Mapping[str, str] | None = None) -> MetadataReply:
    """Send a request without a body.

    Raises:
        NoReply: There was no answer, or the URL is no address of HTTP.
    """
    return await to_thread.run_sync(partial(_ask, method, url, dict(headers or {})), abandon_on_cancel=True)


def may_hold_credentials(url: str) -> bool:
    """Whether a container's credentials may be asked for there: over TLS, or on an address that stays on the host.

    Source: https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme == "https":
        return bool(host)
    if parts.scheme != "http":
        return False
    if host == "localhost" or host in _METADATA_HOSTS:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _ask(method: str, url: str, headers: dict[str, str]) -> MetadataReply:
    try:
        parts = urlsplit(url)
        connection = _connection(parts)
    except (ValueError, HTTPException) as error:
        raise NoReply("it is not an http:// or https:// address") from error
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request(method, target, headers=headers)
        response = connection.getresponse()
        text = response.read(REPLY_LIMIT).decode("utf-8", "replace")
    except TimeoutError as error:
        raise NoReply(f"no answer within {PATIENCE:g} s") from error
    except (OSError, HTTPException, ValueError) as error:
        raise NoReply(getattr(error, "strerror", None) or type(error).__name__) from error
    else:
        return MetadataReply(response.status, text)
    finally:
        connection.close()


def _connection(parts: SplitResult) -> HTTPConnection:
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(parts.scheme)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return kind(parts.hostname, parts.port, timeout=PATIENCE)
