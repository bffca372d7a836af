"""AWS Signature Version 4: what a request carries to prove who sent it, computed without any input or output.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html. The path is encoded
once more than it is sent, as every service but S3 wants it: a `:` in a model's name travels as `%3A` and is signed as
`%253A`.
"""

import hashlib
import hmac
import posixpath
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from claw_acp.core.secret import Secret
from claw_acp.core.value import Value

ALGORITHM: Final = "AWS4-HMAC-SHA256"

_UNRESERVED: Final = "-_.~"
_UNSIGNED: Final = frozenset(
    {"authorization", "connection", "user-agent", "accept", "accept-encoding", "content-length", "expect"}
)
"""Headers that are not signed: others on the way may change them."""


class AwsCredentials(Value):
    """Who signs. `expires` is in seconds since the epoch, None when they do not; `source` says where they are from."""

    access_key: str
    secret_key: Secret
    token: Secret | None = None
    expires: float | None = None
    source: str = ""


class Scope(Value):
    """What a signature is good for besides its day."""

    region: str
    service: str


def signed_headers(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    body: bytes,
    credentials: AwsCredentials,
    scope: Scope,
    now: float,
) -> dict[str, str]:
    """The headers to add: `x-amz-date`, `x-amz-security-token` if there is one, and `authorization`.

    `headers` are those that are sent anyway, by lower-case name, with `host` among them; `now` is in seconds since
    the epoch.
    """
    moment = datetime.fromtimestamp(now, tz=UTC).strftime("%Y%m%dT%H%M%SZ")
    added = {"x-amz-date": moment}
    if credentials.token is not None:
        added["x-amz-security-token"] = credentials.token.reveal()
    signed = {name: value for name, value in {**headers, **added}.items() if name not in _UNSIGNED}
    request = canonical_request(method, url, headers=signed, body=body)
    reach = f"{moment[:8]}/{scope.region}/{scope.service}/aws4_request"
    text = "\n".join((ALGORITHM, moment, reach, _sha256(request.encode())))
    signature = hmac.new(_signing_key(credentials, reach=reach), text.encode(), hashlib.sha256).hexdigest()
    names = ";".join(sorted(signed))
    credential = f"Credential={credentials.access_key}/{reach}"
    return {**added, "authorization": f"{ALGORITHM} {credential}, SignedHeaders={names}, Signature={signature}"}


def canonical_request(method: str, url: str, *, headers: Mapping[str, str], body: bytes) -> str:
    """The request in the one form that both sides sign; `headers` are exactly those to be signed."""
    parts = urlsplit(url)
    lines = "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in sorted(headers))
    names = ";".join(sorted(headers))
    return "\n".join((method, _path(parts.path), _query(parts.query), lines, names, _sha256(body)))


def _path(sent: str) -> str:
    """The path without its detours, encoded once more."""
    normal = posixpath.normpath(f"/{sent.lstrip('/')}")
    if sent.endswith("/") and normal != "/":
        normal += "/"
    return quote(normal, safe=f"/{_UNRESERVED}")


def _query(sent: str) -> str:
    """The parameters in their order, each encoded in the one way there is."""
    pairs = (pair.partition("=") for pair in sent.split("&") if pair)
    encoded = (tuple(quote(unquote(part), safe=_UNRESERVED) for part in (name, value)) for name, _, value in pairs)
    return "&".join(f"{name}={value}" for name, value in sorted(encoded))


def _signing_key(credentials: AwsCredentials, *, reach: str) -> bytes:
    key = b"AWS4" + credentials.secret_key.reveal().encode()
    for part in reach.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
