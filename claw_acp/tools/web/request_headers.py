"""The headers that a model may set in a request, and those of an answer that it is shown."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from claw_acp.core.errors import ToolError
from claw_acp.core.redaction import redact

_NAME: Final = r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}"
_OURS: Final = frozenset({
    "accept-encoding", "connection", "content-length", "expect", "forwarded", "host", "keep-alive", "te", "trailer",
    "transfer-encoding", "upgrade", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip",
})  # fmt: skip
"""Headers of the connection, and those by which servers tell who asks."""

_HOLDS_CREDENTIALS: Final = r"auth|cookie|credential|key|passw|secret|session|signature|token"
_SHOWN: Final = re.compile(
    r"content-(?:type|language|disposition|range)|location|etag|last-modified|retry-after|link|allow|date|age"
    r"|cache-control|www-authenticate|(?:x-)?rate-?limit.*|x-request-id|deprecation|sunset"
)
_MOST_SHOWN: Final = 30
_LONGEST_SHOWN: Final = 500  # characters of one header


def checked_headers(given: Sequence[tuple[str, str]]) -> Mapping[str, str]:
    """The headers that a model gave.

    Raises:
        ToolError: One is not the model's to set, or holds a credential.
    """
    found: dict[str, str] = {}
    for name, value in given:
        lowered = name.lower()
        if not re.fullmatch(_NAME, name) or not (value.isascii() and value.isprintable()):
            raise ToolError(f"{name!r} is no header that can be sent: names and values are printable ASCII.")
        if lowered in _OURS or lowered.startswith(("proxy-", "sec-")):
            raise ToolError(f"The header {name} is set by this program or not at all; leave it out.")
        if re.search(_HOLDS_CREDENTIALS, lowered) or redact(value) != value:
            raise ToolError(
                f"The header {name} may hold a credential. Credentials are sent by `secret` only, with the name of one "
                "in the user's settings ([request_secrets.NAME]); leave the header out."
            )
        if lowered in {known.lower() for known in found}:
            raise ToolError(f"The header {name} is given twice.")
        found[name] = value
    return found


def shown_headers(headers: Mapping[str, str]) -> Sequence[str]:
    """The headers of an answer that say something about it, a line each."""
    shown = [f"{name}: {value[:_LONGEST_SHOWN]}" for name, value in headers.items() if _SHOWN.fullmatch(name)]
    return shown[:_MOST_SHOWN]
