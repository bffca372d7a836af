"""What a client can do with stored sessions besides opening them (unstable, each behind its own capability)."""

from typing import Annotated, TypeAlias

from claw_acp.schema.base import AbsolutePath, Known, Lenient, LenientItems, NullableArray, Wire
from claw_acp.schema.mcp import McpServer
from claw_acp.schema.session_settings import SessionConfigOption, SessionModeState
from claw_acp.schema.system_prompt import SystemPrompt

SessionStatus: TypeAlias = Annotated[str, Known(values=("open", "saved"))]


class ForkSessionRequest(Wire):
    """Copy a session with all that was said in it; the copy goes its own way."""

    session_id: str
    cwd: AbsolutePath
    mcp_servers: NullableArray[McpServer] = ()
    additional_directories: NullableArray[AbsolutePath] = ()
    system_prompt: SystemPrompt | None = None


class ForkSessionResponse(Wire):
    """The id of the copy, and what can be set in it."""

    session_id: str
    modes: Lenient[SessionModeState] = None
    config_options: LenientItems[SessionConfigOption] = None


class ArchiveSessionRequest(Wire):
    """Close a session and leave it out of ordinary lists; nothing of it is lost."""

    session_id: str


class ArchiveSessionResponse(Wire):
    """The session is archived."""


class UnarchiveSessionRequest(Wire):
    """Take a session back into ordinary lists; that does not open it."""

    session_id: str


class UnarchiveSessionResponse(Wire):
    """The session is not archived."""


class SessionStatusRequest(Wire):
    """Is a session in the agent's memory? Asking changes nothing."""

    session_id: str


class SessionStatusResponse(Wire):
    """`open`: in memory, for whichever connection; `saved`: it can be loaded. Any other counts as `saved`."""

    status: SessionStatus


class SetSessionTitleRequest(Wire):
    """Name a session, open or not; the agent no longer names it by itself."""

    session_id: str
    title: str


class SetSessionTitleResponse(Wire):
    """The title as it was stored, which may be tidier than what was asked for."""

    title: str
