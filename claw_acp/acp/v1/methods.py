"""The handlers of each method. They are named by string, so that a session loads only what it uses."""

from collections.abc import Mapping

from claw_acp.acp.dialect import SHARED_REQUESTS, Dialect
from claw_acp.acp.handshake import PROTOCOL_VERSION, initialize
from claw_acp.acp.v1.view import SessionViewV1

REQUESTS: Mapping[str, str] = {
    **SHARED_REQUESTS,
    "authenticate": "claw_acp.acp.v1.authenticate:authenticate",
    "logout": "claw_acp.acp.v1.authenticate:log_out",
    "session/new": "claw_acp.acp.v1.sessions:new",
    "session/load": "claw_acp.acp.v1.sessions:load",
    "session/resume": "claw_acp.acp.v1.sessions:resume",
    "session/close": "claw_acp.acp.v1.sessions:close",
    "session/fork": "claw_acp.acp.v1.forking:fork",
    "session/status": "claw_acp.acp.stored_sessions:status",
    "session/set_mode": "claw_acp.acp.v1.options:set_mode",
    "session/set_config_option": "claw_acp.acp.v1.options:set_config_option",
    "session/prompt": "claw_acp.acp.v1.prompt:prompt",
}
"""Requests after `initialize`, which the connection answers itself."""

NOTIFICATIONS: Mapping[str, str] = {
    "session/cancel": "claw_acp.acp.v1.prompt:cancel",
    "mcp/message": "claw_acp.acp.mcp_servers:message",
}

DIALECT = Dialect(
    version=PROTOCOL_VERSION,
    requests=REQUESTS,
    notifications=NOTIFICATIONS,
    handshake=initialize,
    make_view=SessionViewV1,
)
