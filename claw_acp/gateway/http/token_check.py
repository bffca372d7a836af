"""The token of a request: in `Authorization`, or among the subprotocols of a browser's WebSocket.

A page cannot set headers of a WebSocket, so it offers two subprotocols: `acp`, which is accepted, and
`acp.bearer.TOKEN`. A query parameter is not read: addresses end up in logs and histories.
"""

from collections.abc import Sequence
from typing import Final

from claw_acp.gateway.http.exchange import Head

SUBPROTOCOL: Final = "acp"
SHOWN_AS: Final = "acp.bearer."


def shown_token(head: Head) -> str | None:
    """The token that a request shows."""
    scheme, _, value = head.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    return next((name.removeprefix(SHOWN_AS) for name in head.subprotocols if name.startswith(SHOWN_AS)), None)


def chosen_subprotocol(offered: Sequence[str]) -> str | None:
    """The subprotocol to select for a WebSocket; browsers require one that they offered."""
    if SUBPROTOCOL in offered:
        return SUBPROTOCOL
    return next((name for name in offered if name.startswith(SHOWN_AS)), None)
