"""The handlers of each method. They are named by string, so that a session loads only what it uses."""

from collections.abc import Mapping

from claw_acp.acp.dialect import Dialect
from claw_acp.acp.handshake import PROTOCOL_VERSION, initialize
from claw_acp.acp.v1.view import SessionViewV1

REQUESTS: Mapping[str, str] = {
    "authenticate": "claw_acp.acp.v1.authenticate:authenticate",
    "logout": "claw_acp.acp.v1.authenticate:log_out",
    "auth/status": "claw_acp.acp.login:auth_status",
    "providers/list": "claw_acp.acp.providers:list_providers",
    "providers/set": "claw_acp.acp.providers:set_provider",
    "providers/disable": "claw_acp.acp.providers:disable_provider",
    "session/new": "claw_acp.acp.v1.sessions:new",
    "session/load": "claw_acp.acp.v1.sessions:load",
    "session/resume": "claw_acp.acp.v1.sessions:resume",
    "session/list": "claw_acp.acp.sessions:list_sessions",
    "session/close": "claw_acp.acp.v1.sessions:close",
    "session/delete": "claw_acp.acp.sessions:delete",
    "session/fork": "claw_acp.acp.v1.forking:fork",
    "session/archive": "claw_acp.acp.stored_sessions:archive",
    "session/unarchive": "claw_acp.acp.stored_sessions:unarchive",
    "session/status": "claw_acp.acp.stored_sessions:status",
    "session/set_title": "claw_acp.acp.stored_sessions:set_title",
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
