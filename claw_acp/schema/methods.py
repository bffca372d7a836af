"""Every known method of protocol 1 with the models of its parameters and its result.

The models are named by strings, so that using one method loads one module; importing this table loads none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from claw_acp.schema.base import Wire


@dataclass(frozen=True, slots=True)
class Method:
    """References `module:class` of the parameters and the result; a notification has no result."""

    params: str
    result: str | None = None


def resolve(reference: str) -> "type[Wire]":
    """Load the class that a reference of these tables names."""
    module, name = reference.split(":")
    return cast("type[Wire]", getattr(import_module(module), name))


def _request(theme: str, params: str, result: str) -> Method:
    return Method(f"claw_acp.schema.{theme}:{params}", f"claw_acp.schema.{theme}:{result}")


def _notification(theme: str, params: str) -> Method:
    return Method(f"claw_acp.schema.{theme}:{params}")


AGENT_METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "initialize": _request("initialize", "InitializeRequest", "InitializeResponse"),
        "authenticate": _request("authentication", "AuthenticateRequest", "AuthenticateResponse"),
        "logout": _request("authentication", "LogoutRequest", "LogoutResponse"),
        "auth/status": _request("authentication", "AuthStatusRequest", "AuthStatusResponse"),
        "providers/list": _request("providers", "ListProvidersRequest", "ListProvidersResponse"),
        "providers/set": _request("providers", "SetProviderRequest", "SetProviderResponse"),
        "providers/disable": _request("providers", "DisableProviderRequest", "DisableProviderResponse"),
        "session/new": _request("sessions", "NewSessionRequest", "NewSessionResponse"),
        "session/load": _request("sessions", "LoadSessionRequest", "LoadSessionResponse"),
        "session/resume": _request("sessions", "ResumeSessionRequest", "ResumeSessionResponse"),
        "session/list": _request("sessions", "ListSessionsRequest", "ListSessionsResponse"),
        "session/delete": _request("sessions", "DeleteSessionRequest", "DeleteSessionResponse"),
        "session/close": _request("sessions", "CloseSessionRequest", "CloseSessionResponse"),
        "session/fork": _request("stored_sessions", "ForkSessionRequest", "ForkSessionResponse"),
        "session/archive": _request("stored_sessions", "ArchiveSessionRequest", "ArchiveSessionResponse"),
        "session/unarchive": _request("stored_sessions", "UnarchiveSessionRequest", "UnarchiveSessionResponse"),
        "session/status": _request("stored_sessions", "SessionStatusRequest", "SessionStatusResponse"),
        "session/set_title": _request("stored_sessions", "SetSessionTitleRequest", "SetSessionTitleResponse"),
        "session/set_mode": _request("session_settings", "SetSessionModeRequest", "SetSessionModeResponse"),
        "session/set_config_option": _request(
            "session_settings", "SetSessionConfigOptionRequest", "SetSessionConfigOptionResponse"
        ),
        "session/prompt": _request("prompt", "PromptRequest", "PromptResponse"),
        "session/cancel": _notification("prompt", "CancelNotification"),
        "mcp/message": _notification("mcp_messages", "MessageMcpNotification"),
    }
)
"""The methods that a client calls and the agent serves."""

CLIENT_METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "session/update": _notification("updates", "SessionNotification"),
        "session/request_permission": _request("permission", "RequestPermissionRequest", "RequestPermissionResponse"),
        "fs/read_text_file": _request("files", "ReadTextFileRequest", "ReadTextFileResponse"),
        "fs/write_text_file": _request("files", "WriteTextFileRequest", "WriteTextFileResponse"),
        "terminal/create": _request("terminal", "CreateTerminalRequest", "CreateTerminalResponse"),
        "terminal/output": _request("terminal", "TerminalOutputRequest", "TerminalOutputResponse"),
        "terminal/wait_for_exit": _request("terminal", "WaitForTerminalExitRequest", "WaitForTerminalExitResponse"),
        "terminal/kill": _request("terminal", "KillTerminalRequest", "KillTerminalResponse"),
        "terminal/release": _request("terminal", "ReleaseTerminalRequest", "ReleaseTerminalResponse"),
        "elicitation/create": _request("elicitation", "CreateElicitationRequest", "CreateElicitationResponse"),
        "elicitation/complete": _notification("elicitation", "CompleteElicitationNotification"),
        "mcp/message": _request("mcp_messages", "MessageMcpRequest", "MessageMcpResponse"),
        "auth/status_update": _notification("authentication", "AuthStatusUpdateNotification"),
    }
)
"""The methods that the agent calls and a client serves."""

SHARED_METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "$/cancel_request": _notification("prompt", "CancelRequestNotification"),
    }
)
"""The methods that either side may call."""
