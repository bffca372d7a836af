"""Which code handles which method. The handlers are named by string, so that a session pays only for what it uses."""

from collections.abc import Mapping

REQUESTS: Mapping[str, str] = {
    "authenticate": "claw_acp.acp.authenticate:authenticate",
    "session/new": "claw_acp.acp.sessions:new",
    "session/load": "claw_acp.acp.sessions:load",
    "session/resume": "claw_acp.acp.sessions:resume",
    "session/list": "claw_acp.acp.sessions:list_sessions",
    "session/close": "claw_acp.acp.sessions:close",
    "session/delete": "claw_acp.acp.sessions:delete",
    "session/set_mode": "claw_acp.acp.options:set_mode",
    "session/set_config_option": "claw_acp.acp.options:set_config_option",
    "session/prompt": "claw_acp.acp.prompt:prompt",
}
"""Requests after `initialize`, which the connection answers itself."""

NOTIFICATIONS: Mapping[str, str] = {
    "session/cancel": "claw_acp.acp.prompt:cancel",
}
