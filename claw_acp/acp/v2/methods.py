"""The handlers of each method of protocol 2."""

from collections.abc import Mapping

from claw_acp.acp.dialect import SHARED_REQUESTS, Dialect
from claw_acp.acp.v2.handshake import PROTOCOL_VERSION, initialize
from claw_acp.acp.v2.view import SessionViewV2

REQUESTS: Mapping[str, str] = {
    **SHARED_REQUESTS,
    "auth/login": "claw_acp.acp.v2.authenticate:log_in",
    "auth/logout": "claw_acp.acp.v2.authenticate:log_out",
    "session/new": "claw_acp.acp.v2.sessions:new",
    "session/resume": "claw_acp.acp.v2.sessions:resume",
    "session/close": "claw_acp.acp.v2.sessions:close",
    "session/fork": "claw_acp.acp.v2.sessions:fork",
    "session/status": "claw_acp.acp.v2.sessions:status",
    "session/set_config_option": "claw_acp.acp.v2.options:set_config_option",
    "session/prompt": "claw_acp.acp.v2.prompt:prompt",
    "tool_call/cancel": "claw_acp.acp.v2.cancelling:cancel_tool_call",
    "terminal/cancel": "claw_acp.acp.v2.cancelling:cancel_terminal",
}
"""Requests after `initialize`, which the connection answers itself."""

NOTIFICATIONS: Mapping[str, str] = {
    "session/cancel": "claw_acp.acp.v2.prompt:cancel",
    "mcp/message": "claw_acp.acp.mcp_servers:message",
}

DIALECT = Dialect(
    version=PROTOCOL_VERSION,
    requests=REQUESTS,
    notifications=NOTIFICATIONS,
    handshake=initialize,
    make_view=SessionViewV2,
    plain_ids=True,
    repeats=True,
)
