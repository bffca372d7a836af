"""Operations on stored sessions besides opening them (unstable, each behind its own capability)."""

from typing import Annotated, TypeAlias

from claw_acp.schema.base import AbsolutePath, Known, Lenient, LenientItems, NullableArray, Wire
from claw_acp.schema.mcp import McpServer
from claw_acp.schema.session_settings import SessionConfigOption, SessionModeState
from claw_acp.schema.system_prompt import SystemPrompt

SessionStatus: TypeAlias = Annotated[str, Known(values=("open", "saved"))]


class ForkSessionRequest(Wire):
    """Copy a session with its conversation; the copy goes on independently."""

    session_id: str
    cwd: AbsolutePath
    mcp_servers: NullableArray[McpServer] = ()
    additional_directories: NullableArray[AbsolutePath] = ()
    system_prompt: SystemPrompt | None = None


class ForkSessionResponse(Wire):
    """The id of the copy, and its settings."""

    session_id: str
    modes: Lenient[SessionModeState] = None
    config_options: LenientItems[SessionConfigOption] = None


class ArchiveSessionRequest(Wire):
    """Close a session and leave it out of ordinary lists; nothing of it is lost."""

    session_id: str


class ArchiveSessionResponse(Wire):
    """The session is archived."""


class UnarchiveSessionRequest(Wire):
    """Show a session in ordinary lists again, without opening it."""

    session_id: str


class UnarchiveSessionResponse(Wire):
    """The session is not archived."""


class SessionStatusRequest(Wire):
    """Ask whether a session is in the agent's memory. This changes nothing."""

    session_id: str


class SessionStatusResponse(Wire):
    """`open`: in memory, for any connection; `saved`: it can be loaded. An unknown value counts as `saved`."""

    status: SessionStatus


class SetSessionTitleRequest(Wire):
    """Set the title of a session, open or not; the agent no longer changes it."""

    session_id: str
    title: str


class SetSessionTitleResponse(Wire):
    """The title as stored, which may be tidied."""

    title: str
