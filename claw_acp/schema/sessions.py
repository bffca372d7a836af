"""Opening, listing and closing sessions."""

from typing import Annotated, TypeAlias

from claw_acp.schema.base import AbsolutePath, Items, Known, Lenient, LenientItems, NullableArray, Wire
from claw_acp.schema.mcp import McpServer
from claw_acp.schema.session_settings import SessionConfigOption, SessionModeState
from claw_acp.schema.system_prompt import SystemPrompt

SessionArchiveFilter: TypeAlias = Annotated[str, Known(values=("exclude", "include", "only"))]


class _Opened(Wire):
    modes: Lenient[SessionModeState] = None
    config_options: LenientItems[SessionConfigOption] = None


class NewSessionRequest(Wire):
    """Start a session in `cwd`; tools may also work in `additional_directories`."""

    cwd: AbsolutePath
    mcp_servers: NullableArray[McpServer]
    additional_directories: NullableArray[AbsolutePath] = ()
    system_prompt: SystemPrompt | None = None


class NewSessionResponse(_Opened):
    """The id of the new session, and its settings."""

    session_id: str


class LoadSessionRequest(Wire):
    """Open a stored session and send its whole history before answering."""

    session_id: str
    cwd: AbsolutePath
    mcp_servers: NullableArray[McpServer]
    additional_directories: NullableArray[AbsolutePath] = ()
    system_prompt: SystemPrompt | None = None


class LoadSessionResponse(_Opened):
    """The history has been sent."""


class ResumeSessionRequest(Wire):
    """Open a stored session without sending its history."""

    session_id: str
    cwd: AbsolutePath
    mcp_servers: NullableArray[McpServer] = ()
    additional_directories: NullableArray[AbsolutePath] = ()
    system_prompt: SystemPrompt | None = None


class ResumeSessionResponse(_Opened):
    """The session is open."""


class ListSessionsRequest(Wire):
    """List stored sessions, page by page; `cwd` keeps those of one directory. Archived ones are left out by default."""

    cwd: AbsolutePath | None = None
    cursor: str | None = None
    archived: SessionArchiveFilter | None = None


class SessionInfo(Wire):
    """A stored session; `updated_at` is ISO 8601."""

    session_id: str
    cwd: str
    additional_directories: Items[str] = ()
    title: Lenient[str] = None
    updated_at: Lenient[str] = None
    archived: Lenient[bool] = None


class ListSessionsResponse(Wire):
    """One page, and the cursor of the next if there is one."""

    sessions: Items[SessionInfo]
    next_cursor: Lenient[str] = None


class DeleteSessionRequest(Wire):
    """Remove a stored session for good."""

    session_id: str


class DeleteSessionResponse(Wire):
    """The session is removed, or never existed."""


class CloseSessionRequest(Wire):
    """Cancel a session's work and release its resources; it stays stored."""

    session_id: str


class CloseSessionResponse(Wire):
    """The session is closed."""
