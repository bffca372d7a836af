"""Token authentication: in `Authorization`, or among the subprotocols of a browser's WebSocket.

A page cannot set headers of a WebSocket, so it offers two subprotocols: `acp`, which is accepted, and
`acp.bearer.TOKEN`. A query parameter is not read: addresses end up in logs and histories.
"""

from collections.abc import Sequence
from typing import Final

from claw_acp.core.secret import Secret
from claw_acp.gateway.http.exchange import Head
from claw_acp.gateway.http.http_error import HttpError

SUBPROTOCOL: Final = "acp"
SHOWN_AS: Final = "acp.bearer."


def check_token(head: Head, token: Secret | None) -> None:
    """Check the token of a request.

    Raises:
        Refused: 401.
    """
    if token is None:
        return
    shown = _shown(head)
    if shown is None:
        raise HttpError(
            401, "a token is needed: `Authorization: Bearer TOKEN`", headers={"www-authenticate": 'Bearer realm="acp"'}
        )
    if Secret(shown) != token:  # in constant time
        raise HttpError(
            401, "the token is wrong", headers={"www-authenticate": 'Bearer realm="acp", error="invalid_token"'}
        )


def _shown(head: Head) -> str | None:
    scheme, _, value = head.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    return next((name.removeprefix(SHOWN_AS) for name in head.subprotocols if name.startswith(SHOWN_AS)), None)


def chosen_subprotocol(offered: Sequence[str]) -> str | None:
    """The subprotocol to select for a WebSocket; browsers require one that they offered."""
    if SUBPROTOCOL in offered:
        return SUBPROTOCOL
    return next((name for name in offered if name.startswith(SHOWN_AS)), None)
