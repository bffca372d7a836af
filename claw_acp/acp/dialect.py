"""The differences between protocol versions: methods, handshake, and the rendering of sessions."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from claw_acp.acp.handshake import PROTOCOL_VERSION, ClientCapabilities, Handshake
from claw_acp.acp.view import SessionView
from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import Value
from claw_acp.registry.reference import Ref
from claw_acp.rpc.peer import Peer
from claw_acp.runtime.live_session import LiveSession

MakeView: TypeAlias = "Callable[[Peer, LiveSession, ClientCapabilities], SessionView]"

SHARED_REQUESTS: Mapping[str, str] = {
    "auth/status": "claw_acp.acp.login:auth_status",
    "providers/list": "claw_acp.acp.providers:list_providers",
    "providers/set": "claw_acp.acp.providers:set_provider",
    "providers/disable": "claw_acp.acp.providers:disable_provider",
    "session/list": "claw_acp.acp.sessions:list_sessions",
    "session/delete": "claw_acp.acp.sessions:delete",
    "session/archive": "claw_acp.acp.stored_sessions:archive",
    "session/unarchive": "claw_acp.acp.stored_sessions:unarchive",
    "session/set_title": "claw_acp.acp.stored_sessions:set_title",
}
"""Requests that all versions handle alike; see `Dialect`."""


class Dialect(Value):
    """One version of the protocol.

    Attributes:
        version: Its number on the wire.
        requests: The handler of each request after `initialize`, as "module:function".
        notifications: The handler of each notification.
        handshake: Answers `initialize`; called with the params, and whether they were written for exactly this version.
        make_view: Makes the view of a session.
        plain_ids: Whether the id of a request must be a string or an integer.
        repeats: Whether a client may `initialize` again until it asks for anything else.
    """

    version: int
    requests: Mapping[str, str]
    notifications: Mapping[str, str]
    handshake: Callable[[JsonObject, bool], Handshake]
    make_view: MakeView
    plain_ids: bool = False
    repeats: bool = False


DIALECTS: Mapping[int, Ref[Dialect]] = {
    1: Ref("claw_acp.acp.v1.methods:DIALECT"),
    2: Ref("claw_acp.acp.v2.methods:DIALECT"),
}
"""The dialects by version; a connection loads the one that was agreed on."""


def spoken_versions(*, draft: bool) -> tuple[int, ...]:
    """The versions on offer, with or without the draft."""
    return tuple(DIALECTS) if draft else (PROTOCOL_VERSION,)
