"""Opening sessions in protocol 2. Listing, closing and deleting them is as in protocol 1."""

from typing import Literal

from claw_acp.schema.base import AbsolutePath, NullableArray, Wire
from claw_acp.schema.v2.mcp import McpServer


class NewSessionRequest(Wire):
    """Start a session in `cwd`; tools may also work in `additional_directories`."""

    cwd: AbsolutePath
    additional_directories: NullableArray[AbsolutePath] = ()
    mcp_servers: NullableArray[McpServer] = ()


class ReplayFromStart(Wire):
    """Show the whole conversation. Any other place to begin is refused."""

    type: Literal["start"]


class ResumeSessionRequest(Wire):
    """Open a stored session; with `replay_from`, send its history before answering."""

    session_id: str
    cwd: AbsolutePath
    additional_directories: NullableArray[AbsolutePath] = ()
    mcp_servers: NullableArray[McpServer] = ()
    replay_from: ReplayFromStart | None = None
