"""Opening sessions in protocol 2. What can be done with them besides is as in protocol 1."""

from typing import Literal

from claw_acp.schema.base import AbsolutePath, NullableArray, Wire
from claw_acp.schema.system_prompt import SystemPrompt
from claw_acp.schema.v2.mcp import McpServer


class NewSessionRequest(Wire):
    """Start a session in `cwd`; tools may also work in `additional_directories`."""

    cwd: AbsolutePath
    additional_directories: NullableArray[AbsolutePath] = ()
    mcp_servers: NullableArray[McpServer] = ()
    system_prompt: SystemPrompt | None = None


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
    system_prompt: SystemPrompt | None = None


class ForkSessionRequest(Wire):
    """Copy a session with all that was said in it; the copy goes its own way."""

    session_id: str
    cwd: AbsolutePath
    additional_directories: NullableArray[AbsolutePath] = ()
    mcp_servers: NullableArray[McpServer] = ()
    system_prompt: SystemPrompt | None = None
